//===- range.h - which programs a test goes through -------------------------------------------===//
#pragma once

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace rnnc::generated {

/// --seed=S --first=N --programs=N, or --program=N for one; --no-shrink; --print: only what
/// they are; --optimise: all kernels, not those of every sixteenth program alone, as with
/// RNN_SOAK=1.
///
/// RNN_SOAK_PROGRAMS=N in the environment: N programs for every 1000, beginning where the usual
/// ones end.
struct Range {
  uint64_t seed = 1, first = 0, programs = 1000;
  bool shrink = true, print = false, optimise = std::getenv("RNN_SOAK") != nullptr;

  /// False after a message.
  bool parse(int argc, char** argv) {
    bool one = false;
    for (int i = 1; i < argc; ++i) {
      if (number(argv[i], "--program", first))
        one = true;
      else if (std::strcmp(argv[i], "--no-shrink") == 0)
        shrink = false;
      else if (std::strcmp(argv[i], "--print") == 0)
        print = true;
      else if (std::strcmp(argv[i], "--optimise") == 0)
        optimise = true;
      else if (!number(argv[i], "--seed", seed) && !number(argv[i], "--first", first) &&
               !number(argv[i], "--programs", programs)) {
        llvm::errs() << "usage: " << argv[0]
                     << " [--seed=S] [--first=N] [--programs=N] [--program=N] [--no-shrink]"
                        " [--print] [--optimise]\n";
        return false;
      }
    }
    if (one)
      programs = 1;
    else if (const char* soak = std::getenv("RNN_SOAK_PROGRAMS")) {
      uint64_t all = std::strtoull(soak, nullptr, 10);
      first = 1000 + first * all / 1000;
      programs = programs * all / 1000;
    }
    return true;
  }

private:
  /// "--name=value" as a number.
  static bool number(const char* argument, const char* name, uint64_t& value) {
    size_t length = std::strlen(name);
    if (std::strncmp(argument, name, length) != 0 || argument[length] != '=')
      return false;
    value = std::strtoull(argument + length + 1, nullptr, 10);
    return true;
  }
};

} // namespace rnnc::generated
