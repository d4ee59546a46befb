//===- support.h - what the tests of the CUDA target share -----------------------------------===//
#pragma once

#include "ptxas.hpp"

#include "rnnc/Cuda.h"

#include <optional>
#include <string>

namespace rnnc::test {

/// The unit of an example, of the folder `examples`; nothing after a failure of the test.
std::optional<CudaUnit> emitExample(const std::string& example, const std::string& compute,
                                    const CudaOptions& options);

} // namespace rnnc::test
