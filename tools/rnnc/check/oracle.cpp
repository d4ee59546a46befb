// Contraction, and the compiled cell against the interpreter.
#include "check.h"
#include "probe.h"

#include "rnnc/Interpreter.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

using namespace rnnc;
using namespace rnnc::check;

namespace {

/// The interpreter on the same arguments.
llvm::Expected<Interpreter::Result> interpret(const Subject& subject, const CallBuffers& call,
                                              const rnn_module_table& table) {
  auto interpreter = Interpreter::create(subject.cell, call.sizes());
  if (!interpreter)
    return interpreter.takeError();
  Arrays inputs, params, initial;
  for (const auto& argument : call.arguments) {
    Array array{argument.shape, argument.values};
    std::string name = table.tensor[argument.desc.tensor].name;
    if (argument.desc.kind == RNN_ARG_INPUT)
      inputs[name] = array;
    else if (argument.desc.kind == RNN_ARG_PARAM)
      params[name] = array;
    else if (argument.desc.kind == RNN_ARG_INITIAL)
      initial[name] = array;
  }
  return interpreter->run(call.batchSize(), call.timeSize(), inputs, params, initial);
}

/// Rounds what the compiled cell is given, so that both compute on the same numbers.
void roundToF32(CallBuffers& call) {
  for (auto& argument : call.arguments)
    for (double& value : argument.values)
      value = static_cast<float>(value);
}

Row compare(rnn_context* context, const Subject& subject, rnn_dtype type, int64_t time,
            double bound) {
  const CompiledCell& cell = type == RNN_F64 ? *subject.f64 : *subject.f32;
  const rnn_module_table& table = *cell.table();
  std::string title = fmt::format("T = {}", time);
  std::string name = type == RNN_F64 ? "interpreter, f64" : "interpreter, f32";
  CallBuffers call(cell, subject, 3, time);
  if (type == RNN_F32)
    roundToF32(call);
  auto expected = interpret(subject, call, table);
  if (!expected)
    return {name, title, llvm::toString(expected.takeError()), false};
  rnn_plan_options options = call.options(type);
  options.schedule = RNN_SCHEDULE_SEQUENTIAL; // the others have its bits
  if (auto error = call.run(context, options))
    return {name, title, *error, false};
  double worst = 0;
  std::string where;
  for (const auto& argument : call.arguments) {
    if (argument.desc.kind != RNN_ARG_SEQUENCE && argument.desc.kind != RNN_ARG_FINAL)
      continue;
    std::string tensor = table.tensor[argument.desc.tensor].name;
    const Array& right = argument.desc.kind == RNN_ARG_FINAL ? expected->finals.at(tensor)
                                                             : expected->sequences.at(tensor);
    for (size_t i = 0; i < argument.values.size(); ++i)
      if (double far = distance(argument.values[i], right.data[i]); far > worst) {
        worst = far;
        where = fmt::format("{}[t], element {}: {}, the interpreter gives {}", tensor, i,
                            argument.values[i], right.data[i]);
      }
  }
  bool passed = worst <= bound;
  return {name, title, passed ? fmt::format("{:.1e} at most, {:.0e} allowed", worst, bound) : where,
          passed};
}

} // namespace

Rows rnnc::check::checkOracle(const Subject& subject) {
  Rows rows;
  bool contractive = true;
  uint32_t index = 0;
  newton::CellOp newton64 = subject.newton64;
  for (auto op : newton64.ops<newton::SystemOp>()) {
    double rate = contractionRate(subject, index++);
    contractive &= rate < 0;
    rows.push_back({"contraction", op.getSymName().str(),
                    std::isnan(rate) ? "not measured: no Jacobian"
                                     : fmt::format("log |A| = {:+.3f} a step: {}", rate,
                                                   rate < 0 ? "contracts" : "does not contract"),
                    true});
  }
  rnn_context* context = nullptr;
  if (rnn_context_create(&context) != RNN_OK)
    return {{"interpreter", "", "no context", false}};
  // A cell that does not contract can be compared for a few steps only.
  int64_t time = contractive ? 257 : 8;
  double slack = contractive ? 1 : 100;
  rows.push_back(compare(context, subject, RNN_F32, time, 1e-5 * slack));
  rows.push_back(compare(context, subject, RNN_F64, time, 1e-12 * slack));
  rnn_context_destroy(context);
  return rows;
}
