#include "cpu/forward.hpp"

#include "core/report.hpp"
#include "cpu/map.hpp"
#include "cpu/packing.hpp"
#include "cpu/product.hpp"
#include "cpu/sequences.hpp"
#include "cpu/threads.hpp"
#include "cpu/tiles_parallel.hpp"

#include <algorithm>
#include <memory>

namespace rnnc::runtime::cpu {
namespace {

bool isOneByOne(const SystemPlan& system) {
  return !system.tilesInParallel() || system.tileCount == 0;
}

// [report][tallies][packed params][tensors that no caller gives][what tiles in parallel keep, or a
// product's weights][slices of the threads]
template <class F>
struct Workspace {
  ReportHeader* header;
  ThreadSlices threads;
  F* packed;
  Sequences<F> sequences;
  char* shared;
  int64_t bytes;

  Workspace(const Plan& plan, void* base) : Workspace(plan, Carver(base)) {}

private:
  Workspace(const Plan& plan, Carver carver)
      : header(carver.take<ReportHeader>(1)),
        threads{nullptr, 0, carver.take<Tally>(plan.arena->max_concurrency())},
        packed(carver.take<F>(plan.packedNumbers)), sequences(plan, carver) {
    const int concurrency = plan.arena->max_concurrency();
    int64_t sliceBytes = 0, sharedBytes = 0;
    for (const SystemPlan& system : plan.systems) {
      Carver slice(nullptr);
      GroupSolver<F>(system, slice);
      sliceBytes = std::max(sliceBytes, slice.used());
      if (!isOneByOne(system)) {
        Carver state(nullptr);
        TilesInParallel<F>(system, state);
        sharedBytes = std::max(sharedBytes, state.used());
      }
    }
    for (const StagePlan& stage : plan.stages) {
      const bool isMap = stage.map.desc != nullptr;
      sliceBytes = std::max(sliceBytes, isMap ? Map<F>::sliceBytes(stage)
                                              : Product<F>::sliceBytes(stage.product));
      sharedBytes = std::max(sharedBytes, isMap ? 0 : Product<F>::packedBytes(stage.product));
    }
    sliceBytes = (sliceBytes + Carver::alignment - 1) / Carver::alignment * Carver::alignment;
    threads.bytes = sliceBytes;
    shared = carver.take<char>(sharedBytes);
    threads.base = carver.take<char>(checkedProduct(sliceBytes, concurrency, "the workspace"));
    bytes = carver.used();
  }
};

template <class F>
void solveGroup(const Call& call, const SystemPlan& system, int64_t group, void* slice,
                Tally& tally) {
  Carver carver(slice);
  GroupSolver<F> solver(system, carver);
  solver.bind(call, group);
  F* state = solver.state();
  solver.initialState(state);
  if (system.parallel) {
    solver.tilesInSequence(0, state, tally);
  } else {
    solver.sequential(state, tally);
  }
  solver.finalState(state);
}

// The groups of all systems whose tiles are solved in sequence, in one loop.
template <class F>
void solveOneByOne(const Call& call, const ThreadSlices& threads) {
  int64_t groups = 0;
  for (const SystemPlan& system : call.plan.systems) {
    groups += isOneByOne(system) ? system.groups : 0;
  }
  parallelFor(*call.plan.arena, groups, [&](int64_t item, int slot) {
    for (const SystemPlan& system : call.plan.systems) {
      if (!isOneByOne(system)) {
        continue;
      }
      if (item < system.groups) {
        solveGroup<F>(call, system, item, threads.slice(slot), threads.tallies[slot]);
        return;
      }
      item -= system.groups;
    }
  });
}

// As tilesInSequence, sequential and TilesInParallel::solveOne count them.
double totalSteps(const Plan& plan) {
  double steps = 0;
  for (const SystemPlan& system : plan.systems) {
    steps += double(system.groups) * double(plan.time) * (isOneByOne(system) ? 1 : 3);
  }
  return steps;
}

/// "`Cell_h` found no solution at step 7 (counted from 0) of batch element 2, d = 5"
std::string unsolvedText(const Plan& plan, const Unsolved& at) {
  const SystemPlan& system = *std::ranges::find(plan.systems, at.system, &SystemPlan::index);
  std::string text =
      fmt::format("`{}` found no solution at step {} (counted from 0) of batch element {}",
                  system.desc->name, at.step, at.lane / system.lanesPerBatch);
  int64_t rest = at.lane % system.lanesPerBatch, below = system.lanesPerBatch;
  for (uint32_t a = 0; a < system.desc->lane_rank; ++a) {
    below /= system.laneSizes[a];
    text += fmt::format(", {} = {}", system.desc->lane_axes[a], rest / below);
    rest %= below;
  }
  return text;
}

// The stages of a phase, one after the other; each on all threads.
template <class F>
void runStages(const Call& call, const Workspace<F>& workspace, rnn_phase phase) {
  const ThreadSlices& threads = workspace.threads;
  for (const StagePlan& stage : call.plan.stages) {
    if (stage.phase != phase) {
      continue;
    }
    if (stage.map.desc) {
      Map<F>::run(call, stage, workspace.packed, threads.base, threads.bytes);
    } else {
      Product<F>::run(call, stage, workspace.shared, threads.base, threads.bytes);
    }
  }
}

template <class F>
rnn_status solveAll(const Plan& plan, const rnn_tensor* args, void* base) {
  Workspace<F> workspace(plan, base);
  const int concurrency = plan.arena->max_concurrency();
  Call call{plan, args, workspace.sequences.bind(args), workspace.packed,
            Progress(workspace.header->progress)};
  call.progress.begin(totalSteps(plan));
  workspace.header->magic = 0;
  runStages<F>(call, workspace, RNN_PHASE_CALL);
  runStages<F>(call, workspace, RNN_PHASE_BEFORE);
  for (const SystemPlan& system : plan.systems) {
    packShared(call, system, workspace.packed);
  }
  std::uninitialized_fill_n(workspace.threads.tallies, concurrency, Tally{});
  solveOneByOne<F>(call, workspace.threads);
  for (const SystemPlan& system : plan.systems) {
    if (!isOneByOne(system)) {
      Carver carver(workspace.shared);
      TilesInParallel<F>(system, carver).solve(call, workspace.threads);
    }
  }
  runStages<F>(call, workspace, RNN_PHASE_AFTER);
  workspace.sequences.copyToCaller(args);
  Tally total;
  for (int slot = 0; slot < concurrency; ++slot) {
    total.add(workspace.threads.tallies[slot]);
  }
  call.progress.end();
  workspace.header->report = total.report();
  workspace.header->magic = ReportHeader::magicValue;
  if (total.unsolved.any()) {
    fail(RNN_NOT_CONVERGED, "the implicit equation of {}", unsolvedText(plan, total.unsolved));
  }
  if (total.unconvergedTile == INT64_MAX) {
    return RNN_OK;
  }
  fail(
      RNN_NOT_CONVERGED,
      "tile {} did not converge in {} sweeps: mismatch {:.3g}, tolerance {:.3g}; allow more sweeps "
      "or a larger tolerance",
      total.unconvergedTile, plan.maxSweeps, total.mismatch, plan.tolerance);
}

} // namespace

size_t workspaceBytes(const Plan& plan) {
  return static_cast<size_t>(plan.compute == RNN_F32 ? Workspace<float>(plan, nullptr).bytes
                                                     : Workspace<double>(plan, nullptr).bytes);
}

rnn_status forward(const Plan& plan, const rnn_tensor* args, void* workspace) {
  return plan.compute == RNN_F32 ? solveAll<float>(plan, args, workspace)
                                 : solveAll<double>(plan, args, workspace);
}

} // namespace rnnc::runtime::cpu
