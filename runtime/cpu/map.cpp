#include "cpu/map.hpp"

#include "cpu/packing.hpp"
#include "cpu/threads.hpp"

#include <algorithm>
#include <bit>

namespace rnnc::runtime::cpu {
namespace {

constexpr int64_t blockBytes = 1 << 20;

// Steps that a thread takes at once: their staged rows stay in the cache. A power of two.
template <class F>
int64_t blockSteps(const SystemPlan& map) {
  const int64_t numbers = int64_t(map.desc->inputs) + map.desc->outputs + 1;
  const int64_t steps = blockBytes / (numbers * map.laneWidth * int64_t(sizeof(F)));
  return int64_t(std::bit_floor(uint64_t(std::clamp<int64_t>(steps, 1, sumSteps))));
}

bool wantsNothing(const Call& call, const SystemPlan& map) {
  if (map.desc->sums > 0) {
    return false;
  }
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
  Columns<F>(stage.map, stage.map.laneWidth, blockSteps<F>(stage.map), carver);
  return carver.used();
}

template <class F>
void Map<F>::run(const Call& call, const StagePlan& stage, F* packed, bool isPacked, char* slices,
                 int64_t bytesEach) {
  const SystemPlan& map = stage.map;
  const int64_t begin = call.beginOf(stage.phase), time = call.endOf(stage.phase) - begin;
  if (wantsNothing(call, map)) {
    return;
  }
  if (!isPacked) {
    packShared(call, map, packed);
  }
  const int64_t each = blockSteps<F>(map), blocks = (time + each - 1) / each;
  auto runBlock = [&](Columns<F>& columns, int64_t block, F* total) {
    const int64_t first = block * each, steps = std::min(each, time - first);
    columns.frameLanes(begin + first);
    columns.load(0, steps);
    columns.map(0, steps, total);
    columns.store(0, steps);
  };
  // Sums have one order: that of the steps.
  const bool inOrder = map.desc->sums > 0;
  parallelFor(*call.plan.arena, map.groups * (inOrder ? 1 : blocks), [&](int64_t item, int slot) {
    const int64_t group = inOrder ? item : item / blocks;
    const GroupLanes lanes = map.lanesOf(group);
    Carver carver(slices + slot * bytesEach);
    Columns<F> columns(map, map.laneWidth, each, carver);
    columns.bind(call, lanes.kernel, lanes.first, lanes.count);
    if (!inOrder) {
      runBlock(columns, item % blocks, nullptr);
      return;
    }
    F* total = static_cast<F*>(call.sums) + map.sumsOffset + group * map.sumRows() * map.laneWidth;
    for (int64_t block = 0; block < blocks; ++block) {
      runBlock(columns, block, total);
    }
  });
}

template class Map<float>;
template class Map<double>;

} // namespace rnnc::runtime::cpu
