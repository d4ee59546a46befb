//===- support.h - what the tests of the CUDA target share -----------------------------------===//
#pragma once

#include "rnnc/Cuda.h"

#include <optional>
#include <string>

namespace rnnc::test {

/// The unit of an example, of the folder `examples`; nothing after a failure of the test.
std::optional<CudaUnit> emitExample(const std::string& example, const std::string& compute,
                                    const CudaOptions& options);

/// Whether a line of PTX is an instruction: `\tname ...;`, with a predicate or not.
bool isInstruction(const std::string& line);

} // namespace rnnc::test
