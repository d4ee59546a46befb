//===- implicit_test.cpp - steps that are solved for ----------------------------------------===//

#include "interpret.h"

#include <cmath>

using namespace rnnc;
using namespace rnnc::interpreter_test;

namespace {

// h + h^3 = x for every lane; p = x - q / 2 and q = p / 2 in a circle; y reads what was solved.
constexpr const char* kImplicit = R"(rnn.cell @Implicit {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.state @p : !rnn.array<[d]>
  rnn.state @q : !rnn.array<[d]>
  rnn.output @y : !rnn.array<[d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %h = rnn.state_at @h[0] : !rnn.array<[d]>
    %hh = rnn.binary mul %h, %h : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %hhh = rnn.binary mul %hh, %h : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %0 = rnn.binary sub %x, %hhh : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %0 : !rnn.array<[d]>
    %half = rnn.constant 0.5 : !rnn.array<[]>
    %q = rnn.state_at @q[0] : !rnn.array<[d]>
    %1 = rnn.binary mul %half, %q : (!rnn.array<[]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %2 = rnn.binary sub %x, %1 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @p, %2 : !rnn.array<[d]>
    %3 = rnn.binary mul %half, %2 : (!rnn.array<[]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @q, %3 : !rnn.array<[d]>
    %y = rnn.unary neg %h : !rnn.array<[d]> -> !rnn.array<[d]>
    rnn.set_output @y, %y : !rnn.array<[d]>
  }
})";

TEST(Interpreter, SolvesImplicitSteps) {
  Interpreter interpreter = interpret(kImplicit, {{"d", 3}});
  Arrays inputs{{"x", {{1, 2, 3}, {2, 10, -30, 0, 1.25, NAN}}}};
  auto result = get(interpreter.run(1, 2, inputs, {}, {}));
  const Doubles expected{1, 2, -3, 0};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.sequences["h"].data[i], expected[i], 1e-14) << i;
    EXPECT_NEAR(result.sequences["y"].data[i], -expected[i], 1e-14) << i;
  }
  EXPECT_NEAR(result.sequences["p"].data[4], 1, 1e-15);
  EXPECT_NEAR(result.sequences["q"].data[4], 0.5, 1e-15);
  EXPECT_TRUE(std::isnan(result.sequences["h"].data[5]));
}

TEST(Interpreter, SaysWhichStepHasNoSolution) {
  Interpreter interpreter = interpret(R"(rnn.cell @None {
    rnn.input @x : !rnn.array<[]>
    rnn.state @h : !rnn.array<[]>
    rnn.step {
      %x = rnn.input_at @x[0] : !rnn.array<[]>
      %h = rnn.state_at @h[0] : !rnn.array<[]>
      %hh = rnn.binary mul %h, %h : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[]>
      %0 = rnn.binary add %hh, %x : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[]>
      rnn.set_state @h, %0 : !rnn.array<[]>
    }
  })",
                                      {});
  Arrays inputs{{"x", {{2, 2}, {0, 0.25, 0, 1}}}};
  EXPECT_EQ(message(interpreter.run(2, 2, inputs, {}, {})),
            "an implicit equation found no solution at step 1 (counted from 0) of batch element 1");
}

} // namespace
