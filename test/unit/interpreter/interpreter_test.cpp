//===- interpreter_test.cpp - the oracle, against values worked out by hand ------------------===//

#include "interpret.h"

#include <cmath>
#include <set>

using namespace rnnc;
using namespace rnnc::interpreter_test;

namespace {

std::string createError(const std::string& text, const std::map<std::string, int64_t>& dims) {
  Parsed parsed(text);
  auto made = Interpreter::create(parsed.cell(), dims);
  return made ? "" : llvm::toString(made.takeError());
}

/// A cell of one scalar input and one output, y = body(x), for single functions.
std::string scalarCell(const std::string& body) {
  return R"(rnn.cell @Scalar {
    rnn.input @x : !rnn.array<[]>
    rnn.param @p : !rnn.array<[]>
    rnn.output @y : !rnn.array<[]>
    rnn.step {
      %x = rnn.input_at @x[0] : !rnn.array<[]>
      %p = rnn.param_value @p : !rnn.array<[]>
      )" +
         body +
         R"(
      rnn.set_output @y, %y : !rnn.array<[]>
    }
  })";
}

double scalar(const std::string& body, double x, double p = 0) {
  Interpreter interpreter = interpret(scalarCell(body), {});
  Arrays result = get(interpreter.step({}, {{"x", {{}, {x}}}}, {{"p", {{}, {p}}}}));
  return result["y"].data.at(0);
}

// h = a * h + (1 - a) * x over [d], a a param; an output reads the new state.
constexpr const char* kAverage = R"(rnn.cell @Average {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.param @a : !rnn.array<[]>
  rnn.state @h : !rnn.array<[d]> init 1.0
  rnn.output @y : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %a = rnn.param_value @a : !rnn.array<[]>
    %one = rnn.constant 1.0 : !rnn.array<[]>
    %b = rnn.binary sub %one, %a : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[]>
    %ah = rnn.binary mul %a, %h : (!rnn.array<[]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %bx = rnn.binary mul %b, %x : (!rnn.array<[]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %new = rnn.binary add %ah, %bx : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %new : !rnn.array<[d]>
    %y = rnn.unary neg %new : !rnn.array<[d]> -> !rnn.array<[d]>
    rnn.set_output @y, %y : !rnn.array<[d]>
  }
})";

TEST(Interpreter, RunsOverBatchAndTime) {
  Interpreter interpreter = interpret(kAverage, {{"d", 2}});
  // Batch 0 sees 2 and 4 in lane 0, 0 and 0 in lane 1; batch 1 sees 1 throughout.
  Arrays inputs{{"x", {{2, 2, 2}, {2, 0, 4, 0, 1, 1, 1, 1}}}};
  auto result = get(interpreter.run(2, 2, inputs, {{"a", {{}, {0.5}}}}, {}));
  EXPECT_EQ(result.sequences["h"].shape, (Shape{2, 2, 2}));
  EXPECT_EQ(result.sequences["h"].data, (Doubles{1.5, 0.5, 2.75, 0.25, 1, 1, 1, 1}));
  EXPECT_EQ(result.sequences["y"].data, (Doubles{-1.5, -0.5, -2.75, -0.25, -1, -1, -1, -1}));
  EXPECT_EQ(result.finals["h"].shape, (Shape{2, 2}));
  EXPECT_EQ(result.finals["h"].data, (Doubles{2.75, 0.25, 1, 1}));
  EXPECT_FALSE(result.finals.count("y"));
}

TEST(Interpreter, StartsFromAGivenState) {
  Interpreter interpreter = interpret(kAverage, {{"d", 1}});
  Arrays inputs{{"x", {{2, 1, 1}, {0, 0}}}};
  auto result =
      get(interpreter.run(2, 1, inputs, {{"a", {{}, {0.25}}}}, {{"h", {{2, 1}, {8, -4}}}}));
  EXPECT_EQ(result.finals["h"].data, (Doubles{2, -1}));
}

// h = h[t-1] + 10 * x[t] + x[t-2], and y = x[t-1].
constexpr const char* kDelays = R"(rnn.cell @Delays {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]> before 0.5
  rnn.state @h : !rnn.array<[d]>
  rnn.output @y : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %x1 = rnn.input_at @x[1] : !rnn.array<[d]>
    %x2 = rnn.input_at @x[2] : !rnn.array<[d]>
    %ten = rnn.constant 10.0 : !rnn.array<[]>
    %0 = rnn.binary mul %ten, %x : (!rnn.array<[]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %1 = rnn.binary add %0, %x2 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %2 = rnn.binary add %1, %h : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %2 : !rnn.array<[d]>
    rnn.set_output @y, %x1 : !rnn.array<[d]>
  }
})";

TEST(Interpreter, EarlierInputs) {
  Interpreter interpreter = interpret(kDelays, {{"d", 2}});
  // Lane 0 of batch 0 sees 1, 2, 3; the second batch element must not see the first one's end.
  Arrays inputs{{"x", {{2, 3, 2}, {1, 0, 2, 0, 3, 0, 4, 8, 5, 8, 6, 8}}}};
  auto result = get(interpreter.run(2, 3, inputs, {}, {}));
  EXPECT_EQ(result.sequences["y"].data, (Doubles{.5, .5, 1, 0, 2, 0, .5, .5, 4, 8, 5, 8}));
  EXPECT_EQ(result.sequences["h"].data,
            (Doubles{10.5, .5, 31, 1, 62, 1, 40.5, 80.5, 91, 161, 155, 249}));
}

TEST(Interpreter, AStepTakesEarlierInputs) {
  Interpreter interpreter = interpret(kDelays, {{"d", 1}});
  EXPECT_EQ(interpreter.delays(), (std::map<std::string, Shape>{{"x[t-1]", {1}}, {"x[t-2]", {1}}}));
  Arrays inputs{{"x", {{1}, {1}}}};
  EXPECT_EQ(get(interpreter.step({}, inputs, {}))["h"].data, (Doubles{10.5}));
  Arrays step = get(interpreter.step({}, inputs, {}, {{"x[t-2]", {{1}, {7}}}}));
  EXPECT_EQ(step["h"].data, (Doubles{17}));
  EXPECT_EQ(step["y"].data, (Doubles{.5}));
  EXPECT_EQ(message(interpreter.step({}, inputs, {}, {{"x[t-2]", {{2}, {7, 7}}}})),
            "'x[t-2]' is (2), expected (1)");
  EXPECT_EQ(message(interpreter.step({}, inputs, {}, {{"x[t-3]", {{1}, {7}}}})),
            "a step reads fewer earlier inputs than are given");
}

TEST(Interpreter, NoStepsLeaveTheStartAndNoBatchLeavesNothing) {
  Interpreter interpreter = interpret(kAverage, {{"d", 2}});
  auto none = get(interpreter.run(1, 0, {{"x", {{1, 0, 2}, {}}}}, {{"a", {{}, {0.5}}}}, {}));
  EXPECT_EQ(none.finals["h"].data, (Doubles{1, 1}));
  EXPECT_EQ(none.sequences["h"].shape, (Shape{1, 0, 2}));
  auto empty = get(interpreter.run(0, 3, {{"x", {{0, 3, 2}, {}}}}, {{"a", {{}, {0.5}}}}, {}));
  EXPECT_TRUE(empty.sequences["y"].data.empty());
}

TEST(Interpreter, StepsOneAtATime) {
  Interpreter interpreter = interpret(kAverage, {{"d", 2}});
  Arrays params{{"a", {{}, {0.5}}}};
  Arrays first = get(interpreter.step({}, {{"x", {{2}, {2, 0}}}}, params));
  EXPECT_EQ(first["h"].data, (Doubles{1.5, 0.5}));
  Arrays second = get(interpreter.step({{"h", first["h"]}}, {{"x", {{2}, {4, 0}}}}, params));
  EXPECT_EQ(second["h"].shape, (Shape{2}));
  EXPECT_EQ(second["h"].data, (Doubles{2.75, 0.25}));
  EXPECT_EQ(second["y"].data, (Doubles{-2.75, -0.25}));
}

// Two states that read each other's previous value: the new ones must not be seen early.
TEST(Interpreter, EveryNewStateIsRoundedOtherwiseWhereAsked) {
  // h' = h + 0 over 64 steps: what the first step got would be lost if only arguments moved.
  Interpreter interpreter = interpret(R"(rnn.cell @Keep {
    rnn.state @h : !rnn.array<[]> init 1.0
    rnn.step {
      %h = rnn.state_at @h[1] : !rnn.array<[]>
      rnn.set_state @h, %h : !rnn.array<[]>
    }
  })",
                                      {});
  auto last = [&](double rounding, uint64_t seed) {
    return get(interpreter.run(1, 64, {}, {}, {}, rounding, seed)).finals["h"].data[0];
  };
  EXPECT_EQ(last(0, 1), 1);
  EXPECT_EQ(last(0.001, 1), last(0.001, 1));
  std::set<double> seen;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    double value = last(0.001, seed);
    seen.insert(value);
    EXPECT_LT(std::abs(value - 1), 0.07);
    EXPECT_NE(value, 1);
  }
  EXPECT_GT(seen.size(), 3u);
}

TEST(Interpreter, ReadsThePreviousStateThroughoutAStep) {
  Interpreter interpreter = interpret(R"(rnn.cell @Swap {
    rnn.state @a : !rnn.array<[]> init 3.0
    rnn.state hidden @b : !rnn.array<[]> init 5.0
    rnn.step {
      %b = rnn.state_at @b[1] : !rnn.array<[]>
      rnn.set_state @a, %b : !rnn.array<[]>
      %a = rnn.state_at @a[1] : !rnn.array<[]>
      rnn.set_state @b, %a : !rnn.array<[]>
    }
  })",
                                      {});
  auto result = get(interpreter.run(1, 3, {}, {}, {}));
  EXPECT_EQ(result.sequences["a"].data, (Doubles{5, 3, 5}));
  EXPECT_EQ(result.sequences["b"].data, (Doubles{3, 5, 3}));
  EXPECT_TRUE(interpreter.declarations()[1].hidden);
  EXPECT_EQ(interpreter.declarations()[1].fill, 5);
}

TEST(Interpreter, BroadcastsFromTheRight) {
  // [2, 1] + [3] + [] -> [2, 3]; a state of [2, 3] is set from a [3].
  Interpreter interpreter = interpret(R"(rnn.cell @Broadcast {
    rnn.dim_decl @m
    rnn.dim_decl @n = 3
    rnn.input @u : !rnn.array<[m, 1]>
    rnn.input @v : !rnn.array<[n = 3]>
    rnn.output @y : !rnn.array<[m, n = 3]>
    rnn.output @z : !rnn.array<[m, n = 3]>
    rnn.step {
      %u = rnn.input_at @u[0] : !rnn.array<[m, 1]>
      %v = rnn.input_at @v[0] : !rnn.array<[n = 3]>
      %c = rnn.constant 1.0e2 : !rnn.array<[]>
      %uv = rnn.binary sub %u, %v : (!rnn.array<[m, 1]>, !rnn.array<[n = 3]>) -> !rnn.array<[m, n = 3]>
      %y = rnn.binary add %uv, %c : (!rnn.array<[m, n = 3]>, !rnn.array<[]>) -> !rnn.array<[m, n = 3]>
      rnn.set_output @y, %y : !rnn.array<[m, n = 3]>
      rnn.set_output @z, %v : !rnn.array<[n = 3]>
    }
  })",
                                      {{"m", 2}});
  Arrays result =
      get(interpreter.step({}, {{"u", {{2, 1}, {10, 20}}}, {"v", {{3}, {1, 2, 3}}}}, {}));
  EXPECT_EQ(result["y"].data, (Doubles{109, 108, 107, 119, 118, 117}));
  EXPECT_EQ(result["z"].data, (Doubles{1, 2, 3, 1, 2, 3}));
}

TEST(Interpreter, MultipliesMatricesPerHead) {
  // Two heads of 2x3 blocks, against a vector, a 3x2 matrix a head, and one vector for both.
  Interpreter interpreter = interpret(R"(rnn.cell @Heads {
    rnn.dim_decl @heads
    rnn.param @R : !rnn.array<[heads, 2, 3]>
    rnn.input @v : !rnn.array<[heads, 3]>
    rnn.input @m : !rnn.array<[heads, 3, 2]>
    rnn.input @u : !rnn.array<[3]>
    rnn.output @y : !rnn.array<[heads, 2]>
    rnn.output @z : !rnn.array<[heads, 2, 2]>
    rnn.output @w : !rnn.array<[heads, 2]>
    rnn.step {
      %R = rnn.param_value @R : !rnn.array<[heads, 2, 3]>
      %v = rnn.input_at @v[0] : !rnn.array<[heads, 3]>
      %m = rnn.input_at @m[0] : !rnn.array<[heads, 3, 2]>
      %y = rnn.matmul %R, %v : (!rnn.array<[heads, 2, 3]>, !rnn.array<[heads, 3]>) -> !rnn.array<[heads, 2]>
      %z = rnn.matmul %R, %m : (!rnn.array<[heads, 2, 3]>, !rnn.array<[heads, 3, 2]>) -> !rnn.array<[heads, 2, 2]>
      rnn.set_output @y, %y : !rnn.array<[heads, 2]>
      %u = rnn.input_at @u[0] : !rnn.array<[3]>
      %w = rnn.matmul %R, %u : (!rnn.array<[heads, 2, 3]>, !rnn.array<[3]>) -> !rnn.array<[heads, 2]>
      rnn.set_output @z, %z : !rnn.array<[heads, 2, 2]>
      rnn.set_output @w, %w : !rnn.array<[heads, 2]>
    }
  })",
                                      {{"heads", 2}});
  Array r{{2, 2, 3}, {1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 1, 1}};
  Array v{{2, 3}, {1, 10, 100, 7, 8, 9}};
  Array m{{2, 3, 2}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}};
  Array u{{3}, {1, 10, 100}};
  Arrays result = get(interpreter.step({}, {{"v", v}, {"m", m}, {"u", u}}, {{"R", r}}));
  EXPECT_EQ(result["y"].data, (Doubles{321, 654, 7, 17}));
  EXPECT_EQ(result["w"].data, (Doubles{321, 654, 1, 110}));
  // Head 0: (1 2 3; 4 5 6)(1 2; 3 4; 5 6) = (22 28; 49 64). Head 1 picks row 0 and adds rows 1, 2.
  EXPECT_EQ(result["z"].data, (Doubles{22, 28, 49, 64, 1, 2, 8, 10}));
}

TEST(Interpreter, SumsOverEachAxis) {
  auto sum = [](const char* axis, const char* rest) {
    return interpret(std::string(R"(rnn.cell @Sum {
      rnn.input @x : !rnn.array<[2, 3, 2]>
      rnn.output @y : !rnn.array<)") +
                         rest + R"(>
      rnn.step {
        %x = rnn.input_at @x[0] : !rnn.array<[2, 3, 2]>
        %y = rnn.reduce sum %x axis )" +
                         axis + " : !rnn.array<[2, 3, 2]> -> !rnn.array<" + rest + R"(>
        rnn.set_output @y, %y : !rnn.array<)" +
                         rest + ">\n}\n}",
                     {});
  };
  Array x{{2, 3, 2}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60}};
  EXPECT_EQ(get(sum("0", "[3, 2]").step({}, {{"x", x}}, {}))["y"].data,
            (Doubles{11, 22, 33, 44, 55, 66}));
  EXPECT_EQ(get(sum("1", "[2, 2]").step({}, {{"x", x}}, {}))["y"].data, (Doubles{9, 12, 90, 120}));
  EXPECT_EQ(get(sum("2", "[2, 3]").step({}, {{"x", x}}, {}))["y"].data,
            (Doubles{3, 7, 11, 30, 70, 110}));
}

/// y = the reduction of x, [2, 3], over its last axis; with `keep` against x, so that it
/// broadcasts.
Doubles reduced(const std::string& kind, const Doubles& x) {
  Interpreter interpreter = interpret(R"(rnn.cell @Reduce {
      rnn.input @x : !rnn.array<[2, 3]>
      rnn.output @y : !rnn.array<[2]>
      rnn.output @z : !rnn.array<[2, 3]>
      rnn.step {
        %x = rnn.input_at @x[0] : !rnn.array<[2, 3]>
        %y = rnn.reduce )" + kind + R"( %x axis 1 : !rnn.array<[2, 3]> -> !rnn.array<[2]>
        %k = rnn.reduce )" + kind + R"( %x axis 1 keep : !rnn.array<[2, 3]> -> !rnn.array<[2, 1]>
        %z = rnn.binary sub %x, %k : (!rnn.array<[2, 3]>, !rnn.array<[2, 1]>) -> !rnn.array<[2, 3]>
        rnn.set_output @y, %y : !rnn.array<[2]>
        rnn.set_output @z, %z : !rnn.array<[2, 3]>
      }
    })",
                                      {});
  Arrays result = get(interpreter.step({}, {{"x", {{2, 3}, x}}}, {}));
  for (size_t i = 0; i < x.size(); ++i)
    if (double expected = x[i] - result["y"].data[i / 3]; expected == expected)
      EXPECT_EQ(result["z"].data[i], expected) << kind << " " << i;
  return result["y"].data;
}

TEST(Interpreter, Reduces) {
  const double inf = INFINITY, nan = std::nan("");
  EXPECT_EQ(reduced("sum", {1, 2, 4, -1, 0, 10}), (Doubles{7, 9}));
  EXPECT_EQ(reduced("mean", {1, 2, 6, -1, 0, 10}), (Doubles{3, 3}));
  EXPECT_EQ(reduced("max", {-5, -2, -4, -1, 0, 10}), (Doubles{-2, 10}));
  EXPECT_EQ(reduced("min", {5, 2, 4, -1, inf, 10}), (Doubles{2, -1}));
  EXPECT_EQ(reduced("max", {-inf, -inf, -inf, -1, inf, 10}), (Doubles{-inf, inf}));
  EXPECT_EQ(reduced("mean", {inf, 1, 2, -inf, 1, 2}), (Doubles{inf, -inf}));
  for (const char* kind : {"sum", "mean", "max", "min"})
    for (size_t at = 0; at < 3; ++at) {
      Doubles x{1, 2, 3, 0, 0, 0};
      x[at] = nan;
      Doubles y = reduced(kind, x);
      EXPECT_TRUE(std::isnan(y[0])) << kind << " " << at;
      EXPECT_EQ(y[1], 0) << kind;
    }
  // Of equal ones the first: 0 and -0 differ in their sign only.
  EXPECT_FALSE(std::signbit(reduced("max", {0.0, -0.0, -1, 0, 0, 0})[0]));
  EXPECT_TRUE(std::signbit(reduced("max", {-0.0, 0.0, -1, 0, 0, 0})[0]));
  EXPECT_TRUE(std::signbit(reduced("min", {-0.0, 0.0, 1, 0, 0, 0})[0]));
}

TEST(Interpreter, FollowsConditions) {
  // where(x < p and not (x == 1), log(x), -x): the branch not taken is NaN for x < 0.
  std::string body = R"(
      %one = rnn.constant 1.0 : !rnn.array<[]>
      %lt = rnn.compare lt %x, %p : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[], bool>
      %eq = rnn.compare eq %x, %one : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[], bool>
      %not = rnn.not %eq : !rnn.array<[], bool> -> !rnn.array<[], bool>
      %c = rnn.logic and %lt, %not : (!rnn.array<[], bool>, !rnn.array<[], bool>) -> !rnn.array<[], bool>
      %log = rnn.unary log %x : !rnn.array<[]> -> !rnn.array<[]>
      %neg = rnn.unary neg %x : !rnn.array<[]> -> !rnn.array<[]>
      %y = rnn.where %c, %log, %neg : (!rnn.array<[], bool>, !rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[]>)";
  EXPECT_EQ(scalar(body, 2, 5), std::log(2.0));
  EXPECT_EQ(scalar(body, 1, 5), -1);
  EXPECT_EQ(scalar(body, 6, 5), -6);
  EXPECT_EQ(scalar(body, -3, -5), 3);
  EXPECT_TRUE(std::isnan(scalar(body, NAN, 5)));
}

TEST(Interpreter, ComparesAsIeeeDoes) {
  auto compare = [](const std::string& kind, double x, double p) {
    return scalar("%c = rnn.compare " + kind +
                      R"( %x, %p : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[], bool>
      %lt = rnn.compare lt %x, %p : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[], bool>
      %o = rnn.logic or %c, %c : (!rnn.array<[], bool>, !rnn.array<[], bool>) -> !rnn.array<[], bool>
      %one = rnn.constant 1.0 : !rnn.array<[]>
      %zero = rnn.constant 0.0 : !rnn.array<[]>
      %y = rnn.where %o, %one, %zero : (!rnn.array<[], bool>, !rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[]>)",
                  x, p);
  };
  // Which of x < p, x = p, x > p and NaN makes each true.
  const std::map<std::string, std::string> truth{{"lt", "1000"}, {"le", "1100"}, {"gt", "0010"},
                                                 {"ge", "0110"}, {"eq", "0100"}, {"ne", "1011"}};
  for (auto& [kind, row] : truth) {
    std::string found;
    for (double x : {1.0, 2.0, 3.0, static_cast<double>(NAN)})
      found += compare(kind, x, 2) != 0 ? '1' : '0';
    EXPECT_EQ(found, row) << kind;
  }
}

TEST(Interpreter, ComputesEveryFunction) {
  auto unary = [](const std::string& kind, double x) {
    return scalar("%y = rnn.unary " + kind + " %x : !rnn.array<[]> -> !rnn.array<[]>", x);
  };
  struct Case {
    const char* kind;
    double x, y;
  };
  // Twelve digits, from tables.
  const Case cases[] = {{"neg", 1.5, -1.5},
                        {"exp", 1, 2.718281828459},
                        {"expm1", 1e-10, 1.00000000005e-10},
                        {"log", 2, 0.693147180560},
                        {"log1p", 1e-10, 9.9999999995e-11},
                        {"sqrt", 2, 1.414213562373},
                        {"rsqrt", 4, 0.5},
                        {"sin", 1, 0.841470984808},
                        {"cos", 1, 0.540302305868},
                        {"tan", 1, 1.557407724655},
                        {"asin", 0.5, 0.523598775598},
                        {"acos", 0.5, 1.047197551197},
                        {"atan", 1, 0.785398163397},
                        {"sinh", 1, 1.175201193644},
                        {"cosh", 1, 1.543080634815},
                        {"tanh", 0.5, 0.462117157260},
                        {"sigmoid", 1, 0.731058578630},
                        {"softplus", 1, 1.313261687518},
                        {"relu", 3, 3},
                        {"relu", -3, 0},
                        {"gelu", 1, 0.841344746069},
                        {"silu", 1, 0.731058578630},
                        {"hard_sigmoid", 1, 0.666666666667},
                        {"hard_sigmoid", -4, 0},
                        {"hard_tanh", 0.25, 0.25},
                        {"hard_tanh", 4, 1},
                        {"erf", 0.5, 0.520499877813},
                        {"abs", -2, 2},
                        {"sign", -2, -1},
                        {"floor", -1.5, -2}};
  for (const Case& c : cases)
    EXPECT_NEAR(unary(c.kind, c.x), c.y, 1e-12 * std::max(1.0, std::fabs(c.y))) << c.kind;
  EXPECT_NEAR(unary("expm1", 1e-10), 1.00000000005e-10, 1e-22);
  EXPECT_NEAR(unary("log1p", 1e-10), 9.9999999995e-11, 1e-22);

  auto binary = [](const std::string& kind, double x, double p) {
    return scalar("%y = rnn.binary " + kind +
                      " %x, %p : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[]>",
                  x, p);
  };
  EXPECT_EQ(binary("add", 3, 4), 7);
  EXPECT_EQ(binary("sub", 3, 4), -1);
  EXPECT_EQ(binary("mul", 3, 4), 12);
  EXPECT_EQ(binary("div", 3, 4), 0.75);
  EXPECT_EQ(binary("pow", 3, 4), 81);
  EXPECT_EQ(binary("min", 3, 4), 3);
  EXPECT_EQ(binary("max", 3, 4), 4);
  EXPECT_NEAR(binary("atan2", 1, -1), 2.356194490192, 1e-12);
}

// Pairs at the boundary; by hand.
TEST(Interpreter, ComplexNumbers) {
  Interpreter interpreter = interpret(R"(rnn.cell @Complex {
    rnn.dim_decl @d
    rnn.input @x : !rnn.array<[d]>
    rnn.param @w : !rnn.array<[d], complex>
    rnn.state @s : !rnn.array<[d], complex> start @w
    rnn.output @quotient : !rnn.array<[d], complex>
    rnn.output @dot : !rnn.array<[], complex>
    rnn.output @parts : !rnn.array<[d, 2]>
    rnn.step {
      %x = rnn.input_at @x[0] : !rnn.array<[d]>
      %w = rnn.param_value @w : !rnn.array<[d], complex>
      %s = rnn.state_at @s[1] : !rnn.array<[d], complex>
      %0 = rnn.binary mul %x, %s : (!rnn.array<[d]>, !rnn.array<[d], complex>) -> !rnn.array<[d], complex>
      rnn.set_state @s, %0 : !rnn.array<[d], complex>
      %1 = rnn.binary div %0, %w : (!rnn.array<[d], complex>, !rnn.array<[d], complex>) -> !rnn.array<[d], complex>
      rnn.set_output @quotient, %1 : !rnn.array<[d], complex>
      %2 = rnn.binary mul %0, %w : (!rnn.array<[d], complex>, !rnn.array<[d], complex>) -> !rnn.array<[d], complex>
      %3 = rnn.reduce sum %2 axis 0 : !rnn.array<[d], complex> -> !rnn.array<[], complex>
      rnn.set_output @dot, %3 : !rnn.array<[], complex>
      %re = rnn.part re %2 : !rnn.array<[d], complex> -> !rnn.array<[d]>
      %im = rnn.part im %2 : !rnn.array<[d], complex> -> !rnn.array<[d]>
      %4 = rnn.expand %re axis 1 : !rnn.array<[d]> -> !rnn.array<[d, 1]>
      %5 = rnn.expand %im axis 1 : !rnn.array<[d]> -> !rnn.array<[d, 1]>
      %6 = rnn.concat %4, %5 axis 1 : (!rnn.array<[d, 1]>, !rnn.array<[d, 1]>) -> !rnn.array<[d, 2]>
      rnn.set_output @parts, %6 : !rnn.array<[d, 2]>
    }
  })",
                                      {{"d", 2}});
  EXPECT_EQ(interpreter.declarations()[1].shape, (Shape{2, 2}));
  Array w{{2, 2}, {1, 2, 0, -1}}, x{{2}, {3, -2}};
  Arrays result = get(interpreter.step({}, {{"x", x}}, {{"w", w}}));
  EXPECT_EQ(result["s"].shape, (Shape{2, 2}));
  EXPECT_EQ(result["s"].data, (Doubles{3, 6, 0, 2})); // 3 (1 + 2i), -2 (-i)
  EXPECT_EQ(result["quotient"].data, (Doubles{3, 0, -2, 0}));
  // (3 + 6i)(1 + 2i) = -9 + 12i, 2i (-i) = 2
  EXPECT_EQ(result["parts"].data, (Doubles{-9, 12, 2, 0}));
  EXPECT_EQ(result["dot"].shape, (Shape{2}));
  EXPECT_EQ(result["dot"].data, (Doubles{-7, 12}));
}

TEST(Interpreter, BindsDims) {
  EXPECT_EQ(createError(kAverage, {{"d", 4}}), "");
  EXPECT_EQ(createError(kAverage, {}), "-:2:3: the size of the dim 'd' is not given");
  EXPECT_EQ(createError(kAverage, {{"d", 0}}), "the dim 'd' is given the size 0; it is at least 1");
  EXPECT_EQ(createError(kAverage, {{"d", 2}, {"e", 2}}), "the cell 'Average' has no dim 'e'");
  EXPECT_EQ(createError(kAverage, {{"d", int64_t(1) << 40}}),
            "the arrays of the cell 'Average' have more than 2147483648 numbers; choose smaller "
            "dims");
}

// Fibonacci's numbers, and who holds them.
constexpr const char* kOrder = R"(rnn.cell @Order {
  rnn.state @h : !rnn.array<[]> init 1.0
  rnn.output @y : !rnn.array<[]>
  rnn.step {
    %1 = rnn.state_at @h[1] : !rnn.array<[]>
    %2 = rnn.state_at @h[2] : !rnn.array<[]>
    %3 = rnn.state_at @h[3] : !rnn.array<[]>
    %new = rnn.binary add %1, %2 : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[]>
    rnn.set_state @h, %new : !rnn.array<[]>
    rnn.set_output @y, %3 : !rnn.array<[]>
  }
})";

TEST(Interpreter, StatesOfOrderN) {
  Interpreter interpreter = interpret(kOrder, {});
  auto result = get(interpreter.run(1, 5, {}, {}, {}));
  EXPECT_EQ(result.sequences["h"].data, (Doubles{2, 3, 5, 8, 13}));
  EXPECT_EQ(result.sequences["y"].data, (Doubles{1, 1, 1, 2, 3}));
  EXPECT_EQ(result.finals["h_back1"].data, (Doubles{8}));
  EXPECT_EQ(result.finals["h_back2"].data, (Doubles{5}));
  Arrays initial{{"h", {{1}, {2}}}, {"h_back1", {{1}, {-1}}}, {"h_back2", {{1}, {7}}}};
  result = get(interpreter.run(1, 4, {}, {}, initial));
  EXPECT_EQ(result.sequences["h"].data, (Doubles{1, 3, 4, 7}));
  EXPECT_EQ(result.sequences["y"].data, (Doubles{7, -1, 2, 1}));
}

TEST(Interpreter, NamesOfHeldStatesAreTaken) {
  EXPECT_EQ(createError(R"(rnn.cell @Taken {
    rnn.state @h : !rnn.array<[]>
    rnn.state @h_back1 : !rnn.array<[]>
    rnn.step {
      %h = rnn.state_at @h[2] : !rnn.array<[]>
      rnn.set_state @h, %h : !rnn.array<[]>
      rnn.set_state @h_back1, %h : !rnn.array<[]>
    }
  })",
                        {}),
            "-:2:5: 'h_back1' is declared, and the name of a state that holds 'h'");
}

TEST(Interpreter, SaysWhichArrayIsWrong) {
  Interpreter interpreter = interpret(kAverage, {{"d", 2}});
  Arrays params{{"a", {{}, {0.5}}}}, inputs{{"x", {{1, 1, 2}, {1, 1}}}};
  EXPECT_EQ(message(interpreter.run(1, 1, {}, params, {})), "'x' is not given");
  EXPECT_EQ(message(interpreter.run(1, 1, inputs, {}, {})), "'a' is not given");
  EXPECT_EQ(message(interpreter.run(1, 2, inputs, params, {})),
            "'x' is (1, 1, 2), expected (1, 2, 2)");
  EXPECT_EQ(message(interpreter.run(1, 1, inputs, params, {{"h", {{2}, {1, 1}}}})),
            "'h' is (2), expected (1, 2)");
  EXPECT_EQ(message(interpreter.run(1, 1, inputs, params, {{"y", {{1, 2}, {1, 1}}}})),
            "'y' is not a state of the cell");
  EXPECT_EQ(message(interpreter.run(-1, 1, inputs, params, {})), "batch and time are at least 0");
}

} // namespace
