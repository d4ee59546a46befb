// Repeats a recording until it has a given length: a long input for a filter from a short one.
#include "Repeat.h"
#include "data/Audio.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace rnnc::data;

namespace {

Status run(const std::string& input, const std::string& output, double seconds) {
  Result<Audio> recording = readAudio(input);
  if (!recording)
    return recording.error();
  if (recording->samples.bytes.empty())
    return Error{fmt::format("{}: holds no sound to repeat", input)};
  int64_t frames = std::llround(seconds * recording->sampleRate);
  Result<HostArray> samples = audio::repeated(recording->samples, frames);
  if (!samples)
    return Error{fmt::format("{}: {}", output, samples.error().text)};
  if (Status status = writeAudio(output, *samples, recording->sampleRate); !status)
    return status;
  fmt::print("{}: {} frames of {} channel(s) at {} Hz, {:.1f} s; the recording has {:.1f} s\n",
             output, frames, samples->shape[1], recording->sampleRate, seconds,
             static_cast<double>(recording->samples.shape[0]) / recording->sampleRate);
  return success();
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Repeats a recording until it has a given length.");
  std::string input, output;
  double seconds = 600;
  app.add_option("input", input, "a .wav or .flac file")->required();
  app.add_option("output", output, "the .wav or .flac file to write")->required();
  app.add_option("--seconds", seconds, "length of the output")
      ->check(CLI::Range(1e-3, 1e6))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (Status status = run(input, output, seconds); !status) {
    fmt::print(stderr, "loop_wav: error: {}\n", status.error().text);
    return 1;
  }
  return 0;
}
