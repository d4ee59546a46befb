#include "cuda/device_plan.hpp"

#include "core/bind.hpp"
#include "core/elements.hpp"
#include "core/status.hpp"
#include "cuda/arguments.hpp"
#include "cuda/module_table.hpp"

#include <algorithm>
#include <limits>

namespace rnnc::runtime::cuda {
namespace {

/// Threads of a multiprocessor with which lanes alone keep it busy: half of those that it has room
/// for, as a sequential kernel has about 64 registers a thread.
constexpr int64_t lanesThatFill = 1024;

constexpr size_t scratchAlignment = 256;

void refuseStages(const rnn_module_table& table) {
  for (uint32_t i = 0; i < table.stages; ++i) {
    const rnn_stage& stage = table.stage[i];
    const uint32_t result = stage.product ? stage.product->part[0].result
                            : stage.outer ? stage.outer->result.tensor
                                          : stage.map->output_slots[0].tensor;
    const char* holds = table.tensor[result].holds;
    fail(RNN_UNSUPPORTED,
         "{} on CUDA: what is computed apart from the recurrence, here {}, is not there yet; make "
         "it "
         "an input or a param of the cell, or run the cell on the CPU",
         table.cell, holds ? holds : table.tensor[result].name);
  }
}

void refuse(const rnn_plan_options& options, const rnn_module_table& table) {
  if (options.streaming) {
    fail(RNN_UNSUPPORTED, "streaming on CUDA: pieces and single steps are not there yet, whole "
                          "sequences are; give the final states as the next initial ones");
  }
  if (options.training) {
    fail(RNN_UNSUPPORTED, "training on CUDA: gradients are not there yet; train on the CPU");
  }
  const char* inTime = options.segment_offsets ? "segment_offsets"
                       : options.reversed      ? "reversed"
                       : options.reset         ? "reset"
                                               : nullptr;
  if (inTime) {
    fail(RNN_UNSUPPORTED,
         "{} on CUDA: sequences there are whole batch elements from the first step "
         "to the last so far",
         inTime);
  }
  if (options.vector == RNN_VECTOR_CHUNKS) {
    fail(RNN_UNSUPPORTED, "vector = chunks on CUDA: the threads of a warp hold lanes so far");
  }
  if (options.tiles == RNN_TILES_PARALLEL) {
    fail(RNN_UNSUPPORTED, "tiles = parallel on CUDA: tiles are solved in sequence so far");
  }
  refuseStages(table);
}

/// What the caller fixed; else the plain loop where there are lanes enough for it.
rnn_schedule scheduleFor(const Plan& plan, const Device& device, const rnn_plan_options& options) {
  if (options.schedule != RNN_SCHEDULE_AUTO || options.chunk > 0 || options.chunks > 0) {
    return options.schedule;
  }
  const int64_t enough = lanesThatFill * device.multiprocessors;
  const bool isWide = std::all_of(plan.systems.begin(), plan.systems.end(),
                                  [&](const SystemPlan& s) { return s.lanes >= enough; });
  return isWide ? RNN_SCHEDULE_SEQUENTIAL : RNN_SCHEDULE_AUTO;
}

bool fits(const rnn_cuda_unit& unit, const rnn_cuda_request& request, const Device& device) {
  return unit.compute == request.compute && unit.schedule == request.schedule &&
         std::all_of(unit.entry, unit.entry + unit.entries, [&](const rnn_cuda_entry& entry) {
           return entry.shared_bytes <= device.sharedPerBlock;
         });
}

/// Of the units that the module brings: the one for the device, else for the newest one before it,
/// else for the oldest one behind it.
const rnn_cuda_unit* unitOf(const rnn_cuda_desc& cuda, const rnn_cuda_request& request,
                            const Device& device) {
  const rnn_cuda_unit* best = nullptr;
  if (request.chunk > 0 || request.chunks > 0) {
    return best;
  }
  const auto rank = [&](const rnn_cuda_unit& unit) {
    const int distance = unit.architecture - device.architecture;
    return distance <= 0 ? -distance : 1000 + distance;
  };
  for (uint32_t i = 0; i < cuda.units; ++i) {
    const rnn_cuda_unit& unit = cuda.unit[i];
    if (fits(unit, request, device) && (!best || rank(unit) < rank(*best))) {
      best = &unit;
    }
  }
  return best;
}

/// Null where the module neither brings such a unit nor prints one.
const rnn_cuda_unit* findUnit(const Plan& plan, const Device& device,
                              const rnn_cuda_request& request) {
  const rnn_cuda_desc& cuda = *cudaOf(plan.table());
  const rnn_cuda_unit* unit = unitOf(cuda, request, device);
  if (!unit && cuda.print) {
    const char* why = nullptr;
    unit = cuda.print(cuda.context, &request, &why);
    if (!unit) {
      fail(RNN_UNSUPPORTED, "{} on {}: {}", plan.table().cell, deviceText(device),
           why ? why : "it cannot be printed");
    }
  }
  return unit;
}

const rnn_cuda_unit& chooseUnit(const Plan& plan, const Device& device,
                                const rnn_plan_options& options) {
  const rnn_module_table& table = plan.table();
  rnn_cuda_request request{sizeof(rnn_cuda_request),           device.architecture, plan.compute,
                           scheduleFor(plan, device, options), options.chunk,       options.chunks};
  const rnn_cuda_unit* unit = findUnit(plan, device, request);
  if (!unit && request.schedule != options.schedule) {
    request.schedule = options.schedule; // nobody asked for the other one
    unit = findUnit(plan, device, request);
  }
  if (!unit) {
    fail(RNN_UNSUPPORTED,
         "{} on {}: the module was built without a unit of CUDA for {}{}; build it for sm_{}, or "
         "leave the schedule to it",
         table.cell, deviceText(device), plan.compute == RNN_F32 ? "f32" : "f64",
         options.chunk || options.chunks || options.schedule ? " and this schedule" : "",
         device.architecture);
  }
  if (unit->entries != table.systems || !unit->name || !unit->text || !unit->entry) {
    fail(RNN_INTERNAL, "module {}: its unit of CUDA has {} kernels for {} systems", table.cell,
         unit->entries, table.systems);
  }
  return *unit;
}

/// The unit and this library must lay out a kernel's argument alike.
void checkEntry(const Plan& plan, uint32_t system, const rnn_cuda_entry& entry) {
  const int64_t bytes = argumentBytes(plan, system);
  if (bytes != entry.argument_bytes) {
    fail(RNN_INTERNAL, "{}: its argument has {} bytes, the module says {}", entry.name, bytes,
         entry.argument_bytes);
  }
  if (bytes > mostArgumentBytes || entry.lanes < 1 || entry.chunks < 1 || entry.steps < 1 ||
      entry.lanes > 1024 || entry.chunks > 1024 || entry.shared_bytes < 0 ||
      entry.shared_bytes > std::numeric_limits<int32_t>::max()) {
    fail(RNN_INTERNAL,
         "{}: {} x {} threads, {} bytes of shared memory and an argument of {} bytes "
         "cannot be launched",
         entry.name, entry.lanes, entry.chunks, entry.shared_bytes, bytes);
  }
}

/// A block for every group of lanes, as many as there can be; the rest is a loop in the kernel. A
/// dense one needs scratch a thread, so there are no more of them than run at a time.
Launch launchOf(const Plan& plan, uint32_t system, const rnn_cuda_entry& entry,
                const LoadedKernel& kernel, const Device& device) {
  const SystemPlan& bound = plan.systems[system];
  int64_t blocks = bound.lanes / entry.lanes + (bound.lanes % entry.lanes != 0);
  blocks = std::min<int64_t>(blocks, std::numeric_limits<int32_t>::max());
  if (bound.dense) {
    blocks = std::min(blocks, kernel.residentBlocks * device.multiprocessors);
  }
  return {kernel.function,
          static_cast<unsigned>(blocks),
          static_cast<unsigned>(entry.lanes),
          static_cast<unsigned>(entry.chunks),
          static_cast<unsigned>(entry.shared_bytes),
          0};
}

void layOutWorkspace(Plan& plan, DevicePlan& on) {
  constexpr const char* what = "the workspace";
  auto total = static_cast<int64_t>(WorkspaceLayout::reportOf(on.launches.size()));
  for (uint32_t i = 0; i < on.launches.size(); ++i) {
    Launch& launch = on.launches[i];
    const int64_t threads = int64_t(launch.grid) * launch.lanes * launch.chunks;
    const int64_t numbers = checkedProduct(scratchNumbers(plan, i), threads, what);
    total = checkedSum(total, scratchAlignment - 1, what) & ~int64_t(scratchAlignment - 1);
    launch.scratch = static_cast<size_t>(total);
    total = checkedSum(total, checkedProduct(numbers, elementSize(plan.compute), what), what);
  }
  plan.workspaceBytes = static_cast<size_t>(total);
}

void describe(Plan& plan, const Device& device, const rnn_cuda_entry& entry, const Launch& launch) {
  rnn_plan_info& info = plan.info;
  const bool isParallel = entry.chunks > 1;
  info.size = sizeof(rnn_plan_info);
  info.schedule = isParallel ? RNN_SCHEDULE_PARALLEL : RNN_SCHEDULE_SEQUENTIAL;
  info.vector = RNN_VECTOR_LANES;
  info.tiles = RNN_TILES_SEQUENCE;
  info.chunk = isParallel ? entry.steps : 0;
  info.chunks = entry.chunks;
  info.lanes = plan.systems.front().lanes;
  info.groups = launch.grid;
  info.width = launch.lanes;
  info.tolerance = plan.tolerance;
  info.device = RNN_DEVICE_CUDA;
  info.ordinal = device.ordinal;
}

} // namespace

std::shared_ptr<const Plan> makeDevicePlan(std::shared_ptr<const Module> module,
                                           const rnn_plan_options& options) {
  Programs& programs = module->context->programs();
  const std::shared_ptr<const Device> device = programs.device(options.ordinal);
  checkOptions(options);
  const rnn_module_table& table = *module->table;
  if (!cudaOf(table)) {
    fail(RNN_UNSUPPORTED, "module {}: it was built for the CPU only", table.cell);
  }
  refuse(options, table);
  std::shared_ptr<Plan> plan = beginPlan(std::move(module), options, /*isStep=*/false);
  const rnn_cuda_unit& unit = chooseUnit(*plan, *device, options);
  for (uint32_t i = 0; i < table.systems; ++i) {
    checkEntry(*plan, i, unit.entry[i]);
  }
  auto on = std::make_shared<DevicePlan>();
  on->program = programs.program(device, unit);
  for (uint32_t i = 0; i < table.systems; ++i) {
    on->launches.push_back(launchOf(*plan, i, unit.entry[i], on->program->kernels[i], *device));
  }
  layOutWorkspace(*plan, *on);
  describe(*plan, *device, unit.entry[0], on->launches[0]);
  plan->device = std::move(on);
  return plan;
}

} // namespace rnnc::runtime::cuda
