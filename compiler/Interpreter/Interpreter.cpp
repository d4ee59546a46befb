//===- Interpreter.cpp - steps and whole batches of a program --------------------------------===//

#include "rnnc/Interpreter.h"

#include "Build.h"

#include <algorithm>

using namespace rnnc;
using llvm::Error;
using llvm::Expected;
using Role = Interpreter::Declaration::Role;

Interpreter::Interpreter(std::unique_ptr<Program> program) : program(std::move(program)) {}
Interpreter::Interpreter(Interpreter&&) noexcept = default;
Interpreter& Interpreter::operator=(Interpreter&&) noexcept = default;
Interpreter::~Interpreter() = default;

Expected<Interpreter> Interpreter::create(rnn::CellOp cell,
                                          const std::map<std::string, int64_t>& dims) {
  auto program = std::make_unique<Program>();
  if (Error error = buildProgram(cell, dims, *program))
    return error;
  return Interpreter(std::move(program));
}

const std::vector<Interpreter::Declaration>& Interpreter::declarations() const {
  return program->declarations;
}

static std::string delayName(const Interpreter::Program& program,
                             const Interpreter::Program::Delayed& delayed) {
  return program.declarations[delayed.input].name + "[t-" + std::to_string(delayed.back) + "]";
}

std::map<std::string, std::vector<int64_t>> Interpreter::delays() const {
  std::map<std::string, std::vector<int64_t>> result;
  for (const Program::Delayed& delayed : program->delayed)
    result[delayName(*program, delayed)] = program->declarations[delayed.input].shape;
  return result;
}

static std::string shapeText(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ")";
}

/// A shape with more axes in front: (batch, time) and the declared ones.
static std::vector<int64_t> prepend(std::vector<int64_t> front, const std::vector<int64_t>& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

/// The array `name` of the shape `front` and the declared one; null where it is absent and may be.
static Expected<const Array*> find(const Arrays& arrays, const Interpreter::Declaration& decl,
                                   const std::vector<int64_t>& front) {
  auto found = arrays.find(decl.name);
  if (found == arrays.end()) {
    if (decl.role == Role::State)
      return nullptr;
    return interpreterError("'" + decl.name + "' is not given");
  }
  std::vector<int64_t> shape = prepend(front, decl.shape);
  size_t count = 1;
  for (int64_t size : shape)
    count *= size;
  if (found->second.shape != shape || found->second.data.size() != count)
    return interpreterError("'" + decl.name + "' is " + shapeText(found->second.shape) +
                            ", expected " + shapeText(shape));
  return &found->second;
}

static Error rejectUnknown(const Arrays& arrays, Role role, const char* what,
                           const std::vector<Interpreter::Declaration>& declarations) {
  for (auto& [name, array] : arrays)
    if (llvm::none_of(declarations,
                      [&, &name = name](auto& d) { return d.role == role && d.name == name; }))
      return interpreterError("'" + name + "' is not " + what + " of the cell");
  return Error::success();
}

namespace {

/// A declared array, its place in the program's memory, and the caller's arrays.
struct Binding {
  const Interpreter::Declaration& decl;
  const Interpreter::Program::Place& place;
  const double* from = nullptr; ///< input, param or initial state
  double* sequence = nullptr;
  double* last = nullptr; ///< final state
};

/// One call: what is bound, and the memory that the steps work in.
class Run {
public:
  Run(const Interpreter::Program& program, int64_t batch, int64_t time)
      : program(program), batch(batch), time(time), memory(program.memory),
        earlier(program.delayed.size()) {}

  Error bind(const Arrays& inputs, const Arrays& params, const Arrays& initial,
             Interpreter::Result& result);
  /// Gives earlier inputs of the first step their values, where `arrays` has them.
  Error bindEarlier(const Arrays& arrays);
  Error execute() {
    for (int64_t b = 0; b < batch; ++b)
      if (Error error = runElement(b))
        return error;
    return Error::success();
  }

private:
  double* produce(Arrays& arrays, const Binding& binding, std::vector<int64_t> front);
  Error runElement(int64_t b);
  void load(const Binding& x, const double* from) {
    std::copy_n(from, x.place.count, &memory[x.place.now]);
  }
  void loadDelayed(int64_t b, int64_t step);

  const Interpreter::Program& program;
  int64_t batch, time;
  std::vector<double> memory;
  std::vector<Binding> bindings;
  std::vector<const double*> earlier; ///< by Program::delayed; null: the declared value
};

} // namespace

double* Run::produce(Arrays& arrays, const Binding& binding, std::vector<int64_t> front) {
  Array& array = arrays[binding.decl.name];
  size_t rows = 1;
  for (int64_t size : front)
    rows *= size;
  array.shape = prepend(std::move(front), binding.decl.shape);
  array.data.resize(rows * binding.place.count);
  return array.data.data();
}

Error Run::bind(const Arrays& inputs, const Arrays& params, const Arrays& initial,
                Interpreter::Result& result) {
  if (batch < 0 || time < 0)
    return interpreterError("batch and time are at least 0");
  for (auto [decl, place] : llvm::zip_equal(program.declarations, program.places)) {
    Binding binding{decl, place};
    Expected<const Array*> given = nullptr;
    if (decl.role == Role::Input)
      given = find(inputs, decl, {batch, time});
    else if (decl.role == Role::Param)
      given = find(params, decl, {});
    else if (decl.role == Role::State)
      given = find(initial, decl, {batch});
    if (!given)
      return given.takeError();
    if (*given)
      binding.from = (*given)->data.data();
    if (decl.role == Role::State || decl.role == Role::Output)
      binding.sequence = produce(result.sequences, binding, {batch, time});
    if (decl.role == Role::State)
      binding.last = produce(result.finals, binding, {batch});
    bindings.push_back(binding);
  }
  return Error::success();
}

Error Run::bindEarlier(const Arrays& arrays) {
  size_t used = 0;
  for (auto [delayed, from] : llvm::zip_equal(program.delayed, earlier)) {
    auto found = arrays.find(delayName(program, delayed));
    if (found == arrays.end())
      continue;
    const Interpreter::Declaration& decl = program.declarations[delayed.input];
    if (found->second.shape != decl.shape ||
        found->second.data.size() != program.places[delayed.input].count)
      return interpreterError("'" + found->first + "' is " + shapeText(found->second.shape) +
                              ", expected " + shapeText(decl.shape));
    from = found->second.data.data();
    ++used;
  }
  if (used < arrays.size())
    return interpreterError("a step reads fewer earlier inputs than are given");
  return Error::success();
}

void Run::loadDelayed(int64_t b, int64_t step) {
  for (auto [delayed, given] : llvm::zip_equal(program.delayed, earlier)) {
    const Binding& x = bindings[delayed.input];
    double* to = &memory[delayed.base];
    if (step >= delayed.back)
      std::copy_n(x.from + (b * time + step - delayed.back) * x.place.count, x.place.count, to);
    else if (given)
      std::copy_n(given, x.place.count, to);
    else
      std::fill_n(to, x.place.count, x.decl.fill);
  }
}

Error Run::runElement(int64_t b) {
  for (const Binding& x : bindings)
    if (x.decl.role == Role::Param)
      load(x, x.from);
    else if (x.decl.role == Role::State && x.from)
      load(x, x.from + b * x.place.count);
    else if (x.decl.role == Role::State)
      std::fill_n(&memory[x.place.now], x.place.count, x.decl.fill);
  for (const Interpreter::Program::Start& start : program.starts)
    if (const Binding& state = bindings[start.state]; !state.from)
      for (auto [i, from] : llvm::enumerate(start.index))
        memory[state.place.now + i] = bindings[start.param].from[from];
  for (int64_t row = b * time; row < (b + 1) * time; ++row) {
    for (const Binding& x : bindings)
      if (x.decl.role == Role::Input)
        load(x, x.from + row * x.place.count);
    loadDelayed(b, row - b * time);
    if (!program.step(memory))
      return interpreterError("an implicit equation found no solution at step " +
                              llvm::Twine(row - b * time) + " (counted from 0) of batch element " +
                              llvm::Twine(b));
    for (const Binding& x : bindings) {
      if (x.sequence)
        std::copy_n(&memory[x.place.next], x.place.count, x.sequence + row * x.place.count);
      if (x.decl.role == Role::State)
        load(x, &memory[x.place.next]);
    }
  }
  for (const Binding& x : bindings)
    if (x.last)
      std::copy_n(&memory[x.place.now], x.place.count, x.last + b * x.place.count);
  return Error::success();
}

static Expected<Interpreter::Result> runProgram(const Interpreter::Program& program, int64_t batch,
                                                int64_t time, const Arrays& inputs,
                                                const Arrays& params, const Arrays& initial,
                                                const Arrays& earlier) {
  if (Error error = rejectUnknown(inputs, Role::Input, "an input", program.declarations))
    return error;
  if (Error error = rejectUnknown(params, Role::Param, "a param", program.declarations))
    return error;
  if (Error error = rejectUnknown(initial, Role::State, "a state", program.declarations))
    return error;
  Interpreter::Result result;
  Run run(program, batch, time);
  if (Error error = run.bind(inputs, params, initial, result))
    return error;
  if (Error error = run.bindEarlier(earlier))
    return error;
  if (Error error = run.execute())
    return error;
  return result;
}

Expected<Interpreter::Result> Interpreter::run(int64_t batch, int64_t time, const Arrays& inputs,
                                               const Arrays& params, const Arrays& initial) const {
  return runProgram(*program, batch, time, inputs, params, initial, {});
}

Expected<Arrays> Interpreter::step(const Arrays& states, const Arrays& inputs, const Arrays& params,
                                   const Arrays& earlier) const {
  auto addAxes = [](const Arrays& arrays, const std::vector<int64_t>& front) {
    Arrays result;
    for (auto& [name, array] : arrays)
      result[name] = {prepend(front, array.shape), array.data};
    return result;
  };
  auto all =
      runProgram(*program, 1, 1, addAxes(inputs, {1, 1}), params, addAxes(states, {1}), earlier);
  if (!all)
    return all.takeError();
  Arrays result;
  for (auto& [name, array] : all->sequences)
    result[name] = {{array.shape.begin() + 2, array.shape.end()}, std::move(array.data)};
  return result;
}
