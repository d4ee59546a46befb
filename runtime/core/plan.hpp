// A plan: a module bound to a shape, with the schedule chosen and every size known. Immutable.
#pragma once

#include "core/dense.hpp"
#include "core/module.hpp"
#include "core/schedule.hpp"
#include "core/segments.hpp"
#include "core/stream.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace rnnc::runtime {

namespace cuda {
struct DevicePlan;
}

/// What is summed over steps adds up as many at a time at most, counted from step 0 on: about as
/// many as in a chunk. A call in windows that are multiples of it adds in the same order.
constexpr int64_t sumSteps = 64;

struct Kernel {
  uint32_t width = 0;
  rnn_shoot_fn shoot = nullptr;
  rnn_shoot_fn jacobian = nullptr; ///< null where the schedule needs none
};

/// `groups` vectors of lanes one after the other, from lane `firstLane` and group `firstGroup` on.
struct GroupRun {
  int64_t firstLane = 0, groups = 0;
  Kernel kernel;
  int64_t lanes = 0; ///< the last vector may have fewer than its width
  int64_t firstGroup = 0;
};

/// The lanes of one group.
struct GroupLanes {
  const Kernel& kernel;
  int64_t first, count;
};

/// One term of the product of two carries: out[result] += times * left[a] * right[b].
struct CarryTerm {
  uint32_t result, a, b;
  int32_t times;
};

struct SystemPlan {
  const rnn_system_desc* desc = nullptr;    ///< every slot of it is one scalar
  uint32_t index = 0;                       ///< in the table
  std::shared_ptr<const DenseSystem> dense; ///< null for a system that has no block dims
  int64_t packedOffset = 0; ///< of its shared params among those of all systems, in numbers
  /// Of every input of an adjoint: how many steps before the step it is of, in the cell's time,
  /// which the adjoint's goes backwards.
  std::vector<int64_t> ahead;
  std::vector<uint32_t>
      starts;             ///< of an adjoint: carried states whose cell's state begins as a param
  int64_t sumsOffset = 0; ///< of its sums among those of all systems and maps, in numbers
  std::vector<int64_t> laneSizes;
  int64_t lanesPerBatch = 1, lanes = 0; ///< of one sequence; of all
  bool parallel = false;
  rnn_vector vector = RNN_VECTOR_LANES;
  rnn_tiles tiles = RNN_TILES_SEQUENCE;
  int64_t chunk = 0, chunks = 1; ///< steps a chunk, chunks a tile
  int64_t tileSteps = 0, tileCount = 0;
  int64_t groups = 0;
  int64_t vectorSteps = 0;    ///< of all groups together
  int64_t laneWidth = 1;      ///< of the widest of `runs`
  std::vector<GroupRun> runs; ///< vectors of lanes; with vectors of chunks: the lanes one by one
  /// Tiles in parallel of a packed batch, whose vectors then hold lanes of one segment alone: the
  /// tiles of all groups in front of each. Otherwise empty: each has tileCount.
  std::vector<int64_t> firstTile;
  Kernel chunkKernel; ///< vectors of chunks
  /// What solving one group takes, and what tiles in parallel keep.
  int64_t sliceBytes = 0, tilesBytes = 0;
  std::vector<CarryTerm> products;
  double secondsSequential = 0, secondsParallel = 0;

  bool chunksInVectors() const { return vector == RNN_VECTOR_CHUNKS; }
  /// What is summed over the steps of a lane: the system's sums, then what began states.
  int64_t sumRows() const { return int64_t(desc->sums) + int64_t(starts.size()); }
  bool tilesInParallel() const { return parallel && tiles == RNN_TILES_PARALLEL; }
  GroupLanes lanesOf(int64_t group) const {
    const GroupRun& run = *(std::ranges::upper_bound(runs, group, {}, &GroupRun::firstGroup) - 1);
    const int64_t each = chunksInVectors() ? 1 : run.kernel.width;
    const int64_t before = (group - run.firstGroup) * each;
    return {run.kernel, run.firstLane + before, std::min(each, run.lanes - before)};
  }
  int64_t tilesBefore(int64_t group) const {
    return firstTile.empty() ? group * tileCount : firstTile[group];
  }
  int64_t tilesOf(int64_t group) const { return tilesBefore(group + 1) - tilesBefore(group); }
  int64_t groupOfTile(int64_t tile) const {
    return firstTile.empty() ? tile / tileCount
                             : std::ranges::upper_bound(firstTile, tile) - firstTile.begin() - 1;
  }
};

struct ProductPart {
  const rnn_product_part* desc = nullptr;
  int64_t columns = 1;     ///< of the weight that are not contracted
  uint32_t columnAxes = 0; ///< whose places they are, in row-major order
  uint32_t contracted = 0; ///< the other axis of the weight
};

/// A product with its sizes known. The axes of every array are `heads` leading ones, then, where
/// the array has it: a row (the sequence's own other axis), a column (the weight's, of several axes
/// where one vector meets all), the contracted one.
struct ProductPlan {
  const rnn_product* desc = nullptr; ///< null: none
  int64_t heads = 1, rows = 1, contracted = 1;
  bool hasRow = false;
  int64_t ahead = 0; ///< of an adjoint's sequence, as SystemPlan has it
  std::vector<ProductPart> parts;
  /// The place of an axis in its array.
  uint32_t sequenceRow = 0, sequenceContracted = 0, weightColumn = 0, resultRow = 0,
           resultColumn = 0;
};

/// One factor of an outer product with its sizes known: the axes that the other one lacks, of the
/// result, and how many elements they have.
struct OuterFactor {
  const rnn_slot* slot = nullptr;
  std::vector<uint32_t> axes;
  int64_t elements = 1;
  int64_t ahead = 0; ///< of an adjoint's sequence, as SystemPlan has it
};

/// An outer product with its sizes known: `heads` matrices, one for each index along the axes that
/// both factors have.
struct OuterPlan {
  const rnn_outer* desc = nullptr; ///< null: none
  std::vector<int64_t> sizes;      ///< of the axes
  std::vector<uint32_t> headAxes;
  int64_t heads = 1;
  OuterFactor left, right;
  int64_t sumsOffset = 0; ///< as SystemPlan has it
};

/// Exactly one of the three has a desc.
struct StagePlan {
  rnn_phase phase = RNN_PHASE_BEFORE;
  SystemPlan map;
  ProductPlan product;
  OuterPlan outer;
  int64_t sliceBytes = 0, sharedBytes = 0; ///< of a thread; of weights, or of what is packed
};

struct Plan {
  std::shared_ptr<const Module> module;
  int64_t batch = 0, time = 0;
  Segments segments;
  bool reversed = false; ///< times are in the order of the computation, from the arrays' last place
  bool reset = false;    ///< calls take a mask
  rnn_training training = RNN_TRAINING_NONE;
  /// Of training: the states of every so many steps are kept. 0: all of them.
  int64_t checkpoint = 0;
  /// A call goes through time in windows of so many steps, where not every sequence of its own has
  /// room for all steps; 0: all at once. Those of a cell and of its adjoint are the same, from
  /// either end of time.
  int64_t window = 0;
  /// Steps in front of a window for which there is room, too; and of those how many the next
  /// window reads.
  int64_t lead = 0, carried = 0;
  bool inWindows = false; ///< there will be a window
  rnn_dtype compute = RNN_F32;
  double tolerance = 0;
  int64_t maxSweeps = 0;
  std::vector<std::vector<int64_t>> tensorSizes; ///< of every tensor, without batch and time
  std::vector<SystemPlan> systems;
  std::vector<StagePlan> stages;
  /// Of every tensor: nonzero where the workspace has room for all of its steps. Hoisted and
  /// derived tensors, and states that a stage reads, for a caller that wants none or another type.
  /// In training the reserve has it, and room for all states.
  std::vector<uint8_t> kept;
  int64_t packedNumbers = 0; ///< shared params of all dense systems and maps
  std::shared_ptr<cpu::Arena> arena;
  size_t workspaceBytes = 0;
  rnn_plan_info info{};
  /// Of a streaming plan: the same for a single step on the calling thread, which is what a state
  /// is laid out for, and where a stream's numbers are.
  std::shared_ptr<const Plan> step;
  StreamLayout stream;
  bool isStep = false; ///< this is such a plan: what follows from the params stays in the workspace
  size_t stateBytes = 0;
  std::shared_ptr<const cuda::DevicePlan> device; ///< null: the CPU
  /// Of a plan with training: that of the gradients, whose time runs the other way.
  std::shared_ptr<Plan> adjoint;
  const Plan* cell = nullptr; ///< of such a plan: the one that it is the adjoint of
  int64_t sumNumbers = 0;     ///< of all systems, maps and outer products
  size_t reserveBytes = 0;

  const rnn_module_table& table() const { return *module->table; }
  int64_t sequences() const { return segments.packed ? segments.count() : batch; }
  /// Steps that a sequence of the workspace's or the reserve's has room for.
  int64_t keptSteps() const { return window > 0 ? window + lead : time; }
  /// Numbers of a tensor, at one step of one batch element.
  int64_t elementsOf(uint32_t tensor) const {
    int64_t elements = 1; // bindDims has seen that they can be counted
    for (int64_t size : tensorSizes[tensor]) {
      elements *= size;
    }
    return elements;
  }
  int64_t longest() const { return segments.packed ? segments.longest() : time; }
  /// Steps of a lane of a system; a map's lanes go through all segments.
  int64_t stepsOf(const SystemPlan& system, int64_t lane) const {
    return segments.packed && system.index < table().systems
               ? segments.longestFirst[lane / system.lanesPerBatch].steps
               : time;
  }
  /// The tensors of a call: those of the signature, and the mask.
  size_t argCount() const { return module->args.size() + reset; }
};

/// Batch elements and steps that a stage runs over.
inline int64_t batchOf(const Plan& plan, rnn_phase phase) {
  return phase == RNN_PHASE_CALL ? 1 : plan.batch;
}
inline int64_t timeOf(const Plan& plan, rnn_phase phase) {
  return phase == RNN_PHASE_CALL ? 1 : plan.time;
}

/// Throws where one of them is out of its range.
void checkOptions(const rnn_plan_options& options);

/// What every device's plan begins with: sizes and tolerance, and nothing of a schedule.
/// `cell`: of its adjoint, else null.
std::shared_ptr<Plan> beginPlan(std::shared_ptr<const Module> module,
                                const rnn_plan_options& options, bool isStep,
                                const Plan* cell = nullptr);

/// A plan whose schedule is chosen, with its adjoint where there is training; not yet what it
/// keeps, and no sizes.
std::shared_ptr<Plan> makeSchedule(std::shared_ptr<const Module> module,
                                   const rnn_plan_options& options);
/// Bytes, of a plan that knows what it keeps.
void takeSizes(Plan& plan);

std::shared_ptr<const Plan> makePlan(std::shared_ptr<const Module> module,
                                     const rnn_plan_options& options);

} // namespace rnnc::runtime

struct rnn_plan {
  std::shared_ptr<const rnnc::runtime::Plan> state;
};
