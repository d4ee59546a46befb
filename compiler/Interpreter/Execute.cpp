//===- Execute.cpp - one step of a program ---------------------------------------------------===//

#include "Implicit.h"

using namespace rnnc;
using Program = Interpreter::Program;

/// One element of an instruction's result. Truth values are 0 and 1.
static double element(const Program::Instruction& op, const std::vector<double>& memory, size_t i) {
  auto value = [&](unsigned operand) { return memory[op.operands[operand].at(i)]; };
  switch (op.code) {
  case Program::Code::Unary:
    return rnn::evaluate(static_cast<rnn::UnaryKind>(op.kind), value(0));
  case Program::Code::Binary:
    return rnn::evaluate(static_cast<rnn::BinaryKind>(op.kind), value(0), value(1));
  case Program::Code::Compare:
    return rnn::evaluate(static_cast<rnn::CompareKind>(op.kind), value(0), value(1));
  case Program::Code::And:
    return value(0) != 0 && value(1) != 0;
  case Program::Code::Or:
    return value(0) != 0 || value(1) != 0;
  case Program::Code::Not:
    return value(0) == 0;
  case Program::Code::Where:
    return value(0) != 0 ? value(1) : value(2);
  case Program::Code::Copy:
    return value(0);
  case Program::Code::Extreme: {
    double extreme = value(0);
    for (size_t n = 1; n < op.terms; ++n)
      extreme = rnn::evaluate(static_cast<rnn::BinaryKind>(op.kind), extreme,
                              memory[op.operands[0].at(i) + n * op.operands[0].stride]);
    return extreme;
  }
  case Program::Code::Contract:
  case Program::Code::Mean:
    break;
  }
  double sum = 0;
  for (size_t n = 0; n < op.terms; ++n) {
    double product = 1;
    for (const Program::Operand& operand : op.operands)
      product *= memory[operand.at(i) + n * operand.stride];
    sum += product;
  }
  return op.code == Program::Code::Mean ? sum / static_cast<double>(op.terms) : sum;
}

void Program::execute(const Instruction& op, std::vector<double>& memory) const {
  for (size_t i = 0; i < op.count; ++i)
    memory[op.result + i] = element(op, memory, i);
}

void Program::execute(std::vector<double>& memory) const {
  for (const Instruction& op : instructions)
    execute(op, memory);
}

bool Program::step(std::vector<double>& memory) const {
  bool solved = solveImplicit(*this, memory);
  execute(memory);
  for (const Unknown& unknown : unknowns)
    memory[unknown.next] = memory[unknown.guess];
  return solved;
}
