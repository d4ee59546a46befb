//===- cuda_library.h - CUDA text compiled for the host and loaded ----------------------------===//
#pragma once

#include "call.hpp"

#include <string>
#include <vector>

namespace rnnc::generated {

/// The text of one cell for CUDA, with the kernels that it has.
struct CudaText {
  std::string name; // of the namespace that keeps it apart from the others
  std::string text;
  std::vector<std::string> systems;
};

/// A kernel in the loaded library, with the schedule of its policy and as a plain loop over time.
struct CudaKernel {
  std::string name; // NAME.SYSTEM
  std::string (*run)(const emitted_test::Call& call);
  std::string (*runPlain)(const emitted_test::Call& call);
};

/// Compiles all texts against test/host_cuda, `together` in a file, and loads them. What went wrong
/// is in `error`; the library stays loaded.
std::vector<CudaKernel> loadCuda(const std::vector<CudaText>& texts, size_t together,
                                 std::string& error);

} // namespace rnnc::generated
