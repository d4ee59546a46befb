// The memory of a training step of one cell in N layers: what rnnc plan finds out.
#pragma once

#include "model_memory.h"
#include "report.h"
#include "solver.h"

#include <string>
#include <vector>

namespace rnnc::tool {

/// An array that somebody owns.
struct ArrayBytes {
  std::string name, what; ///< what: "state", "input", ...
  double bytes = 0;
};

struct MemoryPlan {
  CallSizes sizes;
  int64_t layers = 1;
  double parameters = 0; ///< numbers, of all layers
  std::vector<rnn_training_choice> frontier;
  std::vector<rnn_training_choice> chosen;   ///< of each layer
  std::vector<ArrayBytes> reserve;           ///< of the last layer
  std::vector<ArrayBytes> caller;            ///< of one layer
  double rootBytes = 0, rootSeconds = 0;     ///< keeping the inputs of every √N-th layer instead
  int64_t largestTime = 0, largestBatch = 0; ///< with a budget; 0: none fits

  double reserveBytes() const;
  double workspaceBytes() const;
  double peakBytes() const { return reserveBytes() + workspaceBytes(); }
  double callerBytes() const;
  double seconds() const;
  /// The part of a step that is spent on computing again.
  double recomputed() const;
};

/// kFine, or the status after a message: nothing fits, no gradients.
int planMemory(const Options& options, const Console& console, const Solver& solver,
               MemoryPlan& plan);

/// "L2, states every 64 steps, windows of 1024"
std::string choiceText(const rnn_training_choice& choice);
void printMemoryPlan(const Options& options, const Solver& solver, const MemoryPlan& plan);
Json memoryPlanJson(const Options& options, const Solver& solver, const MemoryPlan& plan);
/// Bytes against time of every choice, as SVG.
std::string plotFrontier(const std::string& cell, const MemoryPlan& plan);

} // namespace rnnc::tool
