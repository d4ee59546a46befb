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
constexpr const char* kPair = R"(
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

// Three states in a ring; the square of its Jacobian is full, so the carry has nine numbers: in a
// wide vector more than there are registers.
constexpr const char* kRing = R"(
rnn.cell @Ring {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.param @a : !rnn.array<[d]>
  rnn.state @u : !rnn.array<[d]>
  rnn.state @v : !rnn.array<[d]>
  rnn.state @w : !rnn.array<[d]>
  rnn.step {
    %u = rnn.state_at @u[1] : !rnn.array<[d]>
    %v = rnn.state_at @v[1] : !rnn.array<[d]>
    %w = rnn.state_at @w[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %a = rnn.param_value @a : !rnn.array<[d]>
    %av = rnn.binary mul %a, %v : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %nu = rnn.binary add %av, %x : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %vw = rnn.binary mul %v, %w : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %nv = rnn.binary sub %vw, %w : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %uu = rnn.binary mul %u, %u : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %nw = rnn.binary sub %uu, %x : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @u, %nu : !rnn.array<[d]>
    rnn.set_state @v, %nv : !rnn.array<[d]>
    rnn.set_state @w, %nw : !rnn.array<[d]>
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

/// One kernel call over `steps` steps, every buffer packed; returns end states, carry, and every
/// state and output at every step.
struct Shot {
  std::vector<double> state, carry, finite;
  std::vector<std::vector<double>> results;
};

Shot shoot(const CompiledCell& cell, uint32_t which, bool jacobian, const std::vector<double>& x,
           const std::vector<double>& a, std::vector<double> state, int64_t steps) {
  const rnn_system_desc& system = cell.table()->system[0];
  uint32_t width = system.kernel[which].width, results = system.states + system.outputs;
  auto resolve = cell.table()->resolve;
  rnn_shoot_fn fn = resolve(cell.table()->resolve_context, 0, which, jacobian);
  EXPECT_NE(fn, nullptr) << cell.lastError();
  Shot shot{
      std::move(state), std::vector<double>(system.carry * width), std::vector<double>(width), {}};
  shot.results.assign(results, std::vector<double>(steps * width));
  const void* inputs[] = {x.data()};
  std::vector<int64_t> strides(results, width);
  std::vector<void*> outputs;
  for (std::vector<double>& result : shot.results)
    outputs.push_back(result.data());
  rnn_shoot_args args{steps,
                      inputs,
                      strides.data(),
                      a.data(),
                      shot.state.data(),
                      shot.carry.data(),
                      outputs.data(),
                      strides.data(),
                      shot.finite.data(),
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};
  fn(&args);
  return shot;
}

/// One step of a lane: input, param, states in and out; returns states and outputs.
using Step = std::vector<double> (*)(double x, double a, const double* s);

std::vector<double> stepPair(double x, double a, const double* s) {
  double u = std::fma(0.5, s[0], std::fma(a, s[1], x));
  double v = std::fma(0.5, s[0] * s[1], -x);
  return {u, v, u + v};
}

std::vector<double> stepRing(double x, double a, const double* s) {
  return {std::fma(a, s[1], x), std::fma(s[1], s[2], -s[2]), std::fma(s[0], s[0], -x)};
}

/// Every kernel of a cell against a plain loop, and its carry against central differences of the
/// end by the start, entry by entry.
void checkKernels(const char* text, Step step, uint32_t states) {
  Compiled compiled(text);
  ASSERT_TRUE(compiled.cell);
  const rnn_system_desc& system = compiled.cell->table()->system[0];
  ASSERT_EQ(system.states, states);
  ASSERT_EQ(system.carry_places, states * states);
  for (uint32_t which = 0; which < system.kernels; ++which) {
    uint32_t width = system.kernel[which].width;
    int64_t steps = 5;
    std::vector<double> x(steps * width), a(width), start(states * width);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(1.0 + static_cast<double>(i));
    for (uint32_t i = 0; i < width; ++i)
      a[i] = 0.3 + 0.01 * i;
    for (size_t i = 0; i < start.size(); ++i)
      start[i] = 0.6 * std::cos(0.7 * static_cast<double>(i));
    Shot plain = shoot(*compiled.cell, which, false, x, a, start, steps);
    Shot both = shoot(*compiled.cell, which, true, x, a, start, steps);
    EXPECT_EQ(plain.state, both.state);
    EXPECT_EQ(plain.results, both.results);
    EXPECT_EQ(plain.finite, both.finite);
    for (uint32_t i = 0; i < width; ++i) {
      std::vector<double> lane(states);
      for (uint32_t s = 0; s < states; ++s)
        lane[s] = start[s * width + i];
      for (int64_t t = 0; t < steps; ++t) {
        lane = step(x[t * width + i], a[i], lane.data());
        for (size_t r = 0; r < lane.size(); ++r)
          EXPECT_EQ(plain.results[r][t * width + i], lane[r]);
      }
      for (uint32_t s = 0; s < states; ++s)
        EXPECT_EQ(plain.state[s * width + i], lane[s]);
      EXPECT_EQ(plain.finite[i], 0);
    }
    for (uint32_t p = 0; p < system.carry_places; ++p) {
      auto [row, column, number, sign] = system.carry_place[p];
      std::vector<double> up = start, down = start;
      for (uint32_t i = 0; i < width; ++i)
        up[column * width + i] += 1e-6, down[column * width + i] -= 1e-6;
      Shot above = shoot(*compiled.cell, which, false, x, a, up, steps);
      Shot below = shoot(*compiled.cell, which, false, x, a, down, steps);
      for (uint32_t i = 0; i < width; ++i) {
        double difference = (above.state[row * width + i] - below.state[row * width + i]) / 2e-6;
        EXPECT_NEAR(sign * both.carry[number * width + i], difference, 1e-6);
      }
    }
  }
}

TEST(Kernel, ComputesTheRecurrenceAndTheProductOfItsJacobians) { checkKernels(kPair, stepPair, 2); }

TEST(Kernel, WorksThroughAWideVectorInParts) { checkKernels(kRing, stepRing, 3); }

TEST(Kernel, NoStepsGiveTheIdentity) {
  Compiled compiled(kPair);
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
  Compiled compiled(kPair);
  ASSERT_TRUE(compiled.cell);
  uint32_t width = compiled.cell->table()->system[0].kernel[0].width;
  std::vector<double> x(width, 0), a(width, 0), start(2 * width, 0.0);
  x[1] = INFINITY;
  Shot shot = shoot(*compiled.cell, 0, false, x, a, start, 1);
  EXPECT_EQ(shot.finite[0], 0);
  EXPECT_TRUE(std::isnan(shot.finite[1]));
}

} // namespace
