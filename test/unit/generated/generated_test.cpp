//===- generated_test.cpp - random programs, compared in every way that there is --------------===//
//
// generated_test [--seed=S] [--first=N] [--programs=N] [--program=N] [--no-shrink] [--print]
// [--optimise]
//
//===----------------------------------------------------------------------------------------------===//

#include "generate.h"
#include "range.h"
#include "shrink.h"
#include "trial.h"

#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace rnnc::generated;

namespace {

Range range;
constexpr int kFailuresShown = 3;

std::string reproducer(uint64_t index) {
  return "generated_test --seed=" + std::to_string(range.seed) +
         " --program=" + std::to_string(index) + (range.optimise ? " --optimise" : "");
}

/// Says which program it was when the process dies.
class Crash : public llvm::PrettyStackTraceEntry {
public:
  explicit Crash(const std::string& text) : text(text) {}
  void print(llvm::raw_ostream& out) const override { out << text << '\n'; }

private:
  const std::string& text;
};

std::string report(uint64_t index, const Program& program, const Failure& failure) {
  return "reproduce: " + reproducer(index) + "\n" + failure.check + ": " + failure.text + "\n" +
         describe(program) + "\n" + printAll(program);
}

TEST(Generated, AgreesInEveryForm) {
  int shown = 0;
  for (uint64_t index = range.first; index < range.first + range.programs && shown < kFailuresShown;
       ++index) {
    Program program = generate(range.seed, index);
    program.setting.isOptimised |= range.optimise;
    std::string text = reproducer(index) + "\n" + describe(program) + "\n" + printAll(program);
    if (range.print) {
      llvm::outs() << text << '\n';
      llvm::outs().flush(); // GoogleTest has a buffer of its own
      continue;
    }
    Crash crash(text);
    std::optional<Failure> failure = tryProgram(program);
    if (!failure)
      continue;
    ++shown;
    if (range.shrink)
      shrink(program, *failure);
    ADD_FAILURE() << report(index, program, *failure);
  }
  const Tally& all = tally();
  llvm::outs() << all.programs << " programs in " << std::clock() / CLOCKS_PER_SEC
               << " s of processor time, " << all.dense << " without a Jacobian, " << all.solves
               << " parallel solves, " << all.kernels << " kernels\n";
}

} // namespace

int main(int argc, char** argv) {
  // An exception out of the compiler is a crash: the stack trace names the program.
  GTEST_FLAG_SET(catch_exceptions, false);
  testing::InitGoogleTest(&argc, argv);
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  llvm::EnablePrettyStackTrace();
  return range.parse(argc, argv) ? RUN_ALL_TESTS() : 2;
}
