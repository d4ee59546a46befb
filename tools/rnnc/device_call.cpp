// A call on a CUDA device: the arrays of the host go there and come back.
#include "solver.h"

#include "core/elements.hpp"

#include <fmt/format.h>

#include <chrono>

using namespace rnnc;
using namespace rnnc::tool;

int Call::moveTo(const Console& console, runtime::cuda::Session& newSession) {
  session = &newSession;
  deviceArgs = args;
  size_t bytes = 0;
  rnn_plan_sizes(plan.get(), &bytes, nullptr, nullptr);
  rnn_status status = session->allocate(bytes, deviceWorkspace);
  for (uint32_t i = 0; i < sig->args && status == RNN_OK; ++i) {
    if (!args[i].data)
      continue;
    auto size = static_cast<size_t>(runtime::elementSize(args[i].dtype));
    for (uint32_t axis = 0; axis < args[i].rank; ++axis)
      size *= static_cast<size_t>(args[i].shape[axis]);
    status = session->allocate(size, deviceArgs[i].data);
    if (status == RNN_OK)
      status = session->copyIn(deviceArgs[i].data, args[i].data, size);
  }
  return status == RNN_OK ? kFine : console.error(session->error());
}

rnn_status Call::copyBack() {
  for (uint32_t i = 0; i < sig->args; ++i)
    if (!results[i].bytes.empty())
      if (rnn_status status = session->copyOut(results[i].bytes.data(), deviceArgs[i].data,
                                               results[i].bytes.size()))
        return status;
  return RNN_OK;
}

/// Words as the CPU's, of what the kernels noted.
static std::string notConverged(const rnn_report& report, const rnn_signature& sig) {
  if (report.unsolved_step >= 0)
    return fmt::format("`{}` found no solution at step {} (counted from 0) of lane {}",
                       sig.table->system[report.unsolved_system].name, report.unsolved_step,
                       report.unsolved_lane);
  return fmt::format("tile {} did not converge in {} sweeps: mismatch {:.3g}",
                     report.unconverged_tile, report.sweeps_max, report.mismatch_max);
}

rnn_status Call::runOnDevice() {
  deviceText.clear();
  lastReport = {};
  lastReport.size = sizeof(lastReport);
  auto start = std::chrono::steady_clock::now();
  rnn_status status =
      rnn_forward(plan.get(), deviceArgs.data(), deviceWorkspace, nullptr, session->stream());
  if (status != RNN_OK)
    return status;
  status = session->synchronise();
  lastSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (status == RNN_OK)
    status = copyBack();
  if (status != RNN_OK) {
    deviceText = session->error();
    return status;
  }
  status = rnn_report_read(plan.get(), deviceWorkspace, &lastReport);
  if (status == RNN_OK && (lastReport.unconverged_tile >= 0 || lastReport.unsolved_step >= 0)) {
    deviceText = notConverged(lastReport, *sig);
    return RNN_NOT_CONVERGED;
  }
  return status;
}
