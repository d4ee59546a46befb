#include "cpu/behind.hpp"

#include "core/tensors.hpp"

#include <algorithm>

namespace rnnc::runtime::cpu {

Behind behindOf(const Call& call, uint32_t tensor, int64_t batch, int64_t time) {
  const CellCall& cell = call.cell;
  const uint32_t of = call.plan.table().tensor[tensor].of;
  const rnn_tensor_desc& desc = cell.plan->table().tensor[of];
  const int arg = cell.plan->module->tensorArgs[of].initial;
  const Call::Start start = call.startBehind(batch, time);
  Behind behind;
  if (arg >= 0 && cell.args[arg].data && !start.isAnew) {
    behind.from = &cell.args[arg];
    behind.base = start.sequence * behind.from->strides[0];
    std::copy_n(behind.from->strides + 1, desc.rank, behind.strides);
  } else if (desc.start != 0) {
    behind.from = &cell.tensors[desc.start - 1];
    startStrides(*cell.plan, of, *behind.from, behind.strides);
  } else {
    behind.fill = desc.fill;
  }
  return behind;
}

} // namespace rnnc::runtime::cpu
