#include "console.h"

#include "rnnc/Diagnostics.h"

#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <unistd.h>

using namespace rnnc::tool;

Console::Console(ErrorFormat format, Color color, bool verbose)
    : format(format), useColor(color == Color::Always), verbose(verbose) {
  if (color == Color::Auto)
    useColor = isatty(STDERR_FILENO) && !std::getenv("NO_COLOR");
}

void Console::say(const char* severity, std::string_view text, std::string_view hint) const {
  if (format == ErrorFormat::Json) {
    nlohmann::ordered_json line{{"severity", severity}, {"text", text}};
    if (!hint.empty())
      line["hint"] = hint;
    fmt::print(stderr, "{}\n",
               line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  bool isError = std::string_view(severity) == "error";
  const char* paint = !useColor ? "" : isError ? "\033[1;31m" : "\033[1;35m";
  fmt::print(stderr, "rnnc: {}{}:{} {}\n", paint, severity, useColor ? "\033[0m" : "", text);
  if (!hint.empty())
    fmt::print(stderr, "  hint: {}\n", hint);
}

int Console::error(std::string_view text, std::string_view hint, int exitCode) const {
  say("error", text, hint);
  return exitCode;
}

void Console::warning(std::string_view text, std::string_view hint) const {
  say("warning", text, hint);
}

void Console::detail(std::string_view text) const {
  if (verbose)
    fmt::print(stderr, "rnnc: {}\n", text);
}

void Console::print(const DiagnosticEngine& diagnostics) const {
  if (format == ErrorFormat::Json)
    diagnostics.printJson(llvm::errs());
  else
    diagnostics.print(llvm::errs(), useColor);
}

void Stopwatch::lap(std::string_view what) {
  auto now = std::chrono::steady_clock::now();
  console.detail(fmt::format("{} in {}", what,
                             secondsText(std::chrono::duration<double>(now - start).count())));
  start = now;
}

std::string rnnc::tool::secondsText(double seconds) {
  if (seconds < 1e-6)
    return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3)
    return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1)
    return fmt::format("{:.3g} ms", seconds * 1e3);
  return seconds < 100 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string rnnc::tool::countText(double count) {
  const char* const units[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  for (; std::fabs(count) >= (unit ? 1000 : 10000) && unit < 4; ++unit)
    count /= 1000;
  return fmt::format("{:.4g}{}", count, units[unit]);
}
