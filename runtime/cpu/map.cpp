#include "cpu/map.hpp"

#include "cpu/packing.hpp"
#include "cpu/threads.hpp"

#include <algorithm>

namespace rnnc::runtime::cpu {
namespace {

constexpr int64_t maxBlockSteps = 256;
constexpr int64_t blockBytes = 1 << 20;

int64_t widestOf(const SystemPlan& map) {
  int64_t width = 1;
  for (const GroupRun& run : map.runs) {
    width = std::max<int64_t>(width, run.kernel.width);
  }
  return width;
}

// Steps that a thread takes at once: their staged rows stay in the cache.
template <class F>
int64_t blockSteps(const SystemPlan& map) {
  const int64_t numbers = int64_t(map.desc->inputs) + map.desc->outputs + 1;
  return std::clamp<int64_t>(blockBytes / (numbers * widestOf(map) * int64_t(sizeof(F))), 1,
                             maxBlockSteps);
}

// The kernel and the lanes of a group.
struct Group {
  const Kernel* kernel;
  int64_t firstLane, valid;
};

Group groupOf(const SystemPlan& map, int64_t group) {
  for (const GroupRun& run : map.runs) {
    if (group < run.groups) {
      const int64_t first = run.firstLane + group * run.kernel.width;
      return {&run.kernel, first, std::min<int64_t>(run.kernel.width, map.lanes - first)};
    }
    group -= run.groups;
  }
  return {nullptr, 0, 0};
}

bool wantsNothing(const Call& call, const SystemPlan& map) {
  for (uint32_t i = 0; i < map.desc->outputs; ++i) {
    if (call.tensors[map.desc->output_slots[i].tensor].data) {
      return false;
    }
  }
  return true;
}

} // namespace

template <class F>
int64_t Map<F>::sliceBytes(const StagePlan& stage) {
  Carver carver(nullptr);
  Columns<F>(stage.map, widestOf(stage.map), blockSteps<F>(stage.map), carver);
  return carver.used();
}

template <class F>
void Map<F>::run(const Call& call, const StagePlan& stage, F* packed, bool isPacked, char* slices,
                 int64_t bytesEach) {
  const SystemPlan& map = stage.map;
  const int64_t time = timeOf(call.plan, stage.phase);
  if (wantsNothing(call, map)) {
    return;
  }
  if (!isPacked) {
    packShared(call, map, packed);
  }
  const int64_t each = blockSteps<F>(map), blocks = (time + each - 1) / each;
  parallelFor(*call.plan.arena, map.groups * blocks, [&](int64_t item, int slot) {
    const Group group = groupOf(map, item / blocks);
    const int64_t first = item % blocks * each;
    Carver carver(slices + slot * bytesEach);
    Columns<F> columns(map, widestOf(map), each, carver);
    columns.bind(call, *group.kernel, group.firstLane, group.valid);
    columns.frameLanes(first);
    const int64_t steps = std::min(each, time - first);
    columns.load(0, steps);
    columns.map(0, steps);
    columns.store(0, steps);
  });
}

template class Map<float>;
template class Map<double>;

} // namespace rnnc::runtime::cpu
