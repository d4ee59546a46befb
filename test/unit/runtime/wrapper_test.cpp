// rnn.hpp: what rnn.h does, without a handle to free.
#include "rnn/rnn.hpp"

#include "backward_cell.hpp"
#include "harness.hpp"

#include <gtest/gtest.h>

#include <array>

namespace rnnc::test {
namespace {

class Wrapper : public testing::Test {
protected:
  Wrapper() : table(cellNamed("ema")), context(rnn::Context::create().value()) {}

  Table table;
  rnn::Context context;
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, a = {0.5f, 0.25f};
  std::vector<float> h = std::vector<float>(8), last = std::vector<float>(2);
};

TEST_F(Wrapper, ForwardAndReport) {
  const rnn::Module module = context.module(*table.get()).value();
  ASSERT_EQ(module.arg(RNN_ARG_INPUT, "x0"), 0u);
  ASSERT_EQ(module.arg(RNN_ARG_FINAL, "s0"), 4u);
  EXPECT_FALSE(module.arg(RNN_ARG_INITIAL, "x0"));
  const rnn::Plan plan = module.plan({.time = 4, .dims = {{"d", 2}}, .tolerance = 0}).value();
  rnn::Memory workspace = plan.workspace();
  const std::array args = {rnn::tensor(std::span(std::as_const(x)), {1, 4, 2}),
                           rnn::tensor(std::span(a), {2}), rnn::tensor(std::span(h), {1, 4, 2}),
                           rnn_tensor{}, rnn::tensor(std::span(last), {1, 2})};
  EXPECT_FALSE(plan.report(workspace));
  plan.forward(args, workspace).value();
  float lane0 = table.tensors[table.states[0].tensor].fill, lane1 = lane0;
  for (int t = 0; t < 4; ++t) {
    lane0 = .5f * lane0 + .5f * x[2 * t];
    lane1 = .25f * lane1 + .75f * x[2 * t + 1];
    EXPECT_NEAR(h[2 * t], lane0, 1e-6);
    EXPECT_NEAR(h[2 * t + 1], lane1, 1e-6);
  }
  EXPECT_EQ(last, (std::vector<float>{h[6], h[7]}));
  EXPECT_EQ(plan.report(workspace)->first_nonfinite, -1);
  EXPECT_EQ(plan.info().lanes, 2);
}

TEST_F(Wrapper, AStreamGoesOnElsewhere) {
  const rnn::Module module = context.module(*table.get()).value();
  const rnn::Plan plan =
      module.plan({.time = 4, .dims = {{"d", 2}}, .tolerance = 0, .streaming = true}).value();
  auto args = [&](int64_t first, int64_t steps, std::vector<float>& to) {
    return std::array{
        rnn::tensor(std::span(x).subspan(2 * first), {1, steps, 2}), rnn::tensor(std::span(a), {2}),
        rnn::tensor(std::span(to).subspan(2 * first), {1, steps, 2}), rnn_tensor{}, rnn_tensor{}};
  };
  rnn::State state = plan.state(), other = plan.state();
  plan.begin(state, args(0, 1, h)).value();
  plan.step(state, args(0, 1, h)).value();
  plan.step(state, args(1, 1, h)).value();
  plan.restore(other, args(0, 1, h), plan.save(state).value()).value();
  plan.step(other, args(2, 1, h)).value();
  plan.step(other, args(3, 1, h)).value();
  std::vector<float> whole(8);
  rnn::Memory workspace = plan.workspace();
  rnn::State third = plan.state();
  plan.begin(third, args(0, 4, whole)).value();
  plan.steps(third, args(0, 4, whole), workspace).value();
  EXPECT_EQ(h, whole);
}

TEST_F(Wrapper, PackedBatches) {
  const rnn::Module module = context.module(*table.get()).value();
  const std::vector<int64_t> offsets = {0, 1, 1, 4};
  const rnn::Plan plan =
      module.plan({.time = 4, .dims = {{"d", 2}}, .segments = offsets, .reversed = true}).value();
  rnn::Memory workspace = plan.workspace();
  std::vector<float> finals(6);
  plan.forward(std::array{rnn::tensor(std::span(x), {1, 4, 2}), rnn::tensor(std::span(a), {2}),
                          rnn::tensor(std::span(h), {1, 4, 2}), rnn_tensor{},
                          rnn::tensor(std::span(finals), {3, 2})},
               workspace)
      .value();
  EXPECT_EQ(finals[0], h[0]);
  EXPECT_EQ(finals[4], h[2]); // the segment's first place is its last step
}

// h[t] = a h[t-1] + x[t]: of the sum of h[1] and h[2].
TEST_F(Wrapper, Gradients) {
  const BackwardTable cell;
  const rnn::Module module = context.module(cell.table).value();
  const rnn::Plan plan =
      module.plan({.time = 2, .dims = {{"d", 1}}, .compute = RNN_F64, .training = RNN_TRAINING_L1})
          .value();
  rnn::Memory workspace = plan.workspace(), reserve = plan.reserve();
  const double a = .5, s = 3;
  std::vector<double> in = {1, 2}, ones = {1, 1}, dx(2), da(1), ds(1);
  std::vector<rnn_tensor> args = plan.args(), grads = plan.args();
  const size_t x = module.arg(RNN_ARG_INPUT, "x").value();
  const size_t pa = module.arg(RNN_ARG_PARAM, "a").value();
  const size_t ps = module.arg(RNN_ARG_PARAM, "s").value();
  const size_t h = module.arg(RNN_ARG_SEQUENCE, "h").value();
  args[x].data = in.data();
  args[pa].data = const_cast<double*>(&a);
  args[ps].data = const_cast<double*>(&s);
  grads[h].data = ones.data();
  grads[x].data = dx.data();
  grads[pa].data = da.data();
  grads[ps].data = ds.data();
  plan.forward(args, workspace, reserve).value();
  plan.backward(args, grads, workspace, reserve).value();
  EXPECT_EQ(dx, (std::vector<double>{1 + a, 1}));
  EXPECT_EQ(da[0], s * (1 + a) + (a * s + in[0]));
  EXPECT_EQ(ds[0], a * (1 + a));
  EXPECT_EQ(plan.backward(args, {}, workspace, reserve).error(),
            "a call takes " + std::to_string(args.size()) + " arrays, and 0 are given");
}

TEST_F(Wrapper, ErrorsAreToldOrThrown) {
  const rnn::Module module = context.module(*table.get()).value();
  const rnn::Result<rnn::Plan> none = module.plan({.time = 4});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.status(), RNN_INVALID_ARGUMENT);
  EXPECT_EQ(none.error(), "dim d has no size; give one in `dim`");
  try {
    module.plan({.time = -1, .dims = {{"d", 2}}}).value();
    FAIL();
  } catch (const rnn::Error& error) {
    EXPECT_EQ(error.status(), RNN_INVALID_ARGUMENT);
    EXPECT_STREQ(error.what(), "time is -1; it cannot be negative");
  }
  rnn_module_table broken = *table.get();
  broken.abi_version = 77;
  EXPECT_FALSE(context.module(broken));
}

// Modules, plans and contexts may go in any order.
TEST_F(Wrapper, APlanOutlivesItsModule) {
  std::optional<rnn::Plan> plan;
  {
    const rnn::Context own = rnn::Context::create().value();
    plan = own.module(*table.get()).value().plan({.time = 4, .dims = {{"d", 2}}}).value();
  }
  rnn::Memory workspace = plan->workspace();
  EXPECT_EQ(plan->forward({}, workspace).error(), "a call takes 5 arrays, and 0 are given");
  const rnn::Result<void> result = plan->forward(std::vector<rnn_tensor>(5), workspace);
  EXPECT_EQ(result.error(), "argument 0 (input x0): data is null, but it is required");
}

} // namespace
} // namespace rnnc::test
