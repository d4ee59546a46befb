//===- Run.h - a program with a caller's arrays ----------------------------------------------===//
#pragma once

#include "Build.h"

#include <random>

namespace rnnc {

/// Axes in front of others: (batch, time) and the declared ones.
std::vector<int64_t> prepend(std::vector<int64_t> front, const std::vector<int64_t>& back);

/// "x[t-2]"
std::string delayName(const Interpreter::Program& program,
                      const Interpreter::Program::Delayed& delayed);

/// The array `name` of the shape `front` and the declared one; null where it is absent and may be.
llvm::Expected<const Array*> findArray(const Arrays& arrays, const Interpreter::Declaration& decl,
                                       const std::vector<int64_t>& front, bool mayBeAbsent);

/// An error where a name is none of the cell's in these roles, which `what` says.
llvm::Error rejectUnknown(const Interpreter::Program& program, const Arrays& arrays,
                          std::initializer_list<Interpreter::Declaration::Role> roles,
                          const char* what);

/// What is bound, and the memory that the steps work in.
class Run {
public:
  /// A declared array, its place in the program's memory, and the caller's arrays.
  struct Binding {
    const Interpreter::Declaration& decl;
    const Interpreter::Program::Place& place;
    const double* from = nullptr; ///< input, param or initial state
    double* sequence = nullptr;
    double* last = nullptr; ///< final state
  };

  Run(const Interpreter::Program& program, int64_t batch, int64_t time, double rounding,
      uint64_t seed)
      : program(program), batch(batch), time(time), memory(program.memory), rounding(rounding),
        draw(seed), earlier(program.delayed.size()) {}

  /// Results are made in `result`, where it is given.
  llvm::Error bind(const Arrays& inputs, const Arrays& params, const Arrays& initial,
                   Interpreter::Result* result);
  /// Gives earlier inputs of the first step their values, where `arrays` has them.
  llvm::Error bindEarlier(const Arrays& arrays);
  /// All steps of all batch elements.
  llvm::Error execute();

  /// Params, and the states before the first step of a batch element.
  void begin(int64_t b);
  /// One step from the states that are in place, its inputs loaded. The new values stay `next`.
  llvm::Error step(int64_t b, int64_t t);
  /// The new values become those that the next step reads.
  void advance();

  const std::vector<Binding>& bound() const { return bindings; }

  const Interpreter::Program& program;
  const int64_t batch, time;
  std::vector<double> memory;

private:
  double* produce(Arrays& arrays, const Binding& binding, std::vector<int64_t> front);
  llvm::Error runElement(int64_t b);
  void load(const Binding& x, const double* from) {
    std::copy_n(from, x.place.count, &memory[x.place.now]);
  }
  void loadDelayed(int64_t b, int64_t t);

  double rounding;
  std::mt19937_64 draw;
  std::vector<Binding> bindings;
  std::vector<const double*> earlier; ///< by Program::delayed; null: the declared value
};

} // namespace rnnc
