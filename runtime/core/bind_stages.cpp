// Stages with their sizes known.
#include "core/bind.hpp"
#include "core/status.hpp"

#include <algorithm>

namespace rnnc::runtime {

ProductPlan bindProduct(const Plan& plan, const rnn_product& desc) {
  ProductPlan product;
  product.desc = &desc;
  const rnn_tensor_desc& sequenceDesc = plan.table().tensor[desc.sequence];
  if (plan.cell && sequenceDesc.relation == RNN_RELATION_VALUE) {
    product.ahead = sequenceDesc.back;
  }
  const std::vector<int64_t>& sequence = plan.tensorSizes[desc.sequence];
  const std::vector<int64_t>& weight = plan.tensorSizes[desc.part[0].weight];
  const uint32_t heads = desc.heads;
  for (uint32_t a = 0; a < heads; ++a) {
    product.heads *= weight[a];
  }
  // The left factor is [heads..., row, contracted], the right one [heads..., contracted, column] or
  // [heads..., contracted]. Without heads the left one's row may be several axes.
  product.hasRow = desc.left || sequence.size() == heads + 2;
  product.sequenceRow = desc.left ? heads : heads + 1;
  product.sequenceContracted = desc.left ? heads + 1 : heads;
  product.weightColumn = desc.left ? heads + 1 : heads;
  product.resultRow = desc.left ? heads : heads + 1;
  product.resultColumn = desc.left ? heads + 1 : heads;
  product.rows = product.hasRow ? sequence[product.sequenceRow] : 1;
  product.contracted = sequence[product.sequenceContracted];
  for (uint32_t i = 0; i < desc.parts; ++i) {
    const std::vector<int64_t>& sizes = plan.tensorSizes[desc.part[i].weight];
    ProductPart part{&desc.part[i]};
    part.columnAxes = static_cast<uint32_t>(sizes.size()) - heads - 1;
    part.contracted = desc.left ? heads : heads + part.columnAxes;
    for (uint32_t a = 0; a < part.columnAxes; ++a) {
      part.columns = checkedProduct(part.columns, sizes[product.weightColumn + a], "the weights");
    }
    product.parts.push_back(part);
  }
  return product;
}

static bool runsWith(const Plan& plan, const rnn_slot& slot, uint32_t axis) {
  const int32_t* begin = slot.lane_axis;
  const int32_t* end = begin + plan.tensorSizes[slot.tensor].size();
  return std::find(begin, end, int32_t(axis)) != end;
}

OuterPlan bindOuter(const Plan& plan, const rnn_outer& desc) {
  OuterPlan outer;
  outer.desc = &desc;
  outer.sizes.assign(desc.axes, 1);
  const std::vector<int64_t>& result = plan.tensorSizes[desc.result.tensor];
  for (size_t a = 0; a < result.size(); ++a) {
    if (desc.result.lane_axis[a] >= 0) {
      outer.sizes[size_t(desc.result.lane_axis[a])] = result[a];
    }
  }
  outer.left.slot = &desc.left;
  outer.right.slot = &desc.right;
  for (OuterFactor* factor : {&outer.left, &outer.right}) {
    const rnn_tensor_desc& tensor = plan.table().tensor[factor->slot->tensor];
    factor->ahead = plan.cell && tensor.relation == RNN_RELATION_VALUE ? tensor.back : 0;
  }
  for (uint32_t axis = 0; axis < desc.axes; ++axis) {
    const int64_t size = outer.sizes[axis];
    const bool isLeft = runsWith(plan, desc.left, axis);
    if (isLeft && runsWith(plan, desc.right, axis)) {
      outer.headAxes.push_back(axis);
      outer.heads = checkedProduct(outer.heads, size, "an outer product");
      continue;
    }
    OuterFactor& factor = isLeft ? outer.left : outer.right;
    factor.axes.push_back(axis);
    factor.elements = checkedProduct(factor.elements, size, "an outer product");
  }
  return outer;
}

void listKept(Plan& plan) {
  const rnn_module_table& table = plan.table();
  plan.kept.assign(table.tensors, 0);
  for (uint32_t i = 0; i < table.tensors; ++i) {
    const rnn_role role = table.tensor[i].role;
    plan.kept[i] = role == RNN_ROLE_HOISTED || role == RNN_ROLE_DERIVED ||
                   (role == RNN_ROLE_STATE && plan.training);
  }
  auto read = [&](uint32_t tensor) {
    if (table.tensor[tensor].role == RNN_ROLE_STATE) {
      plan.kept[tensor] = 1;
    }
  };
  for (const StagePlan& stage : plan.stages) {
    if (stage.product.desc) {
      read(stage.product.desc->sequence);
    }
    if (stage.outer.desc) {
      read(stage.outer.desc->left.tensor);
      read(stage.outer.desc->right.tensor);
    }
    for (uint32_t i = 0; stage.map.desc && i < stage.map.desc->inputs; ++i) {
      read(stage.map.desc->input_slots[i].tensor);
    }
  }
}

} // namespace rnnc::runtime
