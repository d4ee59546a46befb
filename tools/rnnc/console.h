// What the tool says about itself: errors without a place in a file, warnings, details. On stderr.
#pragma once

#include "options.h"

#include <chrono>
#include <string>
#include <string_view>

namespace rnnc {
class DiagnosticEngine;
}

namespace rnnc::tool {

class Console {
public:
  Console(ErrorFormat format, Color color, bool verbose);
  explicit Console(const Options& options)
      : Console(options.errorFormat, options.color, options.verbose) {}

  /// An error, with what would help. Returns kFailure for convenience, or the status given.
  int error(std::string_view text, std::string_view hint = "", int exitCode = kFailure) const;
  void warning(std::string_view text, std::string_view hint = "") const;
  /// Only with --verbose.
  void detail(std::string_view text) const;
  /// Everything that the engine collected.
  void print(const DiagnosticEngine& diagnostics) const;

  bool color() const { return useColor; }

private:
  void say(const char* severity, std::string_view text, std::string_view hint) const;

  ErrorFormat format;
  bool useColor, verbose;
};

/// Tells, with --verbose, how long something took.
class Stopwatch {
public:
  explicit Stopwatch(const Console& console) : console(console) {}
  /// Since the last lap, or since it was made.
  void lap(std::string_view what);

private:
  const Console& console;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// "12.3 ms"; "3.20 s".
std::string secondsText(double seconds);
/// "1.25 million"-like counts stay exact below 10,000: 4096, 33.6 M, 1.2 G.
std::string countText(double count);

} // namespace rnnc::tool
