// Contraction, and the compiled cell against the interpreter.
#include "oracle.h"
#include "check.h"
#include "dims.h"
#include "handles.h"
#include "probe.h"

#include "core/elements.hpp"
#include "rnnc/Interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr int64_t kLanes = 16;
constexpr int kPerturbations = 3;
constexpr double kSlack = 32; // roundings of a step, in terms of roundings of what it reads

} // namespace

InterpreterCall::InterpreterCall(const CallBuffers& call, const rnn_module_table& table,
                                 double relative, uint64_t seed) {
  for (const auto& argument : call.arguments) {
    const rnn_tensor_desc& tensor = table.tensor[argument.desc.tensor];
    if (runtime::isResult(argument.desc.kind) ||
        (argument.desc.kind == RNN_ARG_INITIAL && tensor.start))
      continue;
    std::string name = tensor.name;
    Array array{argument.shape, argument.values};
    if (relative > 0) {
      std::vector<double> sign = draw(seed, "move " + name, array.data.size(), 1);
      for (size_t i = 0; i < array.data.size(); ++i)
        array.data[i] *= 1 + std::copysign(relative, sign[i]);
    }
    (argument.desc.kind == RNN_ARG_INPUT   ? inputs
     : argument.desc.kind == RNN_ARG_PARAM ? params
                                           : initial)[name] = std::move(array);
  }
}

namespace {

/// What the interpreter gives, and how much it gives way when its arguments, and what a step hands
/// to the next one, are rounded otherwise: near a branch, or where a cell stretches, no two
/// arithmetics agree better than that.
struct Expected {
  Interpreter::Result result;
  std::vector<Interpreter::Result> moved;

  static const Array& get(const Interpreter::Result& result, rnn_arg_kind kind,
                          const std::string& name) {
    return kind == RNN_ARG_FINAL ? result.finals.at(name) : result.sequences.at(name);
  }
};

llvm::Expected<Expected> interpret(const Subject& subject, const CallBuffers& call,
                                   const rnn_module_table& table, double rounding) {
  auto interpreter = Interpreter::create(subject.cell, dimsOf(subject.cell, call.shape().dims));
  if (!interpreter)
    return interpreter.takeError();
  Expected expected;
  for (int n = 0; n <= kPerturbations; ++n) {
    InterpreterCall arguments(call, table, n ? rounding : 0, subject.seed + n);
    auto result =
        interpreter->run(call.shape().batch, call.shape().time, arguments.inputs, arguments.params,
                         arguments.initial, n ? rounding : 0, subject.seed + n);
    if (!result)
      return result.takeError();
    if (n == 0)
      expected.result = std::move(*result);
    else
      expected.moved.push_back(std::move(*result));
  }
  return expected;
}

struct Worst {
  double far = 0;
  std::string problem;

  void compare(const CallBuffers::Argument& argument, const std::string& name,
               const Expected& expected, double bound);
};

void Worst::compare(const CallBuffers::Argument& argument, const std::string& name,
                    const Expected& expected, double bound) {
  const Array& right = Expected::get(expected.result, argument.desc.kind, name);
  for (size_t i = 0; i < argument.values.size(); ++i) {
    double distanceHere = distance(argument.values[i], right.data[i]), allowed = bound;
    far = std::max(far, distanceHere);
    if (distanceHere <= bound)
      continue;
    for (const Interpreter::Result& moved : expected.moved)
      allowed +=
          kSlack * distance(Expected::get(moved, argument.desc.kind, name).data[i], right.data[i]);
    if (distanceHere > allowed && problem.empty())
      problem = fmt::format("{}[t], element {}: {}, the interpreter gives {}", name, i,
                            argument.values[i], right.data[i]);
  }
}

} // namespace

Row rnnc::check::compareWithInterpreter(const Subject& subject, const rnn_module_table& table,
                                        rnn_dtype type, const CallBuffers& call, double bound) {
  Row row{type == RNN_F64 ? "interpreter, f64" : "interpreter, f32",
          fmt::format("T = {}", call.shape().time), "", false};
  auto expected = interpret(subject, call, table, type == RNN_F64 ? 0x1p-53 : 0x1p-24);
  if (!expected) {
    row.result = llvm::toString(expected.takeError());
    return row;
  }
  Worst worst;
  for (const auto& argument : call.arguments)
    if (runtime::isResult(argument.desc.kind))
      worst.compare(argument, table.tensor[argument.desc.tensor].name, *expected, bound);
  row.passed = worst.problem.empty();
  row.result = row.passed ? fmt::format("{:.1e} at most, {:.0e} allowed{}", worst.far, bound,
                                        worst.far > bound ? " where rounding is not amplified" : "")
                          : worst.problem;
  return row;
}

Row rnnc::check::compareWithInterpreter(rnn_context* context, const Subject& subject,
                                        rnn_dtype type, CallBuffers call, double bound) {
  const CompiledCell& cell = type == RNN_F64 ? *subject.f64 : *subject.f32;
  rnn_plan_options options = call.options(type);
  options.schedule = RNN_SCHEDULE_SEQUENTIAL;  // the others have its bits
  if (auto error = call.run(context, options)) // rounds the arguments to the type
    return {type == RNN_F64 ? "interpreter, f64" : "interpreter, f32",
            fmt::format("T = {}", call.shape().time), *error, false};
  return compareWithInterpreter(subject, *cell.table(), type, call, bound);
}

/// Numbers that a step of one lane reads: what it costs the interpreter.
static int64_t numbersOfAStep(const rnn_module_table& table) {
  int64_t numbers = 0;
  for (uint32_t t = 0; t < table.tensors; ++t) {
    int64_t elements = 1;
    for (uint32_t a = 0; a < table.tensor[t].rank; ++a)
      elements *= std::max<int64_t>(table.tensor[t].sizes[a], 1);
    numbers += elements;
  }
  return numbers;
}

Rows rnnc::check::checkOracle(const Subject& subject) {
  Rows rows;
  bool contractive = true;
  uint32_t index = 0;
  newton::CellOp newton64 = subject.newton64;
  for (mlir::Operation* op : newton64.systems()) {
    auto [rate, isOfJacobians] = contraction(subject, index++);
    contractive &= rate < 0;
    rows.push_back({"contraction", mlir::SymbolTable::getSymbolName(op).str(),
                    std::isnan(rate)
                        ? "not measured"
                        : fmt::format("{} {:+.3f} a step: {}",
                                      isOfJacobians ? "log |A| =" : "two runs part at", rate,
                                      rate < 0 ? "contracts" : "does not contract"),
                    true});
  }
  ContextPtr context = makeContext();
  if (!context)
    return {{"interpreter", "", "no context", false}};
  // A cell that does not contract can be compared for a few steps only (SOLVER.md section 8).
  std::vector<int64_t> times =
      contractive ? std::vector<int64_t>{1, 257, 4097} : std::vector<int64_t>{1, 2, 8};
  // Large blocks of a fixed size are compared over as many steps as take seconds, not minutes.
  constexpr int64_t kNumbers = 400'000'000;
  int64_t affordable = kNumbers / kLanes / numbersOfAStep(*subject.f64->table());
  if (subject.isQuick)
    affordable = std::min<int64_t>(affordable, 257);
  llvm::erase_if(times, [&](int64_t time) { return time > 1 && time > affordable; });
  for (auto [type, bound] : {std::pair(RNN_F32, 1e-5), std::pair(RNN_F64, 1e-12)})
    for (int64_t time : times)
      rows.push_back(compareWithInterpreter(
          context.get(), subject, type,
          CallBuffers(type == RNN_F64 ? *subject.f64 : *subject.f32, subject, kLanes, time),
          bound));
  return rows;
}
