// Arrays of callers in every layout, and parts of them.
#include "harness.hpp"

#include "core/elements.hpp"

#include <algorithm>
#include <numeric>

namespace rnnc::test {

Array::Array(const std::vector<int64_t>& shape, int timeAxis, Layout layout, rnn_dtype dtype) {
  const int rank = static_cast<int>(shape.size());
  tensor.dtype = dtype;
  tensor.rank = static_cast<uint32_t>(rank);
  std::vector<int> order(rank); // outermost first
  std::iota(order.begin(), order.end(), 0);
  if (layout == Layout::TimeMajor && timeAxis > 0) {
    std::swap(order[0], order[timeAxis]);
  }
  if (layout == Layout::LaneMajor && timeAxis >= 0) {
    order.erase(order.begin() + timeAxis);
    order.push_back(timeAxis);
  }
  int64_t stride = layout == Layout::Strided ? 3 : 1;
  int64_t first = 0, last = 0;
  for (int i = rank - 1; i >= 0; --i) {
    const int a = order[i];
    tensor.shape[a] = shape[a];
    tensor.strides[a] = layout == Layout::Reversed && a == timeAxis ? -stride : stride;
    const int64_t span = std::max<int64_t>(shape[a] - 1, 0) * tensor.strides[a];
    (span < 0 ? first : last) += span;
    stride *= std::max<int64_t>(shape[a], 1);
    if (layout == Layout::Padded && i == rank - 1) {
      stride += 3;
    }
  }
  const bool empty = std::count(shape.begin(), shape.end(), 0) > 0;
  const int64_t size = runtime::elementSize(dtype);
  bytes.assign(empty ? 1 : (last - first + 1) * size, 0xcd);
  tensor.data = bytes.data() + (empty ? 0 : -first * size);
}

char* Array::at(std::span<const int64_t> index) const {
  int64_t offset = 0;
  for (size_t a = 0; a < index.size(); ++a) {
    offset += index[a] * tensor.strides[a];
  }
  return static_cast<char*>(tensor.data) + offset * runtime::elementSize(tensor.dtype);
}

double Array::get(std::span<const int64_t> index) const {
  return runtime::loadElement<double>(at(index), tensor.dtype);
}

void Array::set(std::span<const int64_t> index, double value) {
  runtime::storeElement(at(index), tensor.dtype, value);
}

std::vector<rnn_tensor> partOf(const rnn_module* module, std::vector<rnn_tensor> args,
                               int64_t first, int64_t steps) {
  const rnn_signature* signature;
  rnn_module_describe(module, &signature);
  for (size_t i = 0; i < args.size(); ++i) {
    const bool isMask = i == signature->args;
    const rnn_arg_kind kind = isMask ? RNN_ARG_INPUT : signature->arg[i].kind;
    if (kind == RNN_ARG_INITIAL) {
      args[i].data = nullptr;
    }
    if (kind != RNN_ARG_INPUT && kind != RNN_ARG_SEQUENCE) {
      continue;
    }
    const int64_t size = runtime::elementSize(args[i].dtype);
    args[i].shape[1] = steps;
    if (args[i].data) {
      args[i].data = static_cast<char*>(args[i].data) + first * args[i].strides[1] * size;
    }
  }
  return args;
}

} // namespace rnnc::test
