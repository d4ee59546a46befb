// Kernels and plans called on drawn data: what the proofs share.
#pragma once

#include "check.h"
#include "differences.h"

#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <optional>

namespace rnnc::check {

/// Drawn numbers that depend on the seed and a name alone. normal(0, scale).
std::vector<double> draw(uint64_t seed, const std::string& name, size_t count, double scale);

/// Starts near a state's own: far from there a cell may be another one (the logistic map leaves
/// [0, 1] and blows up).
std::vector<double> drawAround(double fill, uint64_t seed, const std::string& name, size_t count);

/// A kernel of a system in float64 with buffers of its own: every column is a random point.
class Shooter {
public:
  Shooter(const CompiledCell& cell, uint32_t system, uint32_t kernel, int64_t steps, uint64_t seed,
          const std::map<std::string, double>& params);

  /// Draws inputs and params again, every column by its number, counted from `first`: the same
  /// points for kernels of every width.
  void drawColumns(uint64_t seed, uint32_t first);

  uint32_t width() const { return kernelWidth; }
  const rnn_system_desc& system() const { return *desc; }
  std::vector<double> start; // [states][width]

  /// End states for a start; the carry too where asked.
  std::vector<double> shoot(const std::vector<double>& from);
  std::vector<double> carry();
  /// The carry of `count` steps from step `first` on; `state` becomes the state behind them.
  std::vector<double> carryAlong(int64_t first, int64_t count, std::vector<double>& state);
  /// A carry as a whole matrix, [states][states][width].
  std::vector<double> dense(const std::vector<double>& carry) const;
  bool ok() const { return plain && (desc->carry == 0 || jacobian); }

private:
  void run(rnn_shoot_fn kernel, std::vector<double>& state, double* carry, int64_t first,
           int64_t count);

  const rnn_module_table& table;
  const rnn_system_desc* desc;
  uint32_t kernelWidth;
  int64_t steps;
  const std::map<std::string, double>& fixed;
  void takeFixed();
  rnn_shoot_fn plain = nullptr, jacobian = nullptr;
  std::vector<double> inputs, params, finite, ignored;
  std::vector<int64_t> unsolved;
};

/// Differences of the end states along state `column`, for every state and column of the vector:
/// [states][width].
std::vector<Measured> differences(Shooter& shooter, uint32_t column);

/// The sizes of a call.
struct CallShape {
  std::map<std::string, int64_t> dims; // every free one
  int64_t batch = 1, time = 1;
  int32_t threads = 0;  // 0: all
  int64_t segments = 0; // of a packed batch; 0: none
};

/// Part of a stream: so many steps by a schedule (rnn_steps), or one by one (rnn_step).
struct Piece {
  int64_t steps;
  bool isSingle;
};

/// The numbers of an input, a param or an initial state.
using Draw = std::function<std::vector<double>(rnn_arg_kind, const rnn_tensor_desc&, size_t count)>;

/// Tensors for a plan, drawn: every argument of the signature.
class CallBuffers {
public:
  CallBuffers(const CompiledCell& cell, CallShape shape, const Draw& draw);
  /// Lanes along the first free lane axis, or along the batch where there is none; numbers by the
  /// subject's seed. With `segments` one row, for a packed batch.
  CallBuffers(const CompiledCell& cell, const Subject& subject, int64_t lanes, int64_t time,
              int64_t segments = 0);

  rnn_plan_options options(rnn_dtype compute) const;
  /// Runs a plan; an error text where it failed. Results go to `results`.
  std::optional<std::string> run(rnn_context* context, const rnn_plan_options& options);
  /// The same, and then the gradients of a loss whose derivatives by the results are drawn; of
  /// level L1, where the options name none.
  std::optional<std::string> runBackward(rnn_context* context, rnn_plan_options options);
  /// The same as a stream: pieces that add up to the call's steps, at least one. Between two pieces
  /// the state is saved, and restored elsewhere.
  std::optional<std::string> runInPieces(rnn_context* context, rnn_plan_options options,
                                         llvm::ArrayRef<Piece> pieces);

  const CallShape& shape() const { return sizes; }

  /// Draws the derivatives of a loss by the results, makes room for the others.
  void drawGradients(uint64_t seed);

  /// Between `values` and `raw`, for who runs the call in another way.
  void toRaw(rnn_dtype type);
  void fromRaw(rnn_dtype type);
  std::vector<int64_t> shapeOf(uint32_t tensor, rnn_arg_kind kind) const;

  struct Argument {
    rnn_arg_desc desc;
    std::vector<int64_t> shape;
    std::vector<double> values;     // drawn (inputs, params, initial states) or results
    std::vector<unsigned char> raw; // in the compute type
    std::vector<double> gradient;   // of results drawn, of everything else made; by runBackward
    std::vector<unsigned char> rawGradient;
  };
  std::vector<Argument> arguments;
  std::vector<uint8_t> reset; ///< [batch][time], of a plan with a mask

  /// The call's arrays as they are in `raw`, and those of the gradients.
  std::vector<rnn_tensor> tensors(rnn_dtype type);
  std::vector<rnn_tensor> gradients(rnn_dtype type);

private:
  rnn_tensor tensorOf(const Argument& argument, std::vector<unsigned char>& raw,
                      rnn_dtype type) const;

  const CompiledCell& cell;
  CallShape sizes;
  std::vector<rnn_dim_value> dimValues; // names of the cell's table
};

/// Whether all results of two runs have the same bits (any NaN equals any NaN); else which differs.
std::optional<std::string> firstDifference(const CallBuffers& a, const CallBuffers& b,
                                           const rnn_module_table& table, rnn_dtype type);

/// The same of the gradients of two runs: of inputs and initial states their bits; of params, which
/// are sums, how far apart two orders of addition may be, and `worst` grows to what they are.
std::optional<std::string> firstGradientDifference(const CallBuffers& a, const CallBuffers& b,
                                                   const rnn_module_table& table, rnn_dtype type,
                                                   double& worst);

/// The results of a call that `table`'s cell ran, computed in `type`, against the interpreter. A
/// result may be `bound` away, or as far as other roundings of the arguments move the interpreter's
/// own, some times over.
Row compareWithInterpreter(const Subject& subject, const rnn_module_table& table, rnn_dtype type,
                           const CallBuffers& call, double bound);
/// Runs the call sequentially first.
Row compareWithInterpreter(rnn_context* context, const Subject& subject, rnn_dtype type,
                           CallBuffers call, double bound);

} // namespace rnnc::check
