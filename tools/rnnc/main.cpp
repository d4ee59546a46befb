// rnnc: one verb of the command line, and its exit status.
#include "options.h"
#include "verbs.h"

#include <fmt/format.h>

using namespace rnnc::tool;

int main(int argc, char** argv) {
  ParsedOptions parsed = parseOptions(argc, argv);
  if (!parsed.options) {
    if (!parsed.error.empty())
      fmt::print(stderr, "{} {}\n", parsed.error, parsed.hint);
    return parsed.exitCode;
  }
  const Options& options = *parsed.options;
  switch (options.verb) {
  case Verb::Doctor:
    return runDoctor(options);
  default:
    return kUsage;
  }
}
