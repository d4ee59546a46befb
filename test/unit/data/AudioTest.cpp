#include "Files.h"

#include "data/Audio.h"

#include <cmath>

using namespace rnnc::data;
using namespace rnnc::data::test;

namespace {

/// A WAV file of 16-bit samples, byte by byte; dataSize overrules the true size.
std::string wav16(int channels, int rate, std::initializer_list<int16_t> samples,
                  std::optional<uint32_t> dataSize = {}) {
  std::string data = bytesOf(samples);
  std::string format = little(1, 2) + little(channels, 2) + little(rate, 4) +
                       little(rate * channels * 2, 4) + little(channels * 2, 2) + little(16, 2);
  std::string body = "WAVEfmt " + little(16, 4) + format + "LIST" + little(3, 4) +
                     std::string("abc\0", 4) + "data" + little(dataSize.value_or(data.size()), 4) +
                     data;
  return "RIFF" + little(body.size(), 4) + body;
}

Result<Audio> readContent(std::string_view content, ReadLimits limits = {}) {
  Folder folder;
  return readAudio(folder.write("x.wav", content), limits);
}

TEST(AudioTest, ReadsSixteenBits) {
  Result<Audio> audio = readContent(wav16(2, 8000, {-32768, 16384, 0, 32767}));
  ASSERT_TRUE(audio) << audio.error().text;
  EXPECT_EQ(audio->sampleRate, 8000);
  EXPECT_EQ(audio->samples.shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(valuesOf<float>(audio->samples), (std::vector<float>{-1, 0.5, 0, 32767.f / 32768}));
}

TEST(AudioTest, WavKeepsEveryBit) {
  Folder folder;
  std::string path = folder.file("x.wav");
  HostArray samples = arrayOf<float>({3, 2}, {0.1f, -3.5f, 1e-30f, INFINITY, -0.f, 1.f});
  ASSERT_TRUE(writeAudio(path, samples, 44100));
  Result<Audio> again = readAudio(path);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(again->sampleRate, 44100);
  expectSame(again->samples, samples);
}

TEST(AudioTest, MonoAndDoublesAreTakenToo) {
  Folder folder;
  std::string path = folder.file("x.wav");
  ASSERT_TRUE(writeAudio(path, arrayOf<double>({3}, {0.1, 0.2, 0.3}), 8000));
  Result<Audio> again = readAudio(path);
  ASSERT_TRUE(again);
  expectSame(again->samples, arrayOf<float>({3, 1}, {0.1f, 0.2f, 0.3f}));
}

TEST(AudioTest, LongRecordings) {
  Folder folder;
  std::vector<float> values(100001);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i) / 131072;
  HostArray samples = arrayOf<float>({100001, 1}, values);
  ASSERT_TRUE(writeAudio(folder.file("x.wav"), samples, 8000));
  Result<Audio> again = readAudio(folder.file("x.wav"));
  ASSERT_TRUE(again);
  expectSame(again->samples, samples);
  EXPECT_TRUE(readAudio(folder.file("x.wav"), ReadLimits{400004}));
  EXPECT_TRUE(contains(textOfError(readAudio(folder.file("x.wav"), ReadLimits{400003})),
                       "more memory than the limit of 400003"));
}

TEST(AudioTest, TheSameSamplesMakeTheSameFile) {
  Folder folder;
  HostArray samples = arrayOf<float>({2}, {0.5f, -0.25f});
  ASSERT_TRUE(writeAudio(folder.file("a.wav"), samples, 8000));
  ::usleep(1100000); // a second, the resolution of the time in a PEAK chunk
  ASSERT_TRUE(writeAudio(folder.file("b.wav"), samples, 8000));
  EXPECT_EQ(Folder::read(folder.file("a.wav")), Folder::read(folder.file("b.wav")));
}

TEST(AudioTest, Flac) {
  Folder folder;
  std::string path = folder.file("x.flac");
  std::vector<float> values;
  for (int i = 0; i < 6000; ++i)
    values.push_back(static_cast<float>(std::sin(i * 0.01)));
  values[7] = 1, values[8] = -1;
  HostArray samples = arrayOf<float>({3000, 2}, values);
  ASSERT_TRUE(writeAudio(path, samples, 48000));
  EXPECT_EQ(Folder::read(path).substr(0, 4), "fLaC");
  Result<Audio> again = readAudio(path);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(again->sampleRate, 48000);
  EXPECT_EQ(again->samples.shape, samples.shape);
  std::vector<float> read = valuesOf<float>(again->samples);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(read[i], values[i], 0x1p-23) << i;

  values[5] = 1.5f;
  EXPECT_TRUE(contains(textOfError(writeAudio(path, arrayOf<float>({3000, 2}, values), 48000)),
                       "frame 2 has 1.5; scale them, or write a .wav"));
  EXPECT_TRUE(contains(textOfError(writeAudio(path, arrayOf<double>({1}, {NAN}), 48000)),
                       "frame 0 has nan"));
}

TEST(AudioTest, RefusesWhatAFileCannotHold) {
  Folder folder;
  std::string wav = folder.file("x.wav");
  EXPECT_TRUE(contains(textOfError(writeAudio(wav, arrayOf<float>({1, 1, 1}, {0}), 8000)),
                       "(frames, channels), not (1, 1, 1)"));
  EXPECT_TRUE(
      contains(textOfError(writeAudio(wav, arrayOf<float>({1, 0}, {}), 8000)), "0 channels"));
  EXPECT_TRUE(contains(textOfError(writeAudio(wav, arrayOf<float>({1}, {0}), 0)), "0 Hz"));
  EXPECT_TRUE(contains(textOfError(writeAudio(wav, arrayOf<float>({1}, {0}), -5)), "-5 Hz"));
  EXPECT_TRUE(contains(textOfError(writeAudio(folder.file("x.mp3"), HostArray{}, 8000)), ".mp3"));
  EXPECT_TRUE(contains(textOfError(writeAudio(folder.file("x.npy"), HostArray{}, 8000)),
                       "end in .wav or .flac"));
  EXPECT_TRUE(
      contains(textOfError(writeAudio(folder.file("none/x.wav"), arrayOf<float>({1}, {0}), 8000)),
               "cannot be written"));
}

TEST(AudioTest, WhatIsNoSoundSaysSo) {
  Folder folder;
  EXPECT_TRUE(contains(textOfError(readAudio(folder.file("none.wav"))), "No such file"));
  EXPECT_TRUE(contains(textOfError(readAudio(folder.file(""))), "is a directory"));
  EXPECT_TRUE(contains(textOfError(readContent("")), "x.wav: is neither a WAV nor a FLAC file"));
  EXPECT_TRUE(contains(textOfError(readContent("FORM....AIFF....")), "is neither a WAV"));
  std::string manyChunks = "RIFF....WAVE";
  for (int i = 0; i < 2000; ++i)
    manyChunks += std::string("junk\0\0\0\0", 8);
  EXPECT_TRUE(contains(textOfError(readContent(manyChunks)), "no sound in its first 1024"));
  EXPECT_TRUE(
      contains(textOfError(readContent("RIFF....WAVEjunk\xff\xff\xff\xff....")), "is cut short"));
}

TEST(AudioTest, EveryTruncatedWavIsAnError) {
  std::string content = wav16(1, 8000, {1, 2, 3, 4});
  ASSERT_TRUE(readContent(content));
  for (size_t length = 0; length < content.size(); ++length)
    EXPECT_FALSE(readContent(content.substr(0, length))) << length;
  EXPECT_TRUE(contains(textOfError(readContent(wav16(1, 8000, {1, 2, 3, 4}, 1000000))),
                       "header says 1000000 bytes of sound, and there are 8"));
}

TEST(AudioTest, TruncatedFlacIsAnError) {
  Folder folder;
  std::vector<float> values;
  for (int i = 0; i < 20000; ++i)
    values.push_back(static_cast<float>(std::sin(i * 0.01 + std::cos(i * 0.37))));
  std::string path = folder.file("x.flac");
  ASSERT_TRUE(writeAudio(path, arrayOf<float>({20000}, values), 8000));
  std::string content = Folder::read(path);
  ASSERT_TRUE(readAudio(path));
  for (size_t tenth = 0; tenth < 10; ++tenth) {
    size_t length = content.size() * tenth / 10;
    EXPECT_FALSE(readAudio(folder.write("cut.flac", content.substr(0, length)))) << length;
  }
  std::string text =
      textOfError(readAudio(folder.write("cut.flac", content.substr(0, content.size() * 3 / 4))));
  EXPECT_TRUE(contains(text, "cut short: its header says 20000 frames, and "));
}

TEST(AudioTest, LengthLeftOpenByAStreamingWriter) {
  Result<Audio> audio = readContent(wav16(1, 8000, {1, 2, 3, 4}, 0xffffffff));
  ASSERT_TRUE(audio) << audio.error().text;
  EXPECT_EQ(audio->samples.shape[0], 4);
}

TEST(AudioTest, DamageIsAnErrorOrSound) {
  Folder folder;
  std::string wav = wav16(2, 8000, {1, 2, 3, 4});
  ASSERT_TRUE(writeAudio(folder.file("x.flac"), arrayOf<float>({4}, {0, 0.5, -0.5, 0.25}), 8000));
  std::string flac = Folder::read(folder.file("x.flac"));
  for (const std::string& content : {wav, flac}) {
    // FLAC's header is followed by thousands of bytes of padding.
    for (size_t at = 0; at < std::min<size_t>(content.size(), 120); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = content;
        damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
        Result<Audio> audio = readAudio(folder.write("d.wav", damaged), ReadLimits{1 << 24});
        EXPECT_TRUE(!audio || isSound(audio->samples)) << at << " " << bit;
      }
    }
    for (size_t length = 0; length < content.size(); length += 7) {
      Result<Audio> audio = readAudio(folder.write("d.wav", content.substr(0, length)));
      EXPECT_TRUE(!audio || isSound(audio->samples)) << length;
    }
  }
}

} // namespace
