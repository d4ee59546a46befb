//===- module_test.cpp - what rnnc wrote is what it compiles here -----------------------------===//

#include "table_text.h"

#include "check/handles.h"
#include "check/probe.h"
#include "core/bundle.hpp"

#include "Target/Cpu/Jit.h"
#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

using namespace rnnc;
using namespace rnnc::check;

namespace {

struct Case {
  const char* name;
  const char* file;
  const char* cell;
  const char* compute;
  const char* library;
  bool gradients;
  rnn_dtype type() const { return compute == std::string("f64") ? RNN_F64 : RNN_F32; }
};
constexpr Case kCases[] = {
#include "module_files.inc"
};

/// A table of somebody else's, for those who ask for a compiled cell.
class TableCell : public CompiledCell {
public:
  explicit TableCell(const rnn_module_table& table) : from(table) {}
  const rnn_module_table* table() const override { return &from; }
  double compileSeconds() const override { return 0; }
  int64_t compiledKernels() const override { return 0; }
  std::string lastError() const override { return ""; }
  bool isTooLong() const override { return false; }

private:
  const rnn_module_table& from;
};

class ModuleTest : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    library = dlopen(GetParam().library, RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library) << dlerror();
    bundle = static_cast<const rnn_module_bundle*>(dlsym(library, RNN_BUNDLE_SYMBOL));
    ASSERT_TRUE(bundle);
    auto text = llvm::MemoryBuffer::getFile(GetParam().file);
    ASSERT_TRUE(bool(text));
    diagnostics.setSource(GetParam().file, (*text)->getBuffer().str());
    module = parseToRnn(*context, FrontendOptions{}, diagnostics);
    ASSERT_TRUE(module);
  }
  void TearDown() override {
    if (library)
      dlclose(library);
  }

  /// The cell for that instruction set.
  std::unique_ptr<CompiledCell> compile(const std::string& target) {
    mlir::OwningOpRef<mlir::ModuleOp> newton(module->clone());
    LowerOptions options;
    options.compute = GetParam().compute;
    options.fma = llvm::cantFail(cpuTarget(target)).fma;
    options.gradients = bundle->variant[0].table->adjoint != nullptr;
    if (!lowerToSolve(*newton, options))
      return nullptr;
    return llvm::cantFail(compileForHost(*newton, GetParam().cell, target));
  }
  /// Every free dim is 5, which fills no vector.
  CallBuffers buffers(const CompiledCell& cell) {
    CallShape shape;
    shape.batch = 3;
    shape.time = 150;
    const rnn_module_table& table = *cell.table();
    for (uint32_t t = 0; t < table.tensors; ++t)
      for (uint32_t a = 0; a < table.tensor[t].rank; ++a)
        if (table.tensor[t].sizes[a] < 0)
          shape.dims[table.tensor[t].dims[a]] = 5;
    return CallBuffers(cell, shape,
                       [](rnn_arg_kind kind, const rnn_tensor_desc& tensor, size_t count) {
                         return draw(7, tensor.name + std::to_string(int(kind)), count, 0.3);
                       });
  }

  std::unique_ptr<mlir::MLIRContext> context = createContext();
  DiagnosticEngine diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  void* library = nullptr;
  const rnn_module_bundle* bundle = nullptr;
};

TEST_P(ModuleTest, HasEveryInstructionSet) {
  ASSERT_EQ(bundle->variants, 3u);
  EXPECT_STREQ(bundle->variant[0].target, "x86-64-v2");
  EXPECT_STREQ(bundle->variant[1].target, "x86-64-v3");
  EXPECT_STREQ(bundle->variant[2].target, "x86-64-v4");
  EXPECT_STREQ(bundle->cell, GetParam().cell);
}

TEST_P(ModuleTest, TablesAreTheCompilersOwn) {
  for (uint32_t i = 0; i < bundle->variants; ++i) {
    auto cell = compile(bundle->variant[i].target);
    ASSERT_TRUE(cell);
    EXPECT_EQ(tableText(*bundle->variant[i].table), tableText(*cell->table()));
  }
}

void expectAllKernels(const rnn_module_table& table) {
  EXPECT_FALSE(table.resolve);
  for (uint32_t s = 0; s < table.systems; ++s)
    for (uint32_t k = 0; k < table.system[s].kernels; ++k) {
      EXPECT_TRUE(table.system[s].kernel[k].shoot);
      EXPECT_TRUE(table.system[s].kernel[k].shoot_jacobian ||
                  !(table.system[s].carry || table.system[s].diagonal));
    }
  for (uint32_t s = 0; s < table.stages; ++s)
    for (uint32_t k = 0; table.stage[s].map && k < table.stage[s].map->kernels; ++k)
      EXPECT_TRUE(table.stage[s].map->kernel[k].shoot);
}

// Which kernels a plan can ask for: all of them are there.
TEST_P(ModuleTest, NoKernelIsMissing) {
  for (uint32_t i = 0; i < bundle->variants; ++i) {
    const rnn_module_table& table = *bundle->variant[i].table;
    expectAllKernels(table);
    EXPECT_EQ(table.adjoint != nullptr, GetParam().gradients);
    if (table.adjoint)
      expectAllKernels(*table.adjoint);
  }
}

TEST_P(ModuleTest, ComputesTheSameBits) {
  ContextPtr runtime = makeContext();
  for (uint32_t i = 0; i < bundle->variants; ++i) {
    if (std::string(bundle->variant[i].target).back() - '0' > runtime::processorLevel())
      continue;
    SCOPED_TRACE(bundle->variant[i].target);
    auto jit = compile(bundle->variant[i].target);
    ASSERT_TRUE(jit);
    TableCell file(*bundle->variant[i].table);
    for (rnn_schedule schedule : {RNN_SCHEDULE_SEQUENTIAL, RNN_SCHEDULE_PARALLEL}) {
      CallBuffers expected = buffers(*jit), result = buffers(file);
      rnn_plan_options options = expected.options(GetParam().type());
      options.schedule = schedule;
      auto failed = expected.run(runtime.get(), options);
      options.dim = result.options(GetParam().type()).dim;
      EXPECT_EQ(result.run(runtime.get(), options), failed);
      if (failed)
        continue;
      EXPECT_EQ(firstDifference(expected, result, *file.table(), GetParam().type()), std::nullopt);
      if (!file.table()->adjoint)
        continue;
      expected.drawGradients(3);
      result.drawGradients(3);
      options.dim = expected.options(GetParam().type()).dim;
      EXPECT_EQ(expected.runBackward(runtime.get(), options), std::nullopt);
      options.dim = result.options(GetParam().type()).dim;
      EXPECT_EQ(result.runBackward(runtime.get(), options), std::nullopt);
      double apart = 0;
      EXPECT_EQ(firstGradientDifference(expected, result, *file.table(), GetParam().type(), apart),
                std::nullopt);
      EXPECT_EQ(apart, 0); // one schedule has one order
    }
  }
}

// Wider vectors hold more lanes; with fused multiply-adds in both, no bit depends on it.
TEST_P(ModuleTest, BothThatFuseAgree) {
  if (runtime::processorLevel() < 4)
    GTEST_SKIP() << "this processor has no x86-64-v4";
  ContextPtr runtime = makeContext();
  TableCell v3(*bundle->variant[1].table), v4(*bundle->variant[2].table);
  CallBuffers one = buffers(v3), other = buffers(v4);
  EXPECT_EQ(one.run(runtime.get(), one.options(GetParam().type())), std::nullopt);
  EXPECT_EQ(other.run(runtime.get(), other.options(GetParam().type())), std::nullopt);
  EXPECT_EQ(firstDifference(one, other, *v3.table(), GetParam().type()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Files, ModuleTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
