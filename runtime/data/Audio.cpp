#include "data/Audio.h"

#include "data/ByteSource.h"
#include "data/FileKind.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <sndfile.h>

namespace rnnc::data {

namespace {

struct CloseSound {
  void operator()(SNDFILE* sound) const { sf_close(sound); }
};
using SoundPointer = std::unique_ptr<SNDFILE, CloseSound>;

constexpr int64_t maxChannels = 1024; // libsndfile's own limit
constexpr int64_t blockFrames = 1 << 14;

uint32_t littleEndian(const unsigned char* at) {
  return at[0] | at[1] << 8 | at[2] << 16 | static_cast<uint32_t>(at[3]) << 24;
}

Error errorAt(const std::string& path, std::string_view text) {
  return Error{fmt::format("{}: {}", printable(path), text)};
}

/// libsndfile takes a WAV file that is cut short for a shorter recording; here it is an error.
Status checkChunks(const std::string& path, const OpenedFile& opened) {
  constexpr uint32_t unknownSize = 0xffffffff; // as programs write that cannot seek
  constexpr int maxChunks = 1024;
  int64_t at = 12;
  for (int chunk = 0; chunk < maxChunks; ++chunk) {
    unsigned char head[8];
    if (at > opened.size - 8 || std::fseek(opened.file.get(), at, SEEK_SET) != 0 ||
        std::fread(head, 1, 8, opened.file.get()) != 8)
      return errorAt(path, "is cut short: it holds no sound");
    uint32_t size = littleEndian(head + 4);
    at += 8;
    if (std::memcmp(head, "data", 4) == 0) {
      if (size == unknownSize || size <= opened.size - at)
        return success();
      return errorAt(path, fmt::format("is cut short: its header says {} bytes of sound, and there "
                                       "are {}",
                                       size, opened.size - at));
    }
    at += static_cast<int64_t>(size) + (size & 1);
  }
  return errorAt(path, "holds no sound in its first 1024 parts");
}

/// Only what is meant to be a WAV or FLAC file gets to libsndfile, which knows many more kinds.
Status checkIsSound(const std::string& path) {
  Result<OpenedFile> opened = openRegularFile(path);
  if (!opened)
    return opened.error();
  unsigned char head[12] = {};
  size_t got = std::fread(head, 1, sizeof head, opened->file.get());
  if (got >= 4 && std::memcmp(head, "fLaC", 4) == 0)
    return success();
  bool wave = got == sizeof head && std::memcmp(head + 8, "WAVE", 4) == 0;
  if (wave && std::memcmp(head, "RIFF", 4) == 0)
    return checkChunks(path, *opened);
  if (wave && std::memcmp(head, "RF64", 4) == 0)
    return success();
  return errorAt(path, "is neither a WAV nor a FLAC file");
}

/// Reads block by block: what the header says of the length is not trusted.
Result<HostArray> readFrames(const std::string& path, SNDFILE* sound, const SF_INFO& info,
                             int64_t limit) {
  constexpr int64_t mostReserved = 1 << 28;
  HostArray samples{DType::F32, {0, info.channels}, {}};
  int64_t frameBytes = info.channels * static_cast<int64_t>(sizeof(float));
  int64_t frames = 0, got = 0;
  bool lengthKnown = info.frames > 0 && info.frames < SF_COUNT_MAX / frameBytes;
  try {
    if (lengthKnown)
      samples.bytes.reserve(
          static_cast<size_t>(std::min({info.frames * frameBytes, limit, mostReserved})));
    std::vector<float> block(static_cast<size_t>(blockFrames * info.channels));
    do {
      got = sf_readf_float(sound, block.data(), blockFrames);
      frames += got;
      if (frames > limit / frameBytes)
        return errorAt(path, fmt::format("needs more memory than the limit of {} bytes", limit));
      auto bytes = std::as_bytes(std::span(block)).first(static_cast<size_t>(got * frameBytes));
      samples.bytes.insert(samples.bytes.end(), bytes.begin(), bytes.end());
    } while (got == blockFrames);
  } catch (const std::exception&) {
    return errorAt(path, "needs more memory than there is");
  }
  if (lengthKnown && frames != info.frames)
    return errorAt(path, fmt::format("is damaged or cut short: its header says {} frames, and {} "
                                     "can be read",
                                     info.frames, frames));
  if (sf_error(sound) != SF_ERR_NO_ERROR)
    return errorAt(path, fmt::format("is damaged: {}", sf_strerror(sound)));
  samples.shape[0] = frames;
  return samples;
}

Status checkForFlac(const std::string& path, const HostArray& samples, int64_t channels) {
  auto check = [&](auto values) -> Status {
    for (size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(values[i]) <= 1))
        return errorAt(path, fmt::format("FLAC holds samples from -1 to 1, and frame {} has {}; "
                                         "scale them, or write a .wav file",
                                         static_cast<int64_t>(i) / channels, values[i]));
    return success();
  };
  return samples.dtype == DType::F32 ? check(samples.values<float>())
                                     : check(samples.values<double>());
}

/// False where fewer frames than that were written.
bool writeFrames(SNDFILE* sound, const HostArray& samples, int64_t frames, int64_t channels) {
  if (samples.dtype == DType::F32)
    return sf_writef_float(sound, samples.values<float>().data(), frames) == frames;
  std::vector<float> block;
  for (int64_t done = 0; done < frames; done += blockFrames) {
    int64_t n = std::min(blockFrames, frames - done);
    auto part = samples.values<double>().subspan(static_cast<size_t>(done * channels),
                                                 static_cast<size_t>(n * channels));
    block.assign(part.begin(), part.end());
    if (sf_writef_float(sound, block.data(), n) != n)
      return false;
  }
  return true;
}

/// libsndfile's number for the file to write.
int formatFor(FileKind kind, int64_t sampleBytes) {
  constexpr int64_t headerRoom = 4096;
  if (kind == FileKind::Flac)
    return SF_FORMAT_FLAC | SF_FORMAT_PCM_24;
  bool fitsInWav = sampleBytes <= static_cast<int64_t>(UINT32_MAX) - headerRoom;
  return (fitsInWav ? SF_FORMAT_WAV : SF_FORMAT_RF64) | SF_FORMAT_FLOAT;
}

} // namespace

Result<Audio> readAudio(const std::string& path, const ReadLimits& limits) {
  if (Status status = checkIsSound(path); !status)
    return status.error();
  SF_INFO info{};
  SoundPointer sound(sf_open(path.c_str(), SFM_READ, &info));
  if (!sound)
    return errorAt(path,
                   fmt::format("is no sound file that can be read: {}", sf_strerror(nullptr)));
  if (info.channels < 1 || info.channels > maxChannels || info.samplerate < 1)
    return errorAt(path, fmt::format("says {} channels at {} Hz", info.channels, info.samplerate));
  Result<HostArray> samples = readFrames(path, sound.get(), info, limits.bytesOrMemory());
  if (!samples)
    return samples.error();
  return Audio{std::move(*samples), info.samplerate};
}

Status writeAudio(const std::string& path, const HostArray& samples, int sampleRate) {
  Result<FileKind> kind = fileKind(path);
  if (!kind)
    return kind.error();
  if (*kind != FileKind::Wav && *kind != FileKind::Flac)
    return errorAt(path, "sound is written to files that end in .wav or .flac");
  if (samples.shape.size() != 1 && samples.shape.size() != 2)
    return errorAt(path, fmt::format("sound has the shape (frames, channels), not {}",
                                     shapeText(samples.shape)));
  int64_t frames = samples.shape[0];
  int64_t channels = samples.shape.size() == 2 ? samples.shape[1] : 1;
  int64_t most = *kind == FileKind::Flac ? 8 : maxChannels;
  if (channels < 1 || channels > most)
    return errorAt(path,
                   fmt::format("cannot hold {} channels; 1 to {} are possible", channels, most));
  if (*kind == FileKind::Flac)
    if (Status status = checkForFlac(path, samples, channels); !status)
      return status;

  if (sampleRate < 1)
    return errorAt(path, fmt::format("a sample rate of {} Hz makes no sense", sampleRate));
  SF_INFO info{};
  info.samplerate = sampleRate;
  info.channels = static_cast<int>(channels);
  info.format = formatFor(*kind, frames * channels * static_cast<int64_t>(sizeof(float)));
  if (!sf_format_check(&info))
    return errorAt(path, fmt::format("cannot hold {} channels at {} Hz", channels, sampleRate));
  SoundPointer sound(sf_open(path.c_str(), SFM_WRITE, &info));
  if (!sound)
    return errorAt(path, fmt::format("cannot be written: {}", sf_strerror(nullptr)));
  // This chunk would hold the time of writing, and equal sound would make unequal files.
  sf_command(sound.get(), SFC_SET_ADD_PEAK_CHUNK, nullptr, SF_FALSE);
  // 1 itself is one step beyond FLAC's range.
  sf_command(sound.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
  if (!writeFrames(sound.get(), samples, frames, channels))
    return errorAt(path, fmt::format("cannot be written: {}", sf_strerror(sound.get())));
  if (int code = sf_close(sound.release()); code != SF_ERR_NO_ERROR)
    return errorAt(path, fmt::format("cannot be written: {}", sf_error_number(code)));
  return success();
}

} // namespace rnnc::data
