//===- kernel_test.cpp - emitted kernels against a plain loop --------------------------------===//

#include "rnnc/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace rnnc;

namespace {

// A 2x2 block that is all arithmetic: a product of the states, an input, a param.
constexpr const char* kCell = R"(
rnn.cell @Pair {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.param @a : !rnn.array<[d]>
  rnn.state @u : !rnn.array<[d]> init 2.5e-1
  rnn.state @v : !rnn.array<[d]>
  rnn.output @y : !rnn.array<[d]>
  rnn.step {
    %u = rnn.state_at @u[1] : !rnn.array<[d]>
    %v = rnn.state_at @v[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %a = rnn.param_value @a : !rnn.array<[d]>
    %av = rnn.binary mul %a, %v : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %avx = rnn.binary add %av, %x : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %half = rnn.constant 5.0e-1 : !rnn.array<[]>
    %hu = rnn.binary mul %half, %u : (!rnn.array<[]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %nu = rnn.binary add %hu, %avx : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %uv = rnn.binary mul %u, %v : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %huv = rnn.binary mul %half, %uv : (!rnn.array<[]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %nv = rnn.binary sub %huv, %x : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @u, %nu : !rnn.array<[d]>
    rnn.set_state @v, %nv : !rnn.array<[d]>
    %y = rnn.binary add %nu, %nv : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_output @y, %y : !rnn.array<[d]>
  }
}
)";

struct Compiled {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  std::unique_ptr<CompiledCell> cell;

  explicit Compiled(const char* text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
    EXPECT_TRUE(module);
    EXPECT_TRUE(lowerToSolve(*module, {.compute = "f64"}));
    auto compiled = compileForHost(*module, "");
    EXPECT_TRUE(static_cast<bool>(compiled)) << llvm::toString(compiled.takeError());
    if (compiled)
      cell = std::move(*compiled);
  }
};

/// One kernel call over `steps` steps, every buffer packed; returns end states, carry, outputs.
struct Shot {
  std::vector<double> state, carry, u, v, y, finite;
};

Shot shoot(const CompiledCell& cell, uint32_t which, bool jacobian, const std::vector<double>& x,
           const std::vector<double>& a, std::vector<double> state, int64_t steps) {
  const rnn_system_desc& system = cell.table()->system[0];
  uint32_t width = system.kernel[which].width;
  auto resolve = cell.table()->resolve;
  rnn_shoot_fn fn = resolve(cell.table()->resolve_context, 0, which, jacobian);
  EXPECT_NE(fn, nullptr) << cell.lastError();
  Shot shot{std::move(state), std::vector<double>(system.carry * width), {}, {}, {}, {}};
  shot.u.resize(steps * width), shot.v.resize(steps * width), shot.y.resize(steps * width);
  shot.finite.resize(width);
  const void* inputs[] = {x.data()};
  int64_t stride = width, strides[] = {stride, stride, stride};
  void* outputs[] = {shot.u.data(), shot.v.data(), shot.y.data()};
  rnn_shoot_args args{steps,
                      inputs,
                      strides,
                      a.data(),
                      shot.state.data(),
                      shot.carry.data(),
                      outputs,
                      strides,
                      shot.finite.data(),
                      nullptr,
                      nullptr,
                      nullptr};
  fn(&args);
  return shot;
}

void step(double x, double a, double& u, double& v) {
  double nu = std::fma(0.5, u, std::fma(a, v, x));
  double nv = std::fma(0.5, u * v, -x);
  u = nu, v = nv;
}

TEST(Kernel, ComputesTheRecurrenceAndTheProductOfItsJacobians) {
  Compiled compiled(kCell);
  ASSERT_TRUE(compiled.cell);
  const rnn_system_desc& system = compiled.cell->table()->system[0];
  ASSERT_EQ(system.states, 2u);
  ASSERT_EQ(system.carry, 4u);
  for (uint32_t which = 0; which < system.kernels; ++which) {
    uint32_t width = system.kernel[which].width;
    int64_t steps = 5;
    std::vector<double> x(steps * width), a(width), start(2 * width);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(1.0 + static_cast<double>(i));
    for (uint32_t i = 0; i < width; ++i)
      a[i] = 0.3 + 0.01 * i, start[i] = 0.1 * i - 0.4, start[width + i] = 0.2 - 0.05 * i;
    Shot plain = shoot(*compiled.cell, which, false, x, a, start, steps);
    Shot both = shoot(*compiled.cell, which, true, x, a, start, steps);
    EXPECT_EQ(plain.state, both.state);
    EXPECT_EQ(plain.y, both.y);
    for (uint32_t i = 0; i < width; ++i) {
      double u = start[i], v = start[width + i];
      for (int64_t t = 0; t < steps; ++t) {
        step(x[t * width + i], a[i], u, v);
        EXPECT_EQ(plain.u[t * width + i], u);
        EXPECT_EQ(plain.v[t * width + i], v);
        EXPECT_EQ(plain.y[t * width + i], u + v);
      }
      EXPECT_EQ(plain.state[i], u);
      EXPECT_EQ(plain.finite[i], 0);
    }
    // The carry against central differences of the end by the start, entry by entry.
    for (uint32_t entry = 0; entry < system.carry; ++entry) {
      uint32_t row = system.carry_index[2 * entry], column = system.carry_index[2 * entry + 1];
      std::vector<double> up = start, down = start;
      for (uint32_t i = 0; i < width; ++i)
        up[column * width + i] += 1e-6, down[column * width + i] -= 1e-6;
      Shot above = shoot(*compiled.cell, which, false, x, a, up, steps);
      Shot below = shoot(*compiled.cell, which, false, x, a, down, steps);
      for (uint32_t i = 0; i < width; ++i) {
        double difference = (above.state[row * width + i] - below.state[row * width + i]) / 2e-6;
        EXPECT_NEAR(both.carry[entry * width + i], difference, 1e-6);
      }
    }
  }
}

TEST(Kernel, NoStepsGiveTheIdentity) {
  Compiled compiled(kCell);
  ASSERT_TRUE(compiled.cell);
  uint32_t width = compiled.cell->table()->system[0].kernel[0].width;
  std::vector<double> start(2 * width, 0.75);
  Shot shot = shoot(*compiled.cell, 0, true, {}, std::vector<double>(width), start, 0);
  EXPECT_EQ(shot.state, start);
  for (uint32_t i = 0; i < width; ++i) {
    EXPECT_EQ(shot.carry[i], 1);
    EXPECT_EQ(shot.carry[width + i], 0);
    EXPECT_EQ(shot.carry[2 * width + i], 0);
    EXPECT_EQ(shot.carry[3 * width + i], 1);
  }
}

TEST(Kernel, MarksColumnsThatAreNotFinite) {
  Compiled compiled(kCell);
  ASSERT_TRUE(compiled.cell);
  uint32_t width = compiled.cell->table()->system[0].kernel[0].width;
  std::vector<double> x(width, 0), a(width, 0), start(2 * width, 0.0);
  x[1] = INFINITY;
  Shot shot = shoot(*compiled.cell, 0, false, x, a, start, 1);
  EXPECT_EQ(shot.finite[0], 0);
  EXPECT_TRUE(std::isnan(shot.finite[1]));
}

} // namespace
