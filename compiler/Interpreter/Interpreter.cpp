//===- Interpreter.cpp - steps and whole batches of a program --------------------------------===//

#include "rnnc/Interpreter.h"

#include "Run.h"

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

std::map<std::string, std::vector<int64_t>> Interpreter::delays() const {
  std::map<std::string, std::vector<int64_t>> result;
  for (const Program::Delayed& delayed : program->delayed)
    result[delayName(*program, delayed)] = program->declarations[delayed.input].shape;
  return result;
}

static Expected<Interpreter::Result> runProgram(const Interpreter::Program& program, int64_t batch,
                                                int64_t time, const Arrays& inputs,
                                                const Arrays& params, const Arrays& initial,
                                                const Arrays& earlier, double rounding,
                                                uint64_t seed) {
  Interpreter::Result result;
  Run run(program, batch, time, rounding, seed);
  if (Error error = run.bind(inputs, params, initial, &result))
    return error;
  if (Error error = run.bindEarlier(earlier))
    return error;
  if (Error error = run.execute())
    return error;
  return result;
}

Expected<Interpreter::Result> Interpreter::run(int64_t batch, int64_t time, const Arrays& inputs,
                                               const Arrays& params, const Arrays& initial,
                                               double rounding, uint64_t seed) const {
  return runProgram(*program, batch, time, inputs, params, initial, {}, rounding, seed);
}

Expected<Arrays> Interpreter::step(const Arrays& states, const Arrays& inputs, const Arrays& params,
                                   const Arrays& earlier) const {
  auto addAxes = [](const Arrays& arrays, const std::vector<int64_t>& front) {
    Arrays result;
    for (auto& [name, array] : arrays)
      result[name] = {prepend(front, array.shape), array.data};
    return result;
  };
  auto all = runProgram(*program, 1, 1, addAxes(inputs, {1, 1}), params, addAxes(states, {1}),
                        earlier, 0, 0);
  if (!all)
    return all.takeError();
  Arrays result;
  for (auto& [name, array] : all->sequences)
    result[name] = {{array.shape.begin() + 2, array.shape.end()}, std::move(array.data)};
  return result;
}
