#include "cpu/group.hpp"

#include <algorithm>
#include <bit>

namespace rnnc::runtime::cpu {
namespace {

/// What the rows of a stage may take where steps run one after the other: part of the level-1 and
/// level-2 caches.
constexpr int64_t stageBytes = int64_t(128) * 1024;

int64_t laneRows(const SystemPlan& system, int64_t time, int64_t elementSize) {
  if (system.parallel && !system.chunksInVectors()) {
    return system.tileSteps;
  }
  const rnn_system_desc& desc = *system.desc;
  const int64_t row =
      (int64_t(desc.inputs) + desc.states + desc.outputs) * system.laneWidth * elementSize;
  // What is summed a piece at a time has pieces of one size.
  const int64_t rows = std::bit_floor(uint64_t(stageBytes / std::max<int64_t>(row, 1)));
  return std::clamp<int64_t>(rows, 16, std::max<int64_t>(time, 16));
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
  return system.chunksInVectors() ? system.chunkKernel.width : system.laneWidth;
}

int64_t groupWidth(const SystemPlan& system) {
  return system.chunksInVectors() ? 1 : system.laneWidth;
}

template <class F>
GroupSolver<F>::GroupSolver(const SystemPlan& system, Carver& carver)
    : system_(system),
      lanes_(system, system.laneWidth,
             laneRows(system, system.tileSteps * system.tileCount, sizeof(F)), carver),
      chunks_(system, system.chunksInVectors() ? system.chunkKernel.width : 0, chunkRows(system),
              carver),
      ownTile_(*system.desc, tileVectors(system), tileWidth(system), carver),
      scratch_(*system.desc, tileVectors(system), tileWidth(system), carver),
      state_(carver.take<F>(system.desc->states * groupWidth(system))),
      aloneState_(carver.take<F>(system.desc->states * system.laneWidth)),
      aloneSums_(
          carver.take<F>(system.chunksInVectors() ? system.sumRows() * system.laneWidth : 0)) {}

template <class F>
void GroupSolver<F>::bind(const Call& call, int64_t group) {
  call_ = &call;
  prediction_ = {};
  scratch_.powerSteps = 0; // other columns have other params
  sums_ = static_cast<F*>(call.sums) + system_.sumsOffset +
          group * system_.sumRows() * groupWidth(system_);
  const GroupLanes lanes = system_.lanesOf(group);
  lanes_.bind(call, lanes.kernel, lanes.first, lanes.count);
  if (system_.chunksInVectors()) {
    chunks_.bind(call, system_.chunkKernel, lanes.first, lanes.count);
  }
}

// With vectors of chunks a state is one column, and the lane alone has a vector of copies.
template <class F>
void GroupSolver<F>::toAlone(const F* state) {
  for (uint32_t i = 0; i < system_.desc->states; ++i) {
    std::fill_n(aloneState_ + i * lanes_.width(), lanes_.width(), state[i]);
  }
}

template <class F>
void GroupSolver<F>::fromAlone(F* state) const {
  for (uint32_t i = 0; i < system_.desc->states; ++i) {
    state[i] = aloneState_[i * lanes_.width()];
  }
}

// The lane alone is every column of its vector; the first one is valid.
template <class F>
void GroupSolver<F>::clearAloneSums() {
  std::fill_n(aloneSums_, system_.sumRows() * lanes_.width(), F(0));
}

template <class F>
void GroupSolver<F>::addAloneSums() {
  for (int64_t i = 0; i < system_.sumRows(); ++i) {
    sums_[i] += aloneSums_[i * lanes_.width()];
  }
}

template <class F>
void GroupSolver<F>::startState(F* state) {
  if (!system_.chunksInVectors()) {
    lanes_.startState(state);
    return;
  }
  lanes_.startState(aloneState_);
  fromAlone(state);
}

template <class F>
void GroupSolver<F>::finalState(const F* state, int64_t first) {
  if (!system_.chunksInVectors()) {
    lanes_.finalState(state, first, sums_);
    return;
  }
  toAlone(state);
  clearAloneSums();
  lanes_.finalState(aloneState_, first, aloneSums_);
  addAloneSums();
}

template <class F>
void GroupSolver<F>::restart(int64_t time, F* state) {
  if (!system_.chunksInVectors()) {
    lanes_.restart(time, state, sums_);
    return;
  }
  toAlone(state);
  clearAloneSums();
  lanes_.restart(time, aloneState_, aloneSums_);
  addAloneSums();
  fromAlone(state);
}

// Takes the lanes that end before step `time` out, and says how many are left.
template <class F>
int64_t GroupSolver<F>::endLanes(int64_t time, F* state) {
  int64_t left = lanes_.valid();
  while (left > 0 && lanes_.stepsOf(left - 1) <= time) {
    --left;
  }
  if (left < lanes_.valid()) {
    finalState(state, left);
    if (left > 0) {
      lanes_.narrow(left, state);
      scratch_.powerSteps = 0; // some columns are other lanes now
    }
  }
  return left;
}

// Time goes by in windows: within one no lane ends, and none begins anew.
template <class F>
void GroupSolver<F>::solve(int64_t time, F* state, Tally& tally) {
  WalkPolicy policy;
  prediction_ = {};
  while (endLanes(time, state) > 0 && time < call_->end) {
    if (lanes_.restartsAt(time)) {
      restart(time, state);
    }
    const int64_t last = std::min(lanes_.stepsOf(lanes_.valid() - 1), call_->end);
    const int64_t end = lanes_.nextRestart(time, last);
    solveWindow(time, end, policy, state, tally);
    time = end;
  }
}

template <class F>
void GroupSolver<F>::solveWindow(int64_t time, int64_t end, WalkPolicy& policy, F* state,
                                 Tally& tally) {
  constexpr int64_t piece = 65536; // long enough that a call more costs nothing
  const int64_t each = system_.parallel ? system_.tileSteps : piece;
  int64_t steps = 0;
  for (; time < end; time += steps) {
    // Tiles end where they would without windows.
    steps = std::min(each - time % each, end - time);
    if (system_.parallel) {
      solveNext(time, steps, policy, state, tally);
    } else {
      lanes_.walk(time, steps, state, tally.nonfinite, tally.unsolved, sums_);
    }
    call_->progress.advance(steps);
  }
}

// A tile from the exact end of the one before.
template <class F>
void GroupSolver<F>::solveNext(int64_t time, int64_t steps, WalkPolicy& policy, F* state,
                               Tally& tally) {
  TileStats stats;
  stats.nonfinite = tally.nonfinite;
  const TileFrame frame{.time = time, .steps = steps, .expectedSweeps = prediction_.expected()};
  const bool walk = policy.walkNext();
  solveFrame(frame, walk ? TileStart::Walk : TileStart::Fresh, ownTile_, state, nullptr, stats);
  if (!walk) {
    policy.tried(stats.hopeless);
  }
  prediction_.saw(stats);
  stats.addTo(tally, time / system_.tileSteps, lanes());
}

template <class F>
void GroupSolver<F>::solveTile(int64_t tile, TileStart how, TileState<F>& tileState, F* state,
                               F* carry, TileStats& stats) {
  int64_t time = tile * system_.tileSteps;
  const int64_t end = time + stepsOf(tile);
  int64_t next = lanes_.nextRestart(time, end);
  if (next == end && !lanes_.restartsAt(time)) {
    solveFrame({.time = time, .steps = end - time, .wantsCarry = carry != nullptr}, how, tileState,
               state, carry, stats);
    return;
  }
  // What is behind a begin does not depend on the tile's start. (Lanes of other batch elements in
  // the same vector take more sweeps for it.)
  for (; time < end; time = next, next = lanes_.nextRestart(time, end)) {
    if (lanes_.restartsAt(time)) {
      restart(time, state);
    }
    solveFrame({.time = time, .steps = next - time},
               how == TileStart::Walk ? how : TileStart::Fresh, tileState, state, nullptr, stats);
  }
  if (carry) {
    std::fill_n(carry, system_.desc->carry * width(), F(0));
  }
}

template <class F>
void GroupSolver<F>::solveFrame(const TileFrame& frame, TileStart how, TileState<F>& tileState,
                                F* state, F* carry, TileStats& stats) {
  if (frame.steps == 0) { // a segment without steps
    return;
  }
  if (how == TileStart::Walk) {
    walkTile(frame, state, stats);
  } else if (system_.chunksInVectors()) {
    solveChunks(frame, how, tileState, state, carry, stats);
  } else {
    solveLanes(frame, how, tileState, state, carry, stats);
  }
  if (carry && stats.walked) {
    std::fill_n(carry, system_.desc->carry * width(), F(0));
  }
}

// A lane that was walked counts as one that needed as many sweeps as the tile has chunks.
template <class F>
void GroupSolver<F>::walkTile(const TileFrame& frame, F* state, TileStats& stats) {
  stats.walked = true;
  ++stats.sweeps;
  stats.laneSweeps += lanes() * std::min(system_.chunks, frame.steps);
  if (!system_.chunksInVectors()) {
    lanes_.walk(frame.time, frame.steps, state, stats.nonfinite, stats.unsolved, sums_);
    return;
  }
  toAlone(state);
  clearAloneSums();
  lanes_.walk(frame.time, frame.steps, aloneState_, stats.nonfinite, stats.unsolved, aloneSums_);
  addAloneSums();
  fromAlone(state);
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
  tile.addSums(sums_);
  std::copy_n(tile.endState(), system_.desc->states * lanes_.width(), state);
  if (carry && !stats.walked) {
    tile.tileCarry(carry);
  }
}

template <class F>
void GroupSolver<F>::solveChunks(const TileFrame& frame, TileStart how, TileState<F>& tileState,
                                 F* state, F* carry, TileStats& stats) {
  ChunksTile<F> tile(chunks_, system_, tileState, scratch_, lanes_, aloneState_, aloneSums_);
  clearAloneSums();
  const int64_t inChunks = ChunksTile<F>::chunkStepsFor(system_, frame.steps) * system_.chunks;
  if (inChunks > 0) {
    how == TileStart::Warm ? tile.restart(frame, state) : tile.begin(frame, state);
    sweepTile(tile, {call_->plan.tolerance, call_->plan.maxSweeps}, stats);
    tile.store();
    tile.noteNonfinite(stats);
    tile.noteUnsolved(stats);
    tile.addSums(sums_);
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
  addAloneSums();
}

template class GroupSolver<float>;
template class GroupSolver<double>;

} // namespace rnnc::runtime::cpu
