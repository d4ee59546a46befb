#include "interpret.h"

#include "check/dims.h"
#include "core/elements.hpp"
#include "progress.h"

#include "rnnc/Interpreter.h"

#include <chrono>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

/// The arrays that were given, by the interpreter's words.
struct Arguments {
  Arrays inputs, params, initial;
};

} // namespace

static data::Result<Array> inDouble(const data::HostArray& array) {
  auto wide = data::convert(array, data::DType::F64);
  if (!wide)
    return wide.error();
  auto values = wide->values<double>();
  return Array{wide->shape, {values.begin(), values.end()}};
}

static data::Result<Arguments> gather(const rnn_signature& signature, const CallData& data) {
  Arguments all;
  for (uint32_t i = 0; i < signature.args; ++i) {
    const rnn_arg_desc& arg = signature.arg[i];
    const Bound& bound = data.tensors[arg.tensor];
    if (runtime::isResult(arg.kind) || !bound.array)
      continue;
    auto array = inDouble(*bound.array);
    if (!array)
      return array.error();
    Arrays& to = arg.kind == RNN_ARG_INPUT   ? all.inputs
                 : arg.kind == RNN_ARG_PARAM ? all.params
                                             : all.initial;
    to[signature.table->tensor[arg.tensor].name] = std::move(*array);
  }
  return all;
}

/// The interpreter's results in the order of the arguments, as files and comparisons take them.
static data::Result<std::vector<data::HostArray>> resultsOf(const Interpreter::Result& found,
                                                            const Call& call, data::DType storage) {
  const rnn_signature& signature = call.signature();
  std::vector<data::HostArray> results(signature.args);
  for (uint32_t i = 0; i < signature.args; ++i) {
    const rnn_arg_desc& arg = signature.arg[i];
    if (!runtime::isResult(arg.kind))
      continue;
    const char* name = signature.table->tensor[arg.tensor].name;
    const Array& array =
        arg.kind == RNN_ARG_FINAL ? found.finals.at(name) : found.sequences.at(name);
    const data::HostArray& like = *call.result(arg.kind, arg.tensor);
    auto wide = data::allocate(data::DType::F64, like.shape);
    if (!wide)
      return wide.error();
    std::copy(array.data.begin(), array.data.end(), wide->values<double>().begin());
    auto stored = data::convert(*wide, storage);
    if (!stored)
      return stored.error();
    results[i] = std::move(*stored);
    results[i].complex = like.complex;
  }
  return results;
}

int rnnc::tool::interpret(const Console& console, const Source& source, const CallData& data,
                          data::DType storage, Call& call) {
  rnn::CellOp cell = source.cell();
  if (!cell)
    return console.error("--device interpreter: the file is in the Newton dialect, and the "
                         "interpreter runs cells as they were written");
  auto interpreter = Interpreter::create(cell, check::dimsOf(cell, data.sizes.dims));
  if (!interpreter)
    return console.error(llvm::toString(interpreter.takeError()));
  auto arguments = gather(call.signature(), data);
  if (!arguments)
    return console.error(arguments.error().text);
  Progress progress("interpreting");
  const auto start = std::chrono::steady_clock::now();
  auto found = interpreter->run(data.sizes.batch, data.sizes.time, arguments->inputs,
                                arguments->params, arguments->initial);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (!found)
    return console.error(llvm::toString(found.takeError()));
  auto results = resultsOf(*found, call, storage);
  if (!results)
    return console.error(results.error().text);
  call.take(std::move(*results), taken.count());
  return kFine;
}
