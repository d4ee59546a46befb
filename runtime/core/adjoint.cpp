// The rules of module.h about an adjoint.
#include "core/module.hpp"
#include "core/status.hpp"

#include <algorithm>
#include <string_view>

namespace rnnc::runtime {
namespace {

bool fits(const rnn_tensor_desc& tensor, const rnn_tensor_desc& of) {
  const rnn_role role = tensor.role;
  switch (tensor.relation) {
  case RNN_RELATION_NONE:
    return true;
  case RNN_RELATION_VALUE:
    return of.role == RNN_ROLE_PARAM || of.role == RNN_ROLE_DERIVED
               ? role == RNN_ROLE_PARAM && tensor.back == 0
               : role == RNN_ROLE_INPUT && of.role <= RNN_ROLE_HOISTED &&
                     of.role != RNN_ROLE_OUTPUT &&
                     (tensor.back == 0 || of.role == RNN_ROLE_INPUT ||
                      (of.role == RNN_ROLE_STATE && tensor.back == 1));
  case RNN_RELATION_UPSTREAM:
    return role == RNN_ROLE_INPUT &&
           ((of.role == RNN_ROLE_STATE && !of.hidden) || of.role == RNN_ROLE_OUTPUT);
  case RNN_RELATION_GRADIENT:
    return role == RNN_ROLE_OUTPUT && of.role == RNN_ROLE_INPUT;
  case RNN_RELATION_CARRIED:
    return role == RNN_ROLE_STATE && of.role == RNN_ROLE_STATE;
  case RNN_RELATION_SUM:
    return role == RNN_ROLE_GRADIENT && (of.role == RNN_ROLE_PARAM || of.role == RNN_ROLE_DERIVED);
  }
  return false;
}

// Axis `a` of one is axis `b` of the other.
bool sameDim(const rnn_tensor_desc& x, uint32_t a, const rnn_tensor_desc& y, uint32_t b) {
  return x.sizes[a] == y.sizes[b] && (x.sizes[a] != -1 || std::string_view(x.dims[a]) == y.dims[b]);
}

// A sum may have more axes in front, and longer ones than those of size 1.
bool sameShape(const rnn_tensor_desc& tensor, const rnn_tensor_desc& of) {
  const bool isSum = tensor.relation == RNN_RELATION_SUM;
  if (tensor.rank < of.rank || (tensor.rank > of.rank && !isSum)) {
    return false;
  }
  const uint32_t lacks = tensor.rank - of.rank;
  for (uint32_t a = 0; a < of.rank; ++a) {
    if (!sameDim(tensor, lacks + a, of, a) && !(isSum && of.sizes[a] == 1)) {
      return false;
    }
  }
  return true;
}

} // namespace

const rnn_module_table* adjointOf(const rnn_module_table& table) {
  const bool isThere = table.size >= offsetof(rnn_module_table, adjoint) + sizeof(table.adjoint);
  return isThere ? table.adjoint : nullptr;
}

void validateAdjoint(const rnn_module_table& table, const rnn_module_table& adjoint) {
  if (adjointOf(adjoint)) {
    invalid("module {}: its adjoint has an adjoint", table.cell);
  }
  for (uint32_t i = 0; i < adjoint.tensors; ++i) {
    const rnn_tensor_desc& tensor = adjoint.tensor[i];
    const bool isKnown = tensor.relation == RNN_RELATION_NONE || tensor.of < table.tensors;
    if (!isKnown || !fits(tensor, table.tensor[tensor.of]) ||
        (tensor.relation != RNN_RELATION_NONE && !sameShape(tensor, table.tensor[tensor.of]))) {
      invalid("module {}, tensor {}: it cannot be related to tensor {} of the cell by relation {}",
              adjoint.cell, tensor.name, tensor.of, static_cast<int>(tensor.relation));
    }
    const bool isGiven = tensor.role != RNN_ROLE_INPUT && tensor.role != RNN_ROLE_PARAM &&
                         tensor.role != RNN_ROLE_OUTPUT;
    if (tensor.relation == RNN_RELATION_NONE && !isGiven) {
      invalid("module {}, tensor {}: nobody says what it is to the cell", adjoint.cell,
              tensor.name);
    }
  }
}

} // namespace rnnc::runtime
