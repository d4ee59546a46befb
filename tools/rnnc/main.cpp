// rnnc: one verb of the command line, and its exit status.
#include "console.h"
#include "options.h"
#include "verbs.h"

#include <cstdio>

using namespace rnnc::tool;

static int runVerb(const Options& options) {
  switch (options.verb) {
  case Verb::Run:
    return runRun(options);
  case Verb::Build:
    return runBuild(options);
  case Verb::Check:
    return runCheck(options);
  case Verb::Explain:
    return runExplain(options);
  case Verb::Bench:
    return runBench(options);
  case Verb::Plan:
    return runPlan(options);
  case Verb::Doctor:
    return runDoctor(options);
  }
  return kUsage;
}

int main(int argc, char** argv) {
  ParsedOptions parsed = parseOptions(argc, argv);
  if (!parsed.options) {
    if (!parsed.error.empty())
      Console(parsed.errorFormat, Color::Auto, false).error(parsed.error, parsed.hint);
    return parsed.exitCode;
  }
  int status = runVerb(*parsed.options);
  if (std::fflush(stdout) != 0 && status == kFine)
    return Console(*parsed.options).error("stdout cannot be written");
  return status;
}
