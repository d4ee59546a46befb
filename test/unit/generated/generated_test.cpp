//===- generated_test.cpp - random programs, compared in every way that there is --------------===//
//
// generated_test [--seed=S] [--first=N] [--programs=N] [--program=N] [--no-shrink]
//
//===----------------------------------------------------------------------------------------------===//

#include "generate.h"
#include "shrink.h"
#include "trial.h"

#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

using namespace rnnc::generated;

namespace {

struct Range {
  uint64_t seed = 1, first = 0, programs = 1000;
  bool shrink = true;
} range;

constexpr int kFailuresShown = 3;

std::string reproducer(uint64_t index) {
  return "generated_test --seed=" + std::to_string(range.seed) +
         " --program=" + std::to_string(index);
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
         describe(program) + "\n" + print(program);
}

TEST(Generated, AgreesInEveryForm) {
  int shown = 0;
  for (uint64_t index = range.first; index < range.first + range.programs && shown < kFailuresShown;
       ++index) {
    Program program = generate(range.seed, index);
    std::string text = reproducer(index) + "\n" + describe(program) + "\n" + print(program);
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

/// "--name=value" as a number.
bool number(const char* argument, const char* name, uint64_t& value) {
  size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0 || argument[length] != '=')
    return false;
  value = std::strtoull(argument + length + 1, nullptr, 10);
  return true;
}

} // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  llvm::EnablePrettyStackTrace();
  for (int i = 1; i < argc; ++i) {
    if (number(argv[i], "--program", range.first))
      range.programs = 1;
    else if (std::strcmp(argv[i], "--no-shrink") == 0)
      range.shrink = false;
    else if (!number(argv[i], "--seed", range.seed) && !number(argv[i], "--first", range.first) &&
             !number(argv[i], "--programs", range.programs)) {
      llvm::errs() << "usage: generated_test [--seed=S] [--first=N] [--programs=N] [--program=N] "
                      "[--no-shrink]\n";
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
