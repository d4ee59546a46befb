//===- Execute.cpp - one step of a program ---------------------------------------------------===//

#include "Implicit.h"

#include <cmath>
#include <complex>

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
                              memory[op.operands[0].at(i, n)]);
    return extreme;
  }
  case Program::Code::Complex:
  case Program::Code::Contract:
  case Program::Code::Mean:
    break;
  }
  double sum = 0;
  for (size_t n = 0; n < op.terms; ++n) {
    double product = 1;
    for (const Program::Operand& operand : op.operands)
      product *= memory[operand.at(i, n)];
    sum += product;
  }
  return op.code == Program::Code::Mean ? sum / static_cast<double>(op.terms) : sum;
}

static std::complex<double> arithmetic(rnn::BinaryKind kind, std::complex<double> a,
                                       std::complex<double> b) {
  switch (kind) {
  case rnn::BinaryKind::Add:
    return a + b;
  case rnn::BinaryKind::Sub:
    return a - b;
  case rnn::BinaryKind::Mul:
    return a * b;
  default: // the only other one that the dialect has
    return b == 0.0 ? std::complex<double>(NAN, NAN) : a / b;
  }
}

/// By the C++ library's complex numbers: nothing in common with how the compiler makes pairs of
/// them.
static std::complex<double> complexElement(const Program::Instruction& op,
                                           const std::vector<double>& memory, size_t i) {
  auto value = [&](unsigned operand, size_t term = 0) -> std::complex<double> {
    const Program::Operand& from = op.operands[operand];
    size_t at = from.at(i, term);
    return {memory[at], from.width == 2 ? memory[at + 1] : 0};
  };
  switch (op.code) {
  case Program::Code::Unary:
    return static_cast<rnn::UnaryKind>(op.kind) == rnn::UnaryKind::Exp ? std::exp(value(0))
                                                                       : -value(0);
  case Program::Code::Binary:
    return arithmetic(static_cast<rnn::BinaryKind>(op.kind), value(0), value(1));
  case Program::Code::Where:
    return memory[op.operands[0].at(i)] != 0 ? value(1) : value(2);
  case Program::Code::Complex:
    return {value(0).real(), value(1).real()};
  default:
    break;
  }
  std::complex<double> sum = 0;
  for (size_t n = 0; n < op.terms; ++n)
    sum += op.operands.size() == 1 ? value(0, n) : value(0, n) * value(1, n);
  return op.code == Program::Code::Mean ? sum / static_cast<double>(op.terms) : sum;
}

void Program::execute(const Instruction& op, std::vector<double>& memory) const {
  for (size_t i = 0; i < op.count; ++i) {
    if (!op.isComplex) {
      memory[op.result + i] = element(op, memory, i);
      continue;
    }
    std::complex<double> z = complexElement(op, memory, i);
    memory[op.result + 2 * i] = z.real();
    memory[op.result + 2 * i + 1] = z.imag();
  }
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
