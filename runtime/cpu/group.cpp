#include "cpu/group.hpp"

#include <algorithm>

namespace rnnc::runtime::cpu {
namespace {

/// What the rows of a stage may take where steps run one after the other: part of the level-1 and
/// level-2 caches.
constexpr int64_t stageBytes = int64_t(128) * 1024;

int64_t lanesWidth(const SystemPlan& system) {
  int64_t width = 1;
  for (const GroupRun& run : system.runs) {
    width = std::max<int64_t>(width, run.kernel.width);
  }
  return width;
}

int64_t laneRows(const SystemPlan& system, int64_t time, int64_t elementSize) {
  if (system.parallel && !system.chunksInVectors()) {
    return system.tileSteps;
  }
  const rnn_system_desc& desc = *system.desc;
  const int64_t row =
      (int64_t(desc.inputs) + desc.states + desc.outputs) * lanesWidth(system) * elementSize;
  return std::clamp<int64_t>(stageBytes / std::max<int64_t>(row, 1), 16,
                             std::max<int64_t>(time, 16));
}

int64_t chunkRows(const SystemPlan& system) {
  // A tile has no more steps than the plan, however long a chunk was asked for.
  return system.chunksInVectors() ? tileVectors(system) * (system.tileSteps / system.chunks) : 0;
}

} // namespace

int64_t tileVectors(const SystemPlan& system) {
  if (!system.parallel) {
    return 0;
  }
  if (system.chunksInVectors()) {
    return (system.chunks + system.chunkKernel.width - 1) / system.chunkKernel.width;
  }
  return (system.tileSteps - 1) / system.chunk + 1;
}

int64_t tileWidth(const SystemPlan& system) {
  return system.chunksInVectors() ? system.chunkKernel.width : lanesWidth(system);
}

int64_t groupWidth(const SystemPlan& system) {
  return system.chunksInVectors() ? 1 : lanesWidth(system);
}

template <class F>
GroupSolver<F>::GroupSolver(const SystemPlan& system, Carver& carver)
    : system_(system),
      lanes_(system, lanesWidth(system),
             laneRows(system, system.tileSteps * system.tileCount, sizeof(F)), carver),
      chunks_(system, system.chunksInVectors() ? system.chunkKernel.width : 0, chunkRows(system),
              carver),
      ownTile_(*system.desc, tileVectors(system), tileWidth(system), carver),
      scratch_(*system.desc, tileVectors(system), tileWidth(system), carver),
      state_(carver.take<F>(system.desc->states * groupWidth(system))),
      aloneState_(carver.take<F>(system.desc->states * lanesWidth(system))) {}

template <class F>
void GroupSolver<F>::bind(const Call& call, int64_t group) {
  call_ = &call;
  prediction_ = {};
  scratch_.powerSteps = 0; // other columns have other params
  if (system_.chunksInVectors()) {
    lanes_.bind(call, system_.runs.front().kernel, group, 1);
    chunks_.bind(call, system_.chunkKernel, group, 1);
    return;
  }
  const GroupRun* run = system_.runs.data();
  while (group >= run->groups) {
    group -= run->groups;
    ++run;
  }
  const int64_t first = run->firstLane + group * run->kernel.width;
  lanes_.bind(call, run->kernel, first,
              std::min<int64_t>(run->kernel.width, system_.lanes - first));
}

template <class F>
void GroupSolver<F>::initialState(F* state) {
  if (!system_.chunksInVectors()) {
    lanes_.initialState(state);
    return;
  }
  lanes_.initialState(aloneState_);
  for (uint32_t i = 0; i < system_.desc->states; ++i) {
    state[i] = aloneState_[i * lanes_.width()];
  }
}

template <class F>
void GroupSolver<F>::finalState(const F* state) {
  if (!system_.chunksInVectors()) {
    lanes_.finalState(state);
    return;
  }
  for (uint32_t i = 0; i < system_.desc->states; ++i) {
    std::fill_n(aloneState_ + i * lanes_.width(), lanes_.width(), state[i]);
  }
  lanes_.finalState(aloneState_);
}

template <class F>
void GroupSolver<F>::sequential(F* state, Tally& tally) {
  constexpr int64_t piece = 65536; // long enough that a call more costs nothing
  for (int64_t time = 0; time < call_->plan.time; time += piece) {
    const int64_t steps = std::min(piece, call_->plan.time - time);
    lanes_.walk(time, steps, state, tally.nonfinite, tally.unsolved);
    call_->progress.advance(steps);
  }
}

template <class F>
void GroupSolver<F>::tilesInSequence(int64_t firstTile, F* state, Tally& tally) {
  WalkPolicy policy;
  prediction_ = {};
  for (int64_t tile = firstTile; tile < system_.tileCount; ++tile) {
    TileStats stats;
    stats.nonfinite = tally.nonfinite;
    const bool walk = policy.walkNext();
    solveTile(tile, walk ? TileStart::Walk : TileStart::Fresh, ownTile_, state, nullptr, stats);
    if (!walk) {
      policy.tried(stats.hopeless);
    }
    prediction_.saw(stats);
    stats.addTo(tally, tile, lanes());
    call_->progress.advance(stepsOf(tile));
  }
}

template <class F>
void GroupSolver<F>::solveTile(int64_t tile, TileStart how, TileState<F>& tileState, F* state,
                               F* carry, TileStats& stats) {
  TileFrame frame;
  frame.time = tile * system_.tileSteps;
  frame.steps = stepsOf(tile);
  frame.wantsCarry = carry != nullptr;
  frame.expectedSweeps = carry ? 0 : prediction_.expected();
  if (how == TileStart::Walk) {
    walkTile(frame, state, stats);
  } else if (system_.chunksInVectors()) {
    solveChunks(frame, how, tileState, state, carry, stats);
  } else {
    solveLanes(frame, how, tileState, state, carry, stats);
  }
  if (carry && stats.walked) {
    std::fill_n(carry, system_.desc->carry * (system_.chunksInVectors() ? 1 : lanes_.width()),
                F(0));
  }
}

// A lane that was walked counts as one that needed as many sweeps as the tile has chunks.
template <class F>
void GroupSolver<F>::walkTile(const TileFrame& frame, F* state, TileStats& stats) {
  stats.walked = true;
  ++stats.sweeps;
  stats.laneSweeps += lanes() * std::min(system_.chunks, frame.steps);
  if (!system_.chunksInVectors()) {
    lanes_.walk(frame.time, frame.steps, state, stats.nonfinite, stats.unsolved);
    return;
  }
  const int64_t width = lanes_.width();
  for (uint32_t i = 0; i < system_.desc->states; ++i) {
    std::fill_n(aloneState_ + i * width, width, state[i]);
  }
  lanes_.walk(frame.time, frame.steps, aloneState_, stats.nonfinite, stats.unsolved);
  for (uint32_t i = 0; i < system_.desc->states; ++i) {
    state[i] = aloneState_[i * width];
  }
}

template <class F>
void GroupSolver<F>::solveLanes(const TileFrame& frame, TileStart how, TileState<F>& tileState,
                                F* state, F* carry, TileStats& stats) {
  LanesTile<F> tile(lanes_, system_, tileState, scratch_);
  how == TileStart::Warm ? tile.restart(frame, state) : tile.begin(frame, state);
  sweepTile(tile, {call_->plan.tolerance, call_->plan.maxSweeps}, stats);
  tile.store();
  tile.noteNonfinite(stats);
  tile.noteUnsolved(stats);
  std::copy_n(tile.endState(), system_.desc->states * lanes_.width(), state);
  if (carry && !stats.walked) {
    tile.tileCarry(carry);
  }
}

template <class F>
void GroupSolver<F>::solveChunks(const TileFrame& frame, TileStart how, TileState<F>& tileState,
                                 F* state, F* carry, TileStats& stats) {
  ChunksTile<F> tile(chunks_, system_, tileState, scratch_, lanes_, aloneState_);
  const int64_t inChunks = ChunksTile<F>::chunkStepsFor(system_, frame.steps) * system_.chunks;
  if (inChunks > 0) {
    how == TileStart::Warm ? tile.restart(frame, state) : tile.begin(frame, state);
    sweepTile(tile, {call_->plan.tolerance, call_->plan.maxSweeps}, stats);
    tile.store();
    tile.noteNonfinite(stats);
    tile.noteUnsolved(stats);
    tile.endState(state);
    if (carry && !stats.walked) {
      tile.tileCarry(carry);
    }
  } else {
    ++stats.sweeps;
    ++stats.laneSweeps;
  }
  // Fewer steps than chunks are left; only in the last tile, so no carry misses them.
  if (inChunks < frame.steps) {
    tile.runAlone(frame.time + inChunks, frame.steps - inChunks, state, stats);
  }
}

template class GroupSolver<float>;
template class GroupSolver<double>;

} // namespace rnnc::runtime::cpu
