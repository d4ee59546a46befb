//===- Run.cpp - a program with a caller's arrays --------------------------------------------===//

#include "Run.h"

#include <algorithm>
#include <span>

using namespace rnnc;
using llvm::Error;
using llvm::Expected;
using Role = Interpreter::Declaration::Role;

std::string rnnc::delayName(const Interpreter::Program& program,
                            const Interpreter::Program::Delayed& delayed) {
  return program.declarations[delayed.input].name + "[t-" + std::to_string(delayed.back) + "]";
}

static std::string shapeText(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ")";
}

static Error checkShape(const Arrays::value_type& given, const std::vector<int64_t>& shape) {
  const auto& [name, array] = given;
  if (array.shape == shape && array.data.size() == countOf(shape))
    return Error::success();
  return interpreterError("'" + name + "' is " + shapeText(array.shape) + ", expected " +
                          shapeText(shape));
}

std::vector<int64_t> rnnc::prepend(std::vector<int64_t> front, const std::vector<int64_t>& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

Expected<const Array*> rnnc::findArray(const Arrays& arrays, const Interpreter::Declaration& decl,
                                       const std::vector<int64_t>& front, bool mayBeAbsent) {
  auto found = arrays.find(decl.name);
  if (found == arrays.end()) {
    if (mayBeAbsent)
      return nullptr;
    return interpreterError("'" + decl.name + "' is not given");
  }
  std::vector<int64_t> shape = prepend(front, decl.shape);
  if (Error error = checkShape(*found, shape))
    return error;
  return &found->second;
}

Error rnnc::rejectUnknown(const Interpreter::Program& program, const Arrays& arrays,
                          std::initializer_list<Role> roles, const char* what) {
  for (auto& [name, array] : arrays)
    if (llvm::none_of(program.declarations, [&, &name = name](auto& d) {
          return llvm::is_contained(roles, d.role) && d.name == name;
        }))
      return interpreterError("'" + name + "' is not " + what + " of the cell");
  return Error::success();
}

double* Run::produce(Arrays& arrays, const Binding& binding, std::vector<int64_t> front) {
  Array& array = arrays[binding.decl.name];
  array.shape = prepend(std::move(front), binding.decl.shape);
  array.data.resize(countOf(array.shape));
  return array.data.data();
}

Error Run::bind(const Arrays& inputs, const Arrays& params, const Arrays& initial,
                Interpreter::Result* result) {
  if (batch < 0 || time < 0)
    return interpreterError("batch and time are at least 0");
  if (Error error = rejectUnknown(program, inputs, {Role::Input}, "an input"))
    return error;
  if (Error error = rejectUnknown(program, params, {Role::Param}, "a param"))
    return error;
  if (Error error = rejectUnknown(program, initial, {Role::State}, "a state"))
    return error;
  for (auto [decl, place] : llvm::zip_equal(program.declarations, program.places)) {
    Binding binding{decl, place};
    Expected<const Array*> given = nullptr;
    if (decl.role == Role::Input)
      given = findArray(inputs, decl, {batch, time}, false);
    else if (decl.role == Role::Param)
      given = findArray(params, decl, {}, false);
    else if (decl.role == Role::State)
      given = findArray(initial, decl, {batch}, true);
    if (!given)
      return given.takeError();
    if (*given)
      binding.from = (*given)->data.data();
    if (result && (decl.role == Role::State || decl.role == Role::Output))
      binding.sequence = produce(result->sequences, binding, {batch, time});
    if (result && decl.role == Role::State)
      binding.last = produce(result->finals, binding, {batch});
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
    if (Error error = checkShape(*found, program.declarations[delayed.input].shape))
      return error;
    from = found->second.data.data();
    ++used;
  }
  if (used < arrays.size())
    return interpreterError("a step reads fewer earlier inputs than are given");
  return Error::success();
}

void Run::loadDelayed(int64_t b, int64_t t) {
  for (auto [delayed, given] : llvm::zip_equal(program.delayed, earlier)) {
    const Binding& x = bindings[delayed.input];
    double* to = &memory[delayed.base];
    if (t >= delayed.back)
      std::copy_n(x.from + (b * time + t - delayed.back) * x.place.count, x.place.count, to);
    else if (given)
      std::copy_n(given, x.place.count, to);
    else
      std::fill_n(to, x.place.count, x.decl.fill);
  }
}

void Run::begin(int64_t b) {
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
}

Error Run::step(int64_t b, int64_t t) {
  for (const Binding& x : bindings)
    if (x.decl.role == Role::Input)
      load(x, x.from + (b * time + t) * x.place.count);
  loadDelayed(b, t);
  if (!program.step(memory))
    return interpreterError("an implicit equation found no solution at step " + llvm::Twine(t) +
                            " (counted from 0) of batch element " + llvm::Twine(b));
  return Error::success();
}

void Run::advance() {
  for (const Binding& x : bindings) {
    if (x.decl.role != Role::State)
      continue;
    load(x, &memory[x.place.next]);
    if (rounding > 0)
      for (double& value : std::span(&memory[x.place.now], x.place.count))
        value *= draw() & 1 ? 1 + rounding : 1 - rounding;
  }
}

Error Run::runElement(int64_t b) {
  begin(b);
  for (int64_t t = 0; t < time; ++t) {
    if (Error error = step(b, t))
      return error;
    for (const Binding& x : bindings)
      if (x.sequence)
        std::copy_n(&memory[x.place.next], x.place.count,
                    x.sequence + (b * time + t) * x.place.count);
    advance();
  }
  for (const Binding& x : bindings)
    if (x.last)
      std::copy_n(&memory[x.place.now], x.place.count, x.last + b * x.place.count);
  return Error::success();
}

Error Run::execute() {
  for (int64_t b = 0; b < batch; ++b)
    if (Error error = runElement(b))
      return error;
  return Error::success();
}
