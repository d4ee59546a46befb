#include "cpu/forward.hpp"

#include "core/report.hpp"
#include "cpu/map.hpp"
#include "cpu/outer.hpp"
#include "cpu/product.hpp"
#include "cpu/threads.hpp"
#include "cpu/training.hpp"
#include "cpu/workspace.hpp"

#include <algorithm>
#include <memory>

namespace rnnc::runtime::cpu {
namespace {

bool isOneByOne(const SystemPlan& system) {
  return !system.tilesInParallel() || system.tileCount == 0;
}

template <class F>
void solveGroup(const Call& call, const SystemPlan& system, int64_t group, void* slice,
                Tally& tally) {
  Carver carver(slice);
  GroupSolver<F> solver(system, carver);
  solver.bind(call, group);
  solver.startState(solver.state());
  solver.solve(call.begin, solver.state(), tally);
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

// As GroupSolver::solve and TilesInParallel::solveOne count them.
double totalSteps(const Plan& plan) {
  double steps = 0;
  for (const SystemPlan& system : plan.systems) {
    steps += double(system.vectorSteps) * (isOneByOne(system) ? 1 : 3);
  }
  return steps;
}

/// "`Cell_h` found no solution at step 7 (counted from 0) of batch element 2, d = 5"
std::string unsolvedText(const Plan& plan, const Unsolved& at) {
  const SystemPlan& system = *std::ranges::find(plan.systems, at.system, &SystemPlan::index);
  std::string text = fmt::format(
      "`{}` found no solution at step {} (counted from 0) of {} {}", system.desc->name, at.step,
      plan.segments.packed ? "segment" : "batch element", at.lane / system.lanesPerBatch);
  int64_t rest = at.lane % system.lanesPerBatch, below = system.lanesPerBatch;
  for (uint32_t a = 0; a < system.desc->lane_rank; ++a) {
    below /= system.laneSizes[a];
    text += fmt::format(", {} = {}", system.desc->lane_axes[a], rest / below);
    rest %= below;
  }
  return text;
}

ResetMask resetMask(const Plan& plan, const rnn_tensor* args) {
  if (!plan.reset) {
    return {};
  }
  const rnn_tensor mask = inOrder(plan, args[plan.module->args.size()]);
  return {static_cast<const uint8_t*>(mask.data), mask.strides[0], mask.strides[1]};
}

// The report's places are those of the caller's arrays.
rnn_report inArrays(const Plan& plan, rnn_report report) {
  for (int64_t* step : {&report.first_nonfinite, &report.unsolved_step}) {
    if (plan.reversed && *step >= 0) {
      *step = plan.time - 1 - *step;
    }
  }
  return report;
}

// Calls use(stage, shared) for the stages of a phase, one after the other, with their room. That of
// a step's plan stays; otherwise stages share one.
template <class F, class Use>
void forStages(const Call& call, const Workspace<F>& workspace, rnn_phase phase, const Use& use) {
  char* shared = workspace.shared;
  for (const StagePlan& stage : call.plan.stages) {
    if (stage.phase == phase) {
      use(stage, shared);
    }
    shared += call.plan.isStep ? stage.sharedBytes : 0;
  }
}

// Each stage on all threads.
template <class F>
void runStages(const Call& call, const Workspace<F>& workspace, rnn_phase phase) {
  const ThreadSlices& threads = workspace.threads;
  forStages(call, workspace, phase, [&](const StagePlan& stage, char* shared) {
    const bool isPacked = call.plan.isStep && phase != RNN_PHASE_CALL;
    if (stage.outer.desc) {
      Outer<F>::run(call, stage, shared);
    } else if (stage.map.desc) {
      Map<F>::run(call, stage, workspace.packed, isPacked, threads.base, threads.bytes);
    } else {
      Product<F>::run(call, stage, shared, isPacked, threads.base, threads.bytes);
    }
  });
}

} // namespace

template <class F>
Workspace<F>::Workspace(const Plan& plan, Carver& carver, Carver& kept)
    : header(carver.take<ReportHeader>(1)),
      threads{nullptr, 0, carver.take<Tally>(plan.arena->max_concurrency())},
      packed(carver.take<F>(plan.packedNumbers)), sums(carver.take<F>(plan.sumNumbers)),
      sequences(plan, carver, kept) {
  int64_t sliceBytes = 0, sharedBytes = 0;
  for (const SystemPlan& system : plan.systems) {
    sliceBytes = std::max(sliceBytes, system.sliceBytes);
    sharedBytes = std::max(sharedBytes, system.tilesBytes);
  }
  for (const StagePlan& stage : plan.stages) {
    sliceBytes = std::max(sliceBytes, stage.sliceBytes);
    sharedBytes = plan.isStep ? checkedSum(sharedBytes, stage.sharedBytes, "the streaming state")
                              : std::max(sharedBytes, stage.sharedBytes);
  }
  sliceBytes = (sliceBytes + Carver::alignment - 1) / Carver::alignment * Carver::alignment;
  threads.bytes = sliceBytes;
  shared = carver.take<char>(sharedBytes);
  threads.base =
      carver.take<char>(checkedProduct(sliceBytes, plan.arena->max_concurrency(), "the workspace"));
}

template <class F>
Call Workspace<F>::call(const Plan& plan, const rnn_tensor* args, const Stream* stream) {
  return {plan,
          args,
          sequences.bind(args, 0),
          packed,
          Progress(header->progress),
          stream,
          resetMask(plan, args),
          sums,
          0,
          plan.time};
}

template <class F>
void prepare(const Call& call, const Workspace<F>& workspace) {
  runStages<F>(call, workspace, RNN_PHASE_CALL);
  for (const SystemPlan& system : call.plan.systems) {
    packShared(call, system, workspace.packed);
  }
  if (!call.plan.isStep) {
    return;
  }
  for (rnn_phase phase : {RNN_PHASE_BEFORE, RNN_PHASE_AFTER}) {
    forStages(call, workspace, phase, [&](const StagePlan& stage, char* weights) {
      if (stage.map.desc) {
        packShared(call, stage.map, workspace.packed);
      } else if (stage.product.desc) {
        Product<F>::pack(call, stage, weights);
      }
    });
  }
}

template <class F>
void beginSolve(Call& call, Workspace<F>& workspace) {
  workspace.header->magic = 0;
  std::fill_n(workspace.sums, call.plan.sumNumbers, F(0));
  call.progress.begin(totalSteps(call.plan));
  std::uninitialized_fill_n(workspace.threads.tallies, call.plan.arena->max_concurrency(), Tally{});
}

template <class F>
void solveSteps(const Call& call, Workspace<F>& workspace, bool systems) {
  runStages<F>(call, workspace, RNN_PHASE_BEFORE);
  if (systems) {
    solveOneByOne<F>(call, workspace.threads);
  }
  for (const SystemPlan& system : call.plan.systems) {
    if (systems && !isOneByOne(system)) {
      Carver carver(workspace.shared);
      TilesInParallel<F>(system, carver).solve(call, workspace.threads);
    }
  }
  runStages<F>(call, workspace, RNN_PHASE_AFTER);
  workspace.sequences.copyToCaller(call.args, call.begin, call.end);
}

template <class F>
void endSolve(Call& call, Workspace<F>& workspace) {
  const Plan& plan = call.plan;
  Tally total;
  for (int slot = 0; slot < plan.arena->max_concurrency(); ++slot) {
    total.add(workspace.threads.tallies[slot]);
  }
  call.progress.end();
  workspace.header->report = inArrays(plan, total.report());
  workspace.header->magic = ReportHeader::magicValue;
}

template <class F>
void solve(Call& call, Workspace<F>& workspace) {
  beginSolve(call, workspace);
  solveSteps(call, workspace, true);
  endSolve(call, workspace);
}

rnn_status statusOf(const Plan& plan, const ReportHeader& header) {
  const rnn_report& report = header.report;
  if (report.unsolved_step >= 0) {
    fail(RNN_NOT_CONVERGED, "the implicit equation of {}",
         unsolvedText(plan, {report.unsolved_step, report.unsolved_system, report.unsolved_lane}));
  }
  if (report.unconverged_tile >= 0) {
    fail(RNN_NOT_CONVERGED,
         "tile {} did not converge in {} sweeps: mismatch {:.3g}, tolerance {:.3g}; allow more "
         "sweeps or a larger tolerance",
         report.unconverged_tile, plan.maxSweeps, report.mismatch_max, plan.tolerance);
  }
  return RNN_OK;
}

namespace {

template <class F>
void measurePartsAs(Plan& plan) {
  for (SystemPlan& system : plan.systems) {
    Carver slice(nullptr), tiles(nullptr);
    GroupSolver<F>(system, slice);
    system.sliceBytes = slice.used();
    if (!isOneByOne(system)) {
      TilesInParallel<F>(system, tiles);
      system.tilesBytes = tiles.used();
    }
  }
  for (StagePlan& stage : plan.stages) {
    stage.sliceBytes = stage.map.desc       ? Map<F>::sliceBytes(stage)
                       : stage.product.desc ? Product<F>::sliceBytes(stage.product)
                                            : 0;
    const int64_t shared = stage.outer.desc     ? Outer<F>::sharedBytes(plan, stage.outer)
                           : stage.product.desc ? Product<F>::packedBytes(stage.product)
                                                : 0;
    stage.sharedBytes = checkedSum(shared, Carver::alignment - 1, "the workspace") /
                        Carver::alignment * Carver::alignment;
  }
}

struct Bytes {
  size_t workspace, reserve;
};

template <class F>
Bytes bytesOf(const Plan& plan) {
  Carver carver(nullptr), saved(nullptr);
  Training<F>(plan, carver, saved);
  return {static_cast<size_t>(carver.used()), static_cast<size_t>(saved.used())};
}

Bytes bytesOf(const Plan& plan) {
  return plan.compute == RNN_F32 ? bytesOf<float>(plan) : bytesOf<double>(plan);
}

template <class F>
rnn_status forwardAs(const Plan& plan, const rnn_tensor* args, void* base, void* reserve) {
  Carver carver(base), saved(reserve);
  Training<F> training(plan, carver, saved);
  Call call = training.workspace.call(plan, args, nullptr);
  prepare(call, training.workspace);
  training.forward(call);
  return statusOf(plan, *training.workspace.header);
}

} // namespace

template struct Workspace<float>;
template struct Workspace<double>;
template void prepare(const Call&, const Workspace<float>&);
template void prepare(const Call&, const Workspace<double>&);
template void solve(Call&, Workspace<float>&);
template void solve(Call&, Workspace<double>&);
template void beginSolve(Call&, Workspace<float>&);
template void beginSolve(Call&, Workspace<double>&);
template void solveSteps(const Call&, Workspace<float>&, bool);
template void solveSteps(const Call&, Workspace<double>&, bool);
template void endSolve(Call&, Workspace<float>&);
template void endSolve(Call&, Workspace<double>&);

void measureParts(Plan& plan) {
  plan.compute == RNN_F32 ? measurePartsAs<float>(plan) : measurePartsAs<double>(plan);
}

size_t workspaceBytes(const Plan& plan) { return bytesOf(plan).workspace; }
size_t reserveBytes(const Plan& plan) { return bytesOf(plan).reserve; }

rnn_status forward(const Plan& plan, const rnn_tensor* args, void* workspace, void* reserve) {
  return plan.compute == RNN_F32 ? forwardAs<float>(plan, args, workspace, reserve)
                                 : forwardAs<double>(plan, args, workspace, reserve);
}

} // namespace rnnc::runtime::cpu
