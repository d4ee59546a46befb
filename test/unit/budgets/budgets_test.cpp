//===- budgets_test.cpp - training within a budget of bytes, for real cells ------------------===//

#include "check/handles.h"
#include "check/probe.h"

#include "Target/Cpu/Jit.h"
#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>

using namespace rnnc;
using namespace rnnc::check;

namespace {
/// Bytes that operator new gave while somebody counted.
std::atomic<bool> isCounting = false;
std::atomic<size_t> counted = 0;
} // namespace

void* operator new(size_t bytes) {
  if (isCounting)
    counted += bytes;
  if (void* memory = std::malloc(bytes ? bytes : 1))
    return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

constexpr int kBudgets = 12;

class Budgets : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    const std::string path = std::string(RNN_EXAMPLES "/") + GetParam() + ".rnn";
    auto text = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(bool(text)) << path;
    DiagnosticEngine diagnostics;
    diagnostics.setSource(path, (*text)->getBuffer().str());
    mlir::OwningOpRef<mlir::ModuleOp> module = parseToRnn(*context, FrontendOptions{}, diagnostics);
    ASSERT_TRUE(module);
    LowerOptions lower;
    lower.compute = "f64";
    lower.fma = llvm::cantFail(cpuTarget("")).fma;
    lower.gradients = true;
    ASSERT_TRUE(lowerToSolve(*module, lower));
    cell = llvm::cantFail(compileForHost(*module, "", "", Effort::Quick));
    rnn_module* made = nullptr;
    ASSERT_EQ(rnn_module_from_table(runtime.get(), cell->table(), &made), RNN_OK);
    loaded.reset(made);
  }

  /// Every free dim is 6; results nobody keeps but outputs.
  CallBuffers buffers() const {
    CallShape shape;
    shape.batch = 2;
    shape.time = 400;
    const rnn_module_table& table = *cell->table();
    for (uint32_t t = 0; t < table.tensors; ++t)
      for (uint32_t a = 0; a < table.tensor[t].rank; ++a)
        if (table.tensor[t].sizes[a] < 0)
          shape.dims[table.tensor[t].dims[a]] = 6;
    CallBuffers call(*cell, shape,
                     [](rnn_arg_kind kind, const rnn_tensor_desc& tensor, size_t count) {
                       return draw(7, tensor.name + std::to_string(int(kind)), count, 0.3);
                     });
    call.drawGradients(5);
    for (auto& argument : call.arguments)
      if (argument.desc.kind == RNN_ARG_SEQUENCE &&
          table.tensor[argument.desc.tensor].role == RNN_ROLE_STATE)
        argument.values.clear();
    return call;
  }

  std::vector<rnn_training_choice> choicesOf(const rnn_plan_options& options) const {
    uint32_t count = 0;
    EXPECT_EQ(rnn_training_choices(loaded.get(), &options, nullptr, &count), RNN_OK)
        << rnn_error_text(runtime.get());
    std::vector<rnn_training_choice> choices(count);
    choices.front().size = sizeof(rnn_training_choice);
    EXPECT_EQ(rnn_training_choices(loaded.get(), &options, choices.data(), &count), RNN_OK);
    return choices;
  }

  std::unique_ptr<mlir::MLIRContext> context = createContext();
  ContextPtr runtime = makeContext();
  std::unique_ptr<CompiledCell> cell;
  ModulePtr loaded;
};

uint64_t bytesOf(const rnn_training_choice& choice) { return choice.workspace + choice.reserve; }

TEST_P(Budgets, ArePlannedToTheByteAndChangeNoBit) {
  CallBuffers all = buffers();
  const CallBuffers drawn = all;
  rnn_plan_options options = all.options(RNN_F64);
  options.tolerance = 0;
  options.schedule = RNN_SCHEDULE_SEQUENTIAL;
  ASSERT_EQ(all.runBackward(runtime.get(), options), std::nullopt);
  const auto choices = choicesOf(options);
  const auto [least, most] = std::ranges::minmax(choices, {}, bytesOf);
  for (int i = 0; i < kBudgets; ++i) {
    const double share =
        std::pow(double(bytesOf(most)) / double(bytesOf(least)), i / (kBudgets - 1.0));
    const auto budget = static_cast<uint64_t>(double(bytesOf(least)) * share + 1);
    SCOPED_TRACE(budget);
    CallBuffers call = drawn;
    options = call.options(RNN_F64);
    options.tolerance = 0;
    options.schedule = RNN_SCHEDULE_SEQUENTIAL;
    options.training = RNN_TRAINING_AUTO;
    options.memory_budget = budget;
    // The fastest that fits, and as many bytes as was said.
    const auto fastest = std::ranges::find_if(
        choices, [&](const rnn_training_choice& choice) { return bytesOf(choice) <= budget; });
    ASSERT_NE(fastest, choices.end());
    rnn_plan* made = nullptr;
    ASSERT_EQ(rnn_plan_create(loaded.get(), &options, &made), RNN_OK)
        << rnn_error_text(runtime.get());
    PlanPtr plan(made);
    size_t workspace = 0, reserve = 0;
    rnn_plan_sizes(plan.get(), &workspace, &reserve, nullptr);
    EXPECT_EQ(workspace, fastest->workspace);
    EXPECT_EQ(reserve, fastest->reserve);
    ASSERT_EQ(call.runBackward(runtime.get(), options), std::nullopt);
    double apart = 0;
    EXPECT_EQ(firstGradientDifference(call, all, *cell->table(), RNN_F64, apart), std::nullopt);
    EXPECT_EQ(apart, 0);
    EXPECT_EQ(firstDifference(call, all, *cell->table(), RNN_F64), std::nullopt);
  }
}

// What a call needs is in the workspace: what it takes beside that are some bytes of a thread pool.
TEST_P(Budgets, NothingElseIsAllocated) {
  CallBuffers call = buffers();
  rnn_plan_options options = call.options(RNN_F64);
  options.training = RNN_TRAINING_L2;
  options.checkpoint = 64;
  rnn_plan* made = nullptr;
  ASSERT_EQ(rnn_plan_create(loaded.get(), &options, &made), RNN_OK);
  PlanPtr plan(made);
  call.toRaw(RNN_F64);
  std::vector<rnn_tensor> args = call.tensors(RNN_F64), grads = call.gradients(RNN_F64);
  size_t workspaceBytes = 0, reserveBytes = 0;
  rnn_plan_sizes(plan.get(), &workspaceBytes, &reserveBytes, nullptr);
  auto room = [](size_t bytes) { return std::aligned_alloc(64, (bytes + 127) / 64 * 64); };
  void *workspace = room(workspaceBytes), *reserve = room(reserveBytes);
  counted = 0;
  isCounting = true;
  const rnn_status status =
      rnn_forward(plan.get(), args.data(), workspace, reserve, nullptr) == RNN_OK
          ? rnn_backward(plan.get(), args.data(), grads.data(), workspace, reserve, nullptr)
          : RNN_INTERNAL;
  isCounting = false;
  EXPECT_EQ(status, RNN_OK) << rnn_error_text(runtime.get());
  EXPECT_LT(counted, 64u * 1024);
  std::free(workspace);
  std::free(reserve);
}

INSTANTIATE_TEST_SUITE_P(Examples, Budgets,
                         testing::Values("paragru", "paralstm", "gru", "lru", "diode_clipper",
                                         "moog_ladder", "elman_heads", "mlstm_sig"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
