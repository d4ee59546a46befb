// The verbs of the command line. Each returns the exit status.
#pragma once

namespace rnnc::tool {

struct Options;

int runRun(const Options& options);
int runBuild(const Options& options);
int runCheck(const Options& options);
int runExplain(const Options& options);
int runBench(const Options& options);
int runPlan(const Options& options);
int runDoctor(const Options& options);

} // namespace rnnc::tool
