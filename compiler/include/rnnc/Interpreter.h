//===- Interpreter.h - what a cell means, in float64 -----------------------------------------===//
//
// Runs the Rnn dialect step by step, one batch element after the other, in float64, and takes
// gradients back through it. Slow and obvious: the oracle that every back end is compared with.
//
//===----------------------------------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rnnc {
namespace rnn {
class CellOp;
} // namespace rnn

/// Dense, row-major.
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> data;
};

using Arrays = std::map<std::string, Array>;

class Interpreter {
public:
  /// What a cell declares; `shape` has every size bound, without batch and time.
  struct Declaration {
    enum class Role { Input, Param, State, Output };
    Role role;
    std::string name;
    std::vector<int64_t> shape;
    double fill = 0; ///< the value before the first step, of a state or an input
    bool hidden = false;
    std::string start; ///< of a state: the param that is its value before the first step
  };

  /// All steps of a batch.
  struct Result {
    Arrays sequences; ///< (batch, time, dims...): every state, hidden ones too, and every output
    Arrays finals;    ///< (batch, dims...): every state after the last step
  };

  /// Binds the cell's free dims; an error where one is missing, unknown or contradicts the file, or
  /// where an op is not supported yet. The cell may go away afterwards.
  static llvm::Expected<Interpreter> create(rnn::CellOp cell,
                                            const std::map<std::string, int64_t>& dims);
  Interpreter(Interpreter&&) noexcept;
  Interpreter& operator=(Interpreter&&) noexcept;
  ~Interpreter();

  /// In the order of the file.
  const std::vector<Declaration>& declarations() const;

  /// The earlier inputs that a step reads, as "x[t-2]", with the shape of the input.
  std::map<std::string, std::vector<int64_t>> delays() const;

  /// One step of one batch element, arrays of shape (dims...): the new states and the outputs. A
  /// state that is not given, and one of delays() that is not in `earlier`, has its value before
  /// the first step.
  llvm::Expected<Arrays> step(const Arrays& states, const Arrays& inputs, const Arrays& params,
                              const Arrays& earlier = {}) const;

  /// Inputs (batch, time, dims...), params (dims...), initial states (batch, dims...) where given.
  /// An error where an implicit step has no solution. `rounding`: moves every new state by so much
  /// of itself, up or down as a generator that starts from `seed` draws, which shows how far the
  /// roundings of single steps spread.
  llvm::Expected<Result> run(int64_t batch, int64_t time, const Arrays& inputs,
                             const Arrays& params, const Arrays& initial, double rounding = 0,
                             uint64_t seed = 0) const;

  /// Of a loss, shaped like what they are by. Of a complex number its real and imaginary part, as
  /// two real numbers have them.
  struct Gradients {
    Arrays inputs;  ///< of every input
    Arrays params;  ///< of every param
    Arrays initial; ///< of every state before the first step, hidden ones too
  };

  /// What run() would be called with, and the gradients of a loss by its results in `upstream`
  /// (0 where a name is absent): reverse mode over the steps. A state that is not given and begins
  /// as a param passes its gradient on to it, beside showing it.
  llvm::Expected<Gradients> backward(int64_t batch, int64_t time, const Arrays& inputs,
                                     const Arrays& params, const Arrays& initial,
                                     const Result& upstream) const;

  struct Program; ///< what the cell became; for the interpreter alone

private:
  explicit Interpreter(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program;
};

} // namespace rnnc
