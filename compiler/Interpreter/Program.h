//===- Program.h - a cell as a list of instructions over one memory --------------------------===//
#pragma once

#include "rnnc/Interpreter.h"

#include "Rnn/Rnn.h"

#include "llvm/ADT/SmallVector.h"

namespace rnnc {

/// Everything about a cell that does not change from step to step: where each array lives in one
/// flat memory of doubles, and which elements each instruction reads. A complex element is two
/// neighbours, the real part and the imaginary one.
struct Interpreter::Program {
  enum class Code {
    Unary,
    Binary,
    Compare,
    And,
    Or,
    Not,
    Where,
    Contract,
    Mean,
    Extreme,
    Complex,
    Copy
  };

  /// Element i of the result reads element index[i] behind memory[base]; a contraction or a
  /// reduction reads `terms` elements from there, `stride` apart. No index: elements run with the
  /// result's.
  struct Operand {
    size_t base = 0;
    std::vector<uint32_t> index;
    size_t stride = 0;
    size_t width = 1; // numbers an element

    size_t at(size_t i, size_t term = 0) const {
      return base + width * ((index.empty() ? i : index[i]) + term * stride);
    }
  };

  struct Instruction {
    Code code;
    unsigned kind = 0; // of the UnaryKind, BinaryKind or CompareKind
    size_t result = 0, count = 0, terms = 1;
    llvm::SmallVector<Operand, 3> operands;
    bool isComplex = false; // the result's elements; a copy moves numbers
  };

  /// Where a declared array lives. `now` is what the step reads, `next` what it writes.
  struct Place {
    size_t now = 0, next = 0, count = 0;
  };

  /// x[t-n]: a place of its own, filled before every step.
  struct Delayed {
    size_t input = 0; // declaration
    int64_t back = 0;
    size_t base = 0;
  };

  /// One element of a state that the step reads at [0]: `guess` is what the reads find, `next` what
  /// the equation makes of it, `now` the previous value.
  struct Unknown {
    size_t now = 0, next = 0, guess = 0;
  };

  /// Unknowns that can be solved for at the same time: groups of those that need each other, and
  /// the instructions, by number, that lead from their guesses to what their equations make of
  /// these.
  struct Level {
    std::vector<std::vector<uint32_t>> groups;
    std::vector<uint32_t> instructions;
  };

  /// A state that begins as a param: element i is the param's element index[i].
  struct Start {
    size_t state = 0, param = 0; // declarations
    std::vector<size_t> index;
  };

  std::vector<Declaration> declarations;
  std::vector<Place> places; // by declaration
  std::vector<Start> starts;
  std::vector<Delayed> delayed;
  std::vector<Unknown> unknowns;
  std::vector<Level> levels; // each after those that it needs
  std::vector<Instruction> instructions;
  std::vector<double> memory; // constants and first states in place; copied by every run

  /// The equations in order, as they stand.
  void execute(std::vector<double>& memory) const;
  void execute(const Instruction& op, std::vector<double>& memory) const;
  /// A step: implicit equations are solved first. False where one has no solution.
  bool step(std::vector<double>& memory) const;
};

} // namespace rnnc
