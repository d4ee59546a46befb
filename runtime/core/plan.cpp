#include "core/plan.hpp"

#include "core/bind.hpp"
#include "core/carry_form.hpp"
#include "core/elements.hpp"
#include "core/memory.hpp"
#include "core/status.hpp"
#include "core/training.hpp"
#include "core/versioned.hpp"
#include "cpu/forward.hpp"
#include "cpu/stream.hpp"
#include "cuda/device_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <thread>

namespace rnnc::runtime {

constexpr int32_t maxThreads = 4096;

void checkOptions(const rnn_plan_options& o) {
  if (o.batch < 0 || o.time < 0) {
    invalid("{} is {}; it cannot be negative", o.batch < 0 ? "batch" : "time",
            o.batch < 0 ? o.batch : o.time);
  }
  if (o.compute != RNN_F32 && o.compute != RNN_F64) {
    invalid("compute: only f32 and f64 are possible");
  }
  if (o.schedule < RNN_SCHEDULE_AUTO || o.schedule > RNN_SCHEDULE_PARALLEL) {
    invalid("schedule: {} is unknown", static_cast<int>(o.schedule));
  }
  if (o.vector < RNN_VECTOR_AUTO || o.vector > RNN_VECTOR_CHUNKS) {
    invalid("vector: {} is unknown", static_cast<int>(o.vector));
  }
  if (o.tiles < RNN_TILES_AUTO || o.tiles > RNN_TILES_PARALLEL) {
    invalid("tiles: {} is unknown", static_cast<int>(o.tiles));
  }
  if (o.chunk < 0 || o.chunks < 0) {
    invalid("{} is {}; it cannot be negative (0: chosen for you)", o.chunk < 0 ? "chunk" : "chunks",
            o.chunk < 0 ? o.chunk : o.chunks);
  }
  if (!std::isfinite(o.tolerance)) {
    invalid("tolerance is not finite");
  }
  if (o.max_sweeps < 0) {
    invalid("max_sweeps is {}; it cannot be negative (0: as many as it takes)", o.max_sweeps);
  }
  if (o.threads < 0 || o.threads > maxThreads) {
    invalid("threads is {}; it must be in 0..{} (0: all)", o.threads, maxThreads);
  }
  if (o.streaming && o.reversed) {
    fail(RNN_UNSUPPORTED, "reversed: a stream goes on behind what it has seen, so its time cannot "
                          "run backwards");
  }
  if (o.training < RNN_TRAINING_NONE || o.training > RNN_TRAINING_AUTO) {
    invalid("training: {} is unknown", static_cast<int>(o.training));
  }
  if (o.checkpoint < 0 || o.window < 0) {
    invalid("{} is {}; it cannot be negative (0: chosen for you)",
            o.checkpoint < 0 ? "checkpoint" : "window", std::min(o.checkpoint, o.window));
  }
  if (o.checkpoint > 0 && o.training != RNN_TRAINING_L2 && o.training != RNN_TRAINING_L3) {
    invalid("checkpoint is {}, but only training L2 and L3 keep the states of some steps alone",
            o.checkpoint);
  }
  if (o.memory_budget > 0 && o.training != RNN_TRAINING_AUTO) {
    invalid("memory_budget is {}, but only training AUTO chooses what fits", o.memory_budget);
  }
  if (o.window > 0 && !hasWindows(o)) {
    invalid(
        "window is {}, but only with checkpoints (training L2, or L3 with `checkpoint`) is time "
        "solved in windows",
        o.window);
  }
  if (o.training && o.streaming) {
    fail(RNN_UNSUPPORTED, "training: a stream keeps nothing of the steps behind it, so it has no "
                          "gradients");
  }
  if (o.device < RNN_DEVICE_CPU || o.device > RNN_DEVICE_CUDA) {
    invalid("device: {} is unknown", static_cast<int>(o.device));
  }
  if (o.ordinal < 0) {
    invalid("ordinal is {}; it cannot be negative", o.ordinal);
  }
}

namespace {

Kernel resolveKernel(const rnn_module_table& table, const SystemPlan& system, rnn_dtype compute,
                     uint32_t width, bool jacobian) {
  const rnn_system_desc& desc = *system.desc;
  for (uint32_t i = 0; i < desc.kernels; ++i) {
    if (desc.kernel[i].compute != compute || desc.kernel[i].width != width) {
      continue;
    }
    Kernel kernel{width, desc.kernel[i].shoot, desc.kernel[i].shoot_jacobian};
    if (!kernel.shoot) {
      kernel.shoot = table.resolve(table.resolve_context, system.index, i, 0);
    }
    if (jacobian && !kernel.jacobian) {
      kernel.jacobian = table.resolve(table.resolve_context, system.index, i, 1);
    }
    if (!kernel.shoot || (jacobian && !kernel.jacobian)) {
      fail(RNN_INTERNAL, "system {}: the kernel of width {} could not be made", desc.name, width);
    }
    return kernel;
  }
  fail(RNN_INTERNAL, "system {}: no kernel of width {}", desc.name, width);
}

// Every sequence that a caller sees.
std::vector<SequenceLayout> sequencesOf(const SystemPlan& system, const Plan& plan) {
  const rnn_system_desc& desc = *system.desc;
  std::vector<SequenceLayout> layouts;
  std::vector<uint32_t> together(plan.table().tensors);
  auto addAll = [&](const rnn_slot* slots, uint32_t count) {
    std::fill(together.begin(), together.end(), 0);
    std::for_each(slots, slots + count, [&](const rnn_slot& s) { ++together[s.tensor]; });
    for (const rnn_slot* slot = slots; slot != slots + count; ++slot) {
      if (plan.table().tensor[slot->tensor].hidden) {
        continue;
      }
      SequenceLayout layout;
      for (int64_t size : plan.tensorSizes[slot->tensor]) {
        layout.stride *= double(size); // need not be bounded where the batch is empty
      }
      layout.together = together[slot->tensor];
      layouts.push_back(layout);
    }
  };
  addAll(desc.input_slots, desc.inputs);
  addAll(desc.state_slots, desc.states);
  addAll(desc.output_slots, desc.outputs);
  return layouts;
}

// Is the last axis of the states one of lanes? Otherwise a block lies between two lanes.
bool sideBySide(const rnn_module_table& table, const rnn_system_desc& desc) {
  if (desc.states == 0) { // a block of size 0
    return false;
  }
  const uint32_t rank = table.tensor[desc.state_slots[0].tensor].rank;
  return rank > 0 && desc.state_slots[0].lane_axis[rank - 1] >= 0;
}

/// The steps of a sequence, for the cost model: of a packed batch the mean.
int64_t usualTime(const Plan& plan) {
  return plan.segments.packed ? plan.time / std::max<int64_t>(1, plan.segments.filled())
                              : plan.time;
}

// `options` null: a map, whose steps all threads share anyway.
ScheduleRequest makeRequest(const SystemPlan& system, const Plan& plan, int64_t time,
                            const rnn_plan_options* options) {
  const rnn_system_desc& desc = *system.desc;
  ScheduleRequest r;
  r.system = desc.name;
  r.lanes = system.lanes;
  r.time = time;
  r.states = desc.states;
  r.carry = desc.carry;
  r.diagonal = desc.diagonal != 0;
  r.linear = desc.linear;
  r.constant = desc.constant;
  r.tolerance = plan.tolerance;
  r.sequences = sequencesOf(system, plan);
  r.sideBySide = sideBySide(plan.table(), desc) ? system.lanesPerBatch : 1;
  r.elementSize = static_cast<uint32_t>(elementSize(plan.compute));
  for (uint32_t i = 0; i < desc.kernels; ++i) {
    if (desc.kernel[i].compute == plan.compute) {
      r.widths.push_back(desc.kernel[i].width);
    }
  }
  if (r.widths.empty()) {
    fail(RNN_UNSUPPORTED, "compute: the module has no {} kernels",
         plan.compute == RNN_F32 ? "f32" : "f64");
  }
  r.cost = desc.cost;
  r.cores = plan.isStep ? 1 : std::max(1u, std::thread::hardware_concurrency());
  if (!options) {
    r.schedule = RNN_SCHEDULE_SEQUENTIAL;
    return r;
  }
  r.schedule = options->schedule;
  r.vector = options->vector;
  r.tiles = options->tiles;
  r.chunk = options->chunk;
  r.chunks = options->chunks;
  r.chunkHint = plan.table().solve.chunk;
  r.inWindows = plan.inWindows;
  if (desc.carry == 0 && plan.table().systems > 1) {
    // Among systems that can be cut into chunks one that cannot runs sequentially, and says so
    // nowhere else: what was asked of the others does not concern it.
    r.schedule = RNN_SCHEDULE_SEQUENTIAL;
    r.vector = RNN_VECTOR_AUTO;
    r.tiles = RNN_TILES_AUTO;
    r.chunk = r.chunks = 0;
  }
  return r;
}

// Terms of a product of carries. A diagonal may be a large one.
std::vector<CarryTerm> carryTerms(const SystemPlan& system) {
  if (!system.dense) {
    return productTerms(CarryForm(*system.desc));
  }
  std::vector<CarryTerm> terms;
  for (uint32_t i = 0; i < system.desc->carry; ++i) {
    terms.push_back({i, i, i, 1});
  }
  return terms;
}

/// The vectors of all lanes, or of `lanes` lanes from `firstLane` on.
void addRuns(SystemPlan& system, const std::vector<LaneRun>& lanes, int64_t firstLane, int64_t end,
             const std::function<Kernel(uint32_t)>& kernel) {
  for (const LaneRun& run : lanes) {
    const int64_t first = firstLane + run.firstLane;
    system.runs.push_back({first, run.groups, kernel(run.width),
                           std::min(run.groups * int64_t(run.width), end - first), system.groups});
    system.groups += run.groups;
  }
}

// A tile in parallel with others belongs to one segment.
void addSegmentRuns(SystemPlan& system, const Plan& plan, ScheduleRequest request,
                    const ScheduleChoice& choice, const std::function<Kernel(uint32_t)>& kernel) {
  request.lanes = system.lanesPerBatch;
  request.schedule = RNN_SCHEDULE_PARALLEL;
  request.vector = choice.vector;
  request.tiles = choice.tiles;
  request.chunk = choice.chunk;
  request.chunks = choice.chunks;
  const std::vector<LaneRun> lanes = chooseSchedule(request).chosen.lanes;
  for (int64_t s = 0; s < plan.segments.count(); ++s) {
    addRuns(system, lanes, s * system.lanesPerBatch, (s + 1) * system.lanesPerBatch, kernel);
  }
}

// What depends on how long each group is, which is as long as its first lane. Every one has a tile,
// of no steps where its segment is empty: room for a state.
void countSteps(SystemPlan& system, const Plan& plan) {
  if (!plan.segments.packed) {
    system.vectorSteps = checkedProduct(system.groups, plan.time, system.desc->name);
    checkedProduct(system.groups, system.tileCount, "the workspace");
    return;
  }
  std::vector<int64_t> firstTile = {0};
  for (int64_t group = 0; group < system.groups; ++group) {
    const int64_t steps = plan.stepsOf(system, system.lanesOf(group).first);
    system.vectorSteps += steps;
    firstTile.push_back(firstTile.back() +
                        std::max<int64_t>(1, (steps + system.tileSteps - 1) / system.tileSteps));
  }
  if (system.tilesInParallel() && system.tileCount > 0) {
    system.firstTile = std::move(firstTile);
  }
}

void takeSchedule(SystemPlan& system, const Plan& plan, const Schedules& schedules,
                  const ScheduleRequest& request, int64_t longest) {
  const ScheduleChoice& choice = schedules.chosen;
  const rnn_module_table& table = plan.table();
  system.parallel = choice.parallel;
  system.vector = choice.vector;
  system.tiles = choice.tiles;
  system.chunk = choice.chunk;
  system.chunks = choice.chunks;
  system.secondsSequential = schedules.secondsSequential;
  system.secondsParallel = schedules.secondsParallel;
  // Sequential, the chunk is the whole time: none, where there are no steps.
  system.tileSteps =
      std::clamp<int64_t>(checkedProduct(choice.chunk, choice.chunks, "chunk x chunks"), 1,
                          std::max<int64_t>(longest, 1));
  system.tileCount = longest == 0 ? 0 : (longest - 1) / system.tileSteps + 1;
  // Made once for each width: a module may compile it.
  std::map<uint32_t, Kernel> kernels;
  auto kernel = [&](uint32_t width) {
    auto [place, isNew] = kernels.try_emplace(width);
    if (isNew) {
      place->second = resolveKernel(table, system, plan.compute, width,
                                    choice.parallel && !system.chunksInVectors());
    }
    return place->second;
  };
  const bool isPacked = plan.segments.packed && system.index < table.systems;
  if (system.chunksInVectors()) {
    system.chunkKernel = resolveKernel(table, system, plan.compute, choice.width, true);
    system.runs = {{0, system.lanes, kernel(request.widths.front()), system.lanes, 0}};
    system.groups = system.lanes;
  } else if (isPacked && system.tilesInParallel()) {
    addSegmentRuns(system, plan, request, choice, kernel);
  } else {
    addRuns(system, choice.lanes, 0, system.lanes, kernel);
  }
  for (const GroupRun& run : system.runs) {
    system.laneWidth = std::max<int64_t>(system.laneWidth, run.kernel.width);
  }
  if (system.index < table.systems) {
    countSteps(system, plan);
  }
  if (system.parallel) {
    system.products = carryTerms(system);
  }
}

// What the caller fixes, else what the module wishes, else the default.
void takeTolerance(Plan& plan, const rnn_plan_options& options) {
  const rnn_solve_hints& hints = plan.table().solve;
  if (options.tolerance >= 0) {
    plan.tolerance = options.tolerance;
  } else if (hints.has_tolerance) {
    plan.tolerance = hints.tolerance;
  } else {
    plan.tolerance = options.compute == RNN_F32 ? 4 * double(std::numeric_limits<float>::epsilon())
                                                : 4 * std::numeric_limits<double>::epsilon();
  }
  if (options.max_sweeps > 0 && plan.tolerance == 0) {
    invalid("max_sweeps is {}, but tolerance 0 asks for the exact answer; give a tolerance above 0 "
            "or no max_sweeps",
            options.max_sweeps);
  }
  const int64_t wished = plan.tolerance > 0 ? hints.max_sweeps : 0;
  plan.maxSweeps = options.max_sweeps > 0 ? options.max_sweeps : wished;
}

void describe(Plan& plan) {
  const SystemPlan& system = plan.systems.front();
  rnn_plan_info& info = plan.info;
  info.size = sizeof(rnn_plan_info);
  info.schedule = system.parallel ? RNN_SCHEDULE_PARALLEL : RNN_SCHEDULE_SEQUENTIAL;
  info.vector = system.vector;
  info.tiles = system.tiles;
  info.chunk = system.chunk;
  info.chunks = system.chunks;
  info.lanes = system.lanes;
  info.groups = system.groups;
  info.width = system.chunksInVectors() ? system.chunkKernel.width
               : system.runs.empty()    ? 0
                                        : system.runs.front().kernel.width;
  info.tolerance = plan.tolerance;
  info.seconds_sequential = system.secondsSequential;
  info.seconds_parallel = system.secondsParallel;
  info.training = plan.training;
  info.checkpoint = plan.checkpoint;
  info.window = plan.window;
}

// Room for what each group of lanes sums over its steps.
void placeSums(SystemPlan& system, Plan& plan) {
  const int64_t width = system.chunksInVectors() ? 1 : system.laneWidth;
  const int64_t lanes = checkedProduct(system.groups, width, system.desc->name);
  system.sumsOffset = plan.sumNumbers;
  plan.sumNumbers = checkedSum(
      plan.sumNumbers, checkedProduct(lanes, system.sumRows(), "the workspace"), "the workspace");
}

std::shared_ptr<Plan> makeOne(std::shared_ptr<const Module> module, const rnn_plan_options& options,
                              bool isStep, const Plan* cell) {
  std::shared_ptr<Plan> plan = beginPlan(std::move(module), options, isStep, cell);
  const rnn_module_table& table = plan->table();
  bool anyCarry = false;
  for (const SystemPlan& system : plan->systems) {
    anyCarry |= system.desc->carry != 0;
  }
  if (options.schedule == RNN_SCHEDULE_PARALLEL && !anyCarry) {
    fail(RNN_UNSUPPORTED,
         "schedule = parallel: the Jacobian block of {} is too large; only the sequential schedule "
         "is possible",
         table.system[0].name);
  }
  for (SystemPlan& system : plan->systems) {
    const ScheduleRequest request = makeRequest(system, *plan, usualTime(*plan), &options);
    takeSchedule(system, *plan, chooseSchedule(request), request, plan->longest());
    placeSums(system, *plan);
  }
  for (StagePlan& stage : plan->stages) {
    if (stage.map.desc) {
      const int64_t time = timeOf(*plan, stage.phase);
      const ScheduleRequest request = makeRequest(stage.map, *plan, time, nullptr);
      takeSchedule(stage.map, *plan, chooseSchedule(request), request, plan->time);
      placeSums(stage.map, *plan);
    }
    if (stage.outer.desc) {
      stage.outer.sumsOffset = plan->sumNumbers;
      plan->sumNumbers = checkedSum(plan->sumNumbers, cpu::outerNumbers(stage.outer, plan->compute),
                                    "the workspace");
    }
  }
  plan->arena = plan->module->context->arena(options.threads);
  cpu::measureParts(*plan);
  return plan;
}

// The same shapes and the same schedule, backwards.
rnn_plan_options adjointOptions(const Plan& plan, rnn_plan_options options) {
  options.reversed = !plan.reversed;
  options.tolerance = plan.tolerance;
  options.max_sweeps = plan.maxSweeps;
  options.training = RNN_TRAINING_NONE;
  options.checkpoint = options.window = 0;
  return options;
}

// The step of a streaming plan: the same cell and shape, whatever the schedule was to be.
rnn_plan_options stepOptions(rnn_plan_options options) {
  options.time = 1;
  options.schedule = RNN_SCHEDULE_SEQUENTIAL;
  options.vector = RNN_VECTOR_AUTO;
  options.tiles = RNN_TILES_AUTO;
  options.chunk = options.chunks = 0;
  options.threads = 1;
  return options;
}

} // namespace

void takeSizes(Plan& plan) {
  plan.workspaceBytes = cpu::workspaceBytes(plan);
  plan.reserveBytes = cpu::reserveBytes(plan);
  if (plan.adjoint) {
    plan.workspaceBytes = std::max(plan.workspaceBytes, cpu::backwardBytes(plan));
  }
}

std::shared_ptr<Plan> makeSchedule(std::shared_ptr<const Module> module,
                                   const rnn_plan_options& options) {
  std::shared_ptr<Plan> plan = makeOne(std::move(module), options, false, nullptr);
  if (options.training) {
    const std::shared_ptr<const Module>& adjoint = plan->module->adjoint;
    if (!adjoint) {
      fail(RNN_UNSUPPORTED,
           "training: module {} was built without gradients (rnnc build --gradients)",
           plan->table().cell);
    }
    plan->adjoint = makeOne(adjoint, adjointOptions(*plan, options), false, plan.get());
  }
  return plan;
}

std::shared_ptr<Plan> beginPlan(std::shared_ptr<const Module> module,
                                const rnn_plan_options& options, bool isStep, const Plan* cell) {
  auto plan = std::make_shared<Plan>();
  plan->cell = cell;
  plan->training = options.training;
  plan->inWindows = cell ? cell->inWindows : hasWindows(options);
  plan->module = std::move(module);
  plan->isStep = isStep;
  plan->batch = options.batch;
  plan->time = options.time;
  plan->segments = readSegments(options);
  plan->reversed = options.reversed != 0;
  plan->reset = options.reset != 0;
  plan->compute = options.compute;
  takeTolerance(*plan, options);
  bindDims(*plan, options);
  return plan;
}

std::shared_ptr<const Plan> makePlan(std::shared_ptr<const Module> module,
                                     const rnn_plan_options& options) {
  if (options.device == RNN_DEVICE_CUDA) {
    return cuda::makeDevicePlan(std::move(module), options);
  }
  checkOptions(options);
  const rnn_plan_options known = options.training ? withinBudget(module, options) : options;
  std::shared_ptr<Plan> plan = makeSchedule(module, known);
  if (plan->adjoint) {
    takeWindows(*plan, *plan->adjoint, known);
  }
  takeSizes(*plan);
  describe(*plan);
  if (options.streaming) {
    std::shared_ptr<Plan> step = makeOne(std::move(module), stepOptions(options), true, nullptr);
    takeSizes(*step);
    describe(*step);
    step->stream = plan->stream = layoutStream(*plan);
    plan->step = std::move(step);
    plan->stateBytes = cpu::stateBytes(*plan);
  }
  return plan;
}

} // namespace rnnc::runtime

using namespace rnnc::runtime;

rnn_status rnn_plan_create(const rnn_module* module, const rnn_plan_options* options,
                           rnn_plan** out) {
  return guarded([&] {
    if (!out) {
      invalid("rnn_plan_create: argument `out` is null");
    }
    *out = nullptr;
    if (!module || !options) {
      invalid("rnn_plan_create: argument `{}` is null", module ? "options" : "module");
    }
    *out = new rnn_plan{makePlan(module->state, readVersioned(options, "rnn_plan_options"))};
    return RNN_OK;
  });
}

void rnn_plan_destroy(rnn_plan* plan) { delete plan; }

rnn_status rnn_plan_describe(const rnn_plan* plan, rnn_plan_info* out) {
  return guarded([&] {
    if (!plan || !out) {
      invalid("rnn_plan_describe: argument `{}` is null", plan ? "out" : "plan");
    }
    writeVersioned(plan->state->info, out, "rnn_plan_info");
    return RNN_OK;
  });
}

rnn_status rnn_plan_sizes(const rnn_plan* plan, size_t* workspace, size_t* reserve, size_t* state) {
  return guarded([&] {
    if (!plan) {
      invalid("rnn_plan_sizes: argument `plan` is null");
    }
    if (workspace) {
      *workspace = plan->state->workspaceBytes;
    }
    if (reserve) {
      *reserve = plan->state->reserveBytes;
    }
    if (state) {
      *state = plan->state->stateBytes;
    }
    return RNN_OK;
  });
}
