//===- support.cpp - what the tests of the CUDA target share ---------------------------------===//

#include "support.h"

#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <cctype>

using namespace rnnc;

std::optional<CudaUnit> test::emitExample(const std::string& example, const std::string& compute,
                                          const CudaOptions& options) {
  auto context = createContext();
  DiagnosticEngine engine;
  EXPECT_TRUE(readSource(std::string(EXAMPLES) + "/" + example + ".rnn", {}, engine));
  auto module = parseToRnn(*context, {}, engine);
  EXPECT_TRUE(module);
  if (!module || !lowerToSolve(*module, {.compute = compute}))
    return std::nullopt;
  return emitCuda(*module, "", options);
}
