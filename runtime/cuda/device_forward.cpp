// A call on a CUDA device: launches and nothing else. No memory is allocated, on neither side, and
// nothing waits, so that a stream can be captured while this runs.
#include "core/report.hpp"
#include "core/status.hpp"
#include "cuda/arguments.hpp"
#include "cuda/device_plan.hpp"

#include <bit>
#include <cstring>
#include <vector>

namespace rnnc::runtime::cuda {
namespace {

/// Null and the driver's two special streams belong to whatever context is current.
void checkStreamContext(const Device& device, StreamRef stream) {
  if (reinterpret_cast<uintptr_t>(stream) <= 2) {
    return;
  }
  ContextRef context = nullptr;
  check(device.driver, device.driver->cuStreamGetCtx(stream, &context),
        "rnn_forward: looking at argument `stream`");
  if (context != device.context) {
    invalid(
        "rnn_forward: argument `stream` is not of the primary context of {}, which the plan is for",
        deviceText(device));
  }
}

/// A kernel that is given the host's memory would end the whole context.
template <class Name>
void checkMemory(const Device& device, const void* data, Name&& name) {
  unsigned type = 0;
  int ordinal = -1;
  unsigned isManaged = 0;
  int attributes[] = {kPointerMemoryType, kPointerDevice, kPointerIsManaged};
  void* values[] = {&type, &ordinal, &isManaged};
  check(
      device.driver,
      device.driver->cuPointerGetAttributes(3, attributes, values, reinterpret_cast<Address>(data)),
      "rnn_forward: looking at an argument's memory");
  if (type == 0 && !device.readsHostMemory) {
    invalid("{}: data is not in memory that {} can use; copy it there first", name(),
            deviceText(device));
  }
  if (type == kMemoryDevice && !isManaged && ordinal != device.ordinal) {
    invalid("{}: data is in the memory of CUDA device {}, the plan is for {}", name(), ordinal,
            deviceText(device));
  }
}

/// One without elements may lie anywhere.
bool hasElements(const rnn_tensor& tensor) {
  bool has = tensor.data != nullptr;
  for (uint32_t a = 0; a < tensor.rank; ++a) {
    has = has && tensor.shape[a] > 0;
  }
  return has;
}

void checkDtypes(const Plan& plan, const rnn_tensor* args) {
  for (size_t i = 0; i < plan.module->args.size(); ++i) {
    if (args[i].data && args[i].dtype != plan.compute) {
      fail(RNN_UNSUPPORTED,
           "{}: on CUDA arrays have the type of the computation, {}, so far; convert it",
           argName(*plan.module, i), plan.compute == RNN_F32 ? "f32" : "f64");
    }
  }
}

void launch(const Plan& plan, uint32_t system, const rnn_tensor* args, Address workspace,
            StreamRef stream) {
  const DevicePlan& on = *plan.device;
  const Launch& how = on.launches[system];
  if (how.grid == 0) {
    return;
  }
  alignas(8) unsigned char argument[mostArgumentBytes];
  packArguments(plan, system, args,
                {workspace + WorkspaceLayout::reportOf(system), workspace + how.scratch}, argument);
  void* parameters[] = {argument}; // the driver copies what the kernel declares
  check(on.driver(),
        on.driver()->cuLaunchKernel(how.function, how.grid, 1, 1, how.lanes, how.chunks, 1,
                                    how.shared, stream, parameters, nullptr),
        "rnn_forward: launching a kernel");
}

} // namespace

void forward(const Plan& plan, const rnn_tensor* args, void* workspace, void* streamArgument) {
  const DevicePlan& on = *plan.device;
  const auto stream = static_cast<StreamRef>(streamArgument);
  const auto at = reinterpret_cast<Address>(workspace);
  checkDtypes(plan, args);
  Current current(on.device());
  checkStreamContext(on.device(), stream);
  checkMemory(on.device(), workspace,
              [] { return std::string("rnn_forward: argument `workspace`"); });
  for (size_t i = 0; i < plan.module->args.size(); ++i) {
    if (hasElements(args[i])) {
      checkMemory(on.device(), args[i].data, [&] { return argName(*plan.module, i); });
    }
  }
  // The magic words go last: a workspace whose call was broken off holds no report.
  const size_t zeros = WorkspaceLayout::reportOf(on.launches.size()) / 4;
  check(on.driver(), on.driver()->cuMemsetD32Async(at, 0, zeros, stream),
        "rnn_forward: clearing the report");
  for (uint32_t i = 0; i < on.launches.size(); ++i) {
    launch(plan, i, args, at, stream);
  }
  check(on.driver(),
        on.driver()->cuMemsetD32Async(at, WorkspaceLayout::magicWord, WorkspaceLayout::magicWords,
                                      stream),
        "rnn_forward: marking the report");
  current.restore();
}

rnn_report readReport(const Plan& plan, const void* workspace) {
  const DevicePlan& on = *plan.device;
  std::vector<unsigned char> bytes(WorkspaceLayout::reportOf(on.launches.size()));
  {
    Current current(on.device());
    checkMemory(on.device(), workspace,
                [] { return std::string("rnn_report_read: argument `workspace`"); });
    check(
        on.driver(),
        on.driver()->cuMemcpyDtoH(bytes.data(), reinterpret_cast<Address>(workspace), bytes.size()),
        "rnn_report_read: copying the report");
    current.restore();
  }
  for (size_t i = 0; i < WorkspaceLayout::magicWords; ++i) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + 4 * i, sizeof(word));
    if (word != WorkspaceLayout::magicWord) {
      invalid("rnn_report_read: the workspace holds no report; run rnn_forward first");
    }
  }
  // What a kernel did not see is 0; steps and tiles are stored inverted, so that the first is
  // largest.
  constexpr int laneBits = 24;
  Tally all;
  for (uint32_t i = 0; i < on.launches.size(); ++i) {
    rnn::forward_report r;
    std::memcpy(&r, bytes.data() + WorkspaceLayout::reportOf(i), sizeof(r));
    Tally one;
    one.tiles = static_cast<int64_t>(r.tiles);
    one.sweeps = static_cast<int64_t>(r.sweeps);
    one.sweepsMax = static_cast<int64_t>(r.sweeps_max);
    one.laneSweeps = static_cast<int64_t>(r.lane_sweeps);
    one.laneTiles = static_cast<int64_t>(r.lane_tiles);
    one.slow = static_cast<int64_t>(r.slow);
    one.walked = static_cast<int64_t>(r.walked);
    one.mismatch = std::bit_cast<double>(r.mismatch);
    one.nonfinite = r.nonfinite ? static_cast<int64_t>(~r.nonfinite) : INT64_MAX;
    one.unconvergedTile = r.unconverged ? static_cast<int64_t>(~r.unconverged) : INT64_MAX;
    if (r.unsolved) {
      const uint64_t place = ~r.unsolved;
      one.unsolved = {static_cast<int64_t>(place >> laneBits), i,
                      static_cast<int64_t>(place & ((uint64_t(1) << laneBits) - 1))};
    }
    all.add(one);
  }
  return all.report();
}

} // namespace rnnc::runtime::cuda
