// The command line as data. No CLI11 and no compiler in here.
#pragma once

#include "rnn/rnn.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rnnc::tool {

/// INTERFACES.md: exit status.
enum ExitCode : int {
  kFine = 0,
  kFailure = 1, ///< the user's file or data, not supported yet, not converged, a failed check
  kUsage = 2,
  kMissing = 3, ///< a device or library
  kBug = 70,
};

enum class Verb { Run, Build, Check, Explain, Bench, Plan, Doctor };
enum class Device { Auto, Cpu, Cuda, Interpreter };
enum class Color { Auto, Always, Never };
enum class ErrorFormat { Text, Json };
enum class MathKind { Polynomial, Special };
enum class Staging { Auto, Registers };
enum class Optimizer { Adam, Sgd };
enum class Precision { F32, Mixed };
enum class Storage { F32, F64, BF16, F16 };

const char* verbName(Verb verb);

/// NAME=VALUE pairs in the order given; a name occurs once.
using Sizes = std::map<std::string, int64_t>;
using Numbers = std::map<std::string, double>;

struct Options {
  Verb verb = Verb::Run;
  std::string commandLine;
  std::string file; ///< for explain, perhaps a code such as RNN0102

  std::string cell;
  Sizes dims;
  Numbers constants;
  Sizes limits;     ///< nesting, source, operations
  std::string root; ///< no import leaves it; empty: the file's folder
  std::optional<Storage> dtype;
  std::optional<rnn_dtype> compute;
  Device device = Device::Auto;
  int32_t ordinal = 0; ///< of a CUDA device

  rnn_schedule schedule = RNN_SCHEDULE_AUTO;
  rnn_vector vector = RNN_VECTOR_AUTO;
  rnn_tiles tiles = RNN_TILES_AUTO;
  int64_t chunk = 0, chunks = 0; ///< 0: the cost model's
  double tolerance = -1;         ///< negative: the default
  int64_t maxSweeps = 0;
  int32_t threads = 0; ///< 0: all

  std::vector<std::string> inputs, outputs, randoms;
  Numbers params;
  std::optional<int64_t> batch, time;
  uint64_t seed = 0;
  bool verify = false;
  std::string report;

  std::string emit, output, dumpDir;
  std::string target; ///< cpu or cuda; empty: by the stage and the architecture
  std::string arch;
  bool gradients = false; ///< build: with the cell of the gradients; bench: forward and backward
  MathKind math = MathKind::Polynomial;
  Staging staging = Staging::Auto;

  int64_t repeat = 0; ///< bench: calls a schedule; 0: as many as --seconds allows
  double seconds = 2; ///< bench: how long to measure
  bool quick = false; ///< check: fewer shapes
  int64_t checkpoint =
      0; ///< bench --gradients: of L2, against L1 alone; 0: what a budget might choose
  int64_t segments = 0; ///< bench: sequences of a packed batch; 0: none

  int64_t layers = 1;                  ///< plan
  std::optional<int64_t> memoryBudget; ///< plan: bytes of reserve and workspace
  Optimizer optimizer = Optimizer::Adam;
  Precision precision = Precision::F32;
  int64_t ranks = 1;
  /// plan: --time as the codes of a recording.
  std::optional<double> recording, frameRate;
  std::optional<int64_t> codebooks;
  std::string plot;

  bool json = false, verbose = false;
  Color color = Color::Auto;
  ErrorFormat errorFormat = ErrorFormat::Text;
};

/// The options, or what to exit with: help is printed already, an error is not.
struct ParsedOptions {
  std::optional<Options> options;
  int exitCode = kFine;
  std::string error, hint;
  ErrorFormat errorFormat = ErrorFormat::Text; ///< also where the options could not be read
};

ParsedOptions parseOptions(int argc, const char* const* argv);

} // namespace rnnc::tool
