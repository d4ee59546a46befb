// A plan for a CUDA device: which kernels, launched how, and what the workspace holds.
#pragma once

#include "core/plan.hpp"
#include "cuda/programs.hpp"
#include "device/args.cuh"

namespace rnnc::runtime::cuda {

/// At the start of a workspace, in device memory: words that say that a call has filled it, then a
/// report for each system.
struct WorkspaceLayout {
  static constexpr uint32_t magicWord = 0x524e4e43u;
  static constexpr size_t magicWords = 16, reports = 64, reportBytes = sizeof(rnn::forward_report);

  static constexpr size_t reportOf(size_t system) { return reports + system * reportBytes; }
};

/// Of a system, in the order of the table.
struct Launch {
  FunctionRef function = nullptr;
  unsigned grid = 0; ///< 0: there is nothing to do
  unsigned lanes = 0, chunks = 0, shared = 0;
  size_t scratch = 0; ///< where it is in the workspace
};

struct DevicePlan {
  std::shared_ptr<const Program> program;
  std::vector<Launch> launches;

  const Device& device() const { return *program->device; }
  const Driver& driver() const { return program->device->driver; }
};

/// As makePlan of core/plan.hpp, for options with a CUDA device.
std::shared_ptr<const Plan> makeDevicePlan(std::shared_ptr<const Module> module,
                                           const rnn_plan_options& options);

/// Puts all of a call on the stream. What checkArgs asks of the arguments holds.
void forward(const Plan& plan, const rnn_tensor* args, void* workspace, void* stream);

/// Copies a call's reports from the device, whose call has ended.
rnn_report readReport(const Plan& plan, const void* workspace);

} // namespace rnnc::runtime::cuda
