//===- Reverse.cpp - reverse mode over one step ----------------------------------------------===//
//
// Rules of their own, written as in a calculus book: the compiler's are compared with them.
//
//===--------------------------------------------------------------------------------------------===//

#include "Reverse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

using namespace rnnc;
using Program = Interpreter::Program;
using Complex = std::complex<double>;

/// f'(x); at a kink the slope of the side that the function takes its value from.
static double slope(rnn::UnaryKind kind, double x) {
  using rnn::UnaryKind;
  const double y = rnn::evaluate(kind, x);
  auto sigmoid = [](double z) { return rnn::evaluate(UnaryKind::Sigmoid, z); };
  switch (kind) {
  case UnaryKind::Neg:
    return -1;
  case UnaryKind::Exp:
    return y;
  case UnaryKind::Expm1:
    return std::exp(x);
  case UnaryKind::Log:
    return 1 / x;
  case UnaryKind::Log1p:
    return 1 / (1 + x);
  case UnaryKind::Sqrt:
    return 0.5 / y;
  case UnaryKind::Rsqrt:
    return -0.5 * y / x;
  case UnaryKind::Sin:
    return std::cos(x);
  case UnaryKind::Cos:
    return -std::sin(x);
  case UnaryKind::Tan:
    return 1 / (std::cos(x) * std::cos(x));
  case UnaryKind::Asin:
    return 1 / std::sqrt((1 - x) * (1 + x));
  case UnaryKind::Acos:
    return -1 / std::sqrt((1 - x) * (1 + x));
  case UnaryKind::Atan:
    return 1 / (1 + x * x);
  case UnaryKind::Sinh:
    return std::cosh(x);
  case UnaryKind::Cosh:
    return std::sinh(x);
  case UnaryKind::Tanh:
    return 1 / (std::cosh(x) * std::cosh(x));
  case UnaryKind::Sigmoid:
    return sigmoid(x) * sigmoid(-x);
  case UnaryKind::Softplus:
    return sigmoid(x);
  case UnaryKind::Relu:
    return x > 0;
  case UnaryKind::Gelu:
    return 0.5 * std::erfc(-x / std::numbers::sqrt2) +
           x * std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  case UnaryKind::Silu:
    return sigmoid(x) + x * sigmoid(x) * sigmoid(-x);
  case UnaryKind::HardSigmoid:
    return x / 6 + 0.5 >= 0 && x / 6 + 0.5 <= 1 ? 1. / 6 : 0;
  case UnaryKind::HardTanh:
    return x >= -1 && x <= 1;
  case UnaryKind::Erf:
    return 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
  case UnaryKind::Abs:
    return x > 0 ? 1 : x < 0 ? -1 : 0;
  case UnaryKind::Sign:
  case UnaryKind::Floor:
    return 0;
  }
  return NAN;
}

/// By a and by b.
static std::array<double, 2> slopes(rnn::BinaryKind kind, double a, double b) {
  using rnn::BinaryKind;
  switch (kind) {
  case BinaryKind::Add:
    return {1, 1};
  case BinaryKind::Sub:
    return {1, -1};
  case BinaryKind::Mul:
    return {b, a};
  case BinaryKind::Div:
    return {1 / b, -a / (b * b)};
  case BinaryKind::Pow:
    return {b * std::pow(a, b - 1), std::pow(a, b) * std::log(a)};
  case BinaryKind::Min:
    return a <= b || a != a ? std::array<double, 2>{1, 0} : std::array<double, 2>{0, 1};
  case BinaryKind::Max:
    return a >= b || a != a ? std::array<double, 2>{1, 0} : std::array<double, 2>{0, 1};
  case BinaryKind::Atan2:
    return {b / (a * a + b * b), -a / (a * a + b * b)};
  }
  return {NAN, NAN};
}

static void reverseElement(const Program::Instruction& op, const Numbers& memory, size_t i,
                           Numbers& adjoint) {
  const double given = adjoint[op.result + i];
  if (given == 0)
    return;
  auto at = [&](unsigned operand) { return op.operands[operand].at(i); };
  switch (op.code) {
  case Program::Code::Unary:
    adjoint[at(0)] += given * slope(static_cast<rnn::UnaryKind>(op.kind), memory[at(0)]);
    break;
  case Program::Code::Binary: {
    auto [byA, byB] = slopes(static_cast<rnn::BinaryKind>(op.kind), memory[at(0)], memory[at(1)]);
    adjoint[at(0)] += given * byA;
    adjoint[at(1)] += given * byB;
    break;
  }
  case Program::Code::Where:
    adjoint[memory[at(0)] != 0 ? at(1) : at(2)] += given;
    break;
  case Program::Code::Copy:
    adjoint[at(0)] += given;
    break;
  case Program::Code::Extreme: { // of equal ones each has its share
    auto isIt = [&](size_t n) { return memory[op.operands[0].at(i, n)] == memory[op.result + i]; };
    size_t equal = 0;
    for (size_t n = 0; n < op.terms; ++n)
      equal += isIt(n);
    for (size_t n = 0; n < op.terms; ++n)
      if (isIt(n))
        adjoint[op.operands[0].at(i, n)] += given / static_cast<double>(equal);
    break;
  }
  case Program::Code::Mean:
    for (size_t n = 0; n < op.terms; ++n)
      adjoint[op.operands[0].at(i, n)] += given / static_cast<double>(op.terms);
    break;
  case Program::Code::Contract:
    for (size_t n = 0; n < op.terms; ++n)
      for (const Program::Operand& operand : op.operands) {
        double others = 1;
        for (const Program::Operand& other : op.operands)
          if (&other != &operand)
            others *= memory[other.at(i, n)];
        adjoint[operand.at(i, n)] += given * others;
      }
    break;
  case Program::Code::Compare:
  case Program::Code::And:
  case Program::Code::Or:
  case Program::Code::Not:
  case Program::Code::Complex: // of complex elements only
    break;
  }
}

/// The adjoint of a complex number z is dL/d Re z + i dL/d Im z; through w = f(z) it is that of w
/// times the conjugate of f'(z).
static void reverseComplex(const Program::Instruction& op, const Numbers& memory, size_t i,
                           Numbers& adjoint) {
  const Complex given{adjoint[op.result + 2 * i], adjoint[op.result + 2 * i + 1]};
  if (given == 0.0)
    return;
  auto value = [&](unsigned operand, size_t term = 0) -> Complex {
    const size_t at = op.operands[operand].at(i, term);
    return {memory[at], op.operands[operand].width == 2 ? memory[at + 1] : 0};
  };
  auto add = [&](unsigned operand, Complex what, size_t term = 0) {
    const size_t at = op.operands[operand].at(i, term);
    adjoint[at] += what.real();
    if (op.operands[operand].width == 2)
      adjoint[at + 1] += what.imag();
  };
  switch (op.code) {
  case Program::Code::Unary:
    add(0, static_cast<rnn::UnaryKind>(op.kind) == rnn::UnaryKind::Exp
               ? given * std::conj(std::exp(value(0)))
               : -given);
    break;
  case Program::Code::Binary:
    switch (static_cast<rnn::BinaryKind>(op.kind)) {
    case rnn::BinaryKind::Mul:
      add(0, given * std::conj(value(1)));
      add(1, given * std::conj(value(0)));
      break;
    case rnn::BinaryKind::Div:
      add(0, given / std::conj(value(1)));
      add(1, -given * std::conj(value(0) / (value(1) * value(1))));
      break;
    default:
      add(0, given);
      add(1, static_cast<rnn::BinaryKind>(op.kind) == rnn::BinaryKind::Sub ? -given : given);
    }
    break;
  case Program::Code::Where:
    add(memory[op.operands[0].at(i)] != 0 ? 1 : 2, given);
    break;
  case Program::Code::Complex:
    adjoint[op.operands[0].at(i)] += given.real();
    adjoint[op.operands[1].at(i)] += given.imag();
    break;
  case Program::Code::Mean:
    for (size_t n = 0; n < op.terms; ++n)
      add(0, given / static_cast<double>(op.terms), n);
    break;
  default: // a sum, or a sum of products
    for (size_t n = 0; n < op.terms; ++n) {
      add(0, op.operands.size() == 1 ? given : given * std::conj(value(1, n)), n);
      if (op.operands.size() == 2)
        add(1, given * std::conj(value(0, n)), n);
    }
  }
}

/// The equations as they stand, last to first.
static void reverseAll(const Program& program, const Numbers& memory, Numbers& adjoint) {
  for (auto op = program.instructions.rbegin(); op != program.instructions.rend(); ++op)
    for (size_t i = 0; i < op->count; ++i)
      (op->isComplex ? reverseComplex : reverseElement)(*op, memory, i, adjoint);
}

/// From the adjoints of the unknowns of one level to those of what their equations make. Its groups
/// do not meet: one pass serves a row of each.
static Numbers solveLevel(const Program& program, const Program::Level& level,
                          const Numbers& memory, const Numbers& ofUnknowns) {
  std::vector<Matrix> left; // (1 - G_u)^T of each group
  size_t largest = 0;
  for (const auto& group : level.groups) {
    left.emplace_back(group.size(), Numbers(group.size()));
    largest = std::max(largest, group.size());
  }
  for (size_t row = 0; row < largest; ++row) {
    Numbers adjoint(memory.size());
    for (const auto& group : level.groups)
      if (row < group.size())
        adjoint[program.unknowns[group[row]].next] = 1;
    reverseAll(program, memory, adjoint);
    for (auto [group, matrix] : llvm::zip_equal(level.groups, left))
      for (size_t column = 0; column < group.size() && row < group.size(); ++column)
        matrix[column][row] = (row == column) - adjoint[program.unknowns[group[column]].guess];
  }
  Numbers result(ofUnknowns.size());
  for (auto [group, matrix] : llvm::zip_equal(level.groups, left)) {
    Numbers right;
    for (uint32_t u : group)
      right.push_back(ofUnknowns[u]);
    Numbers solved = eliminate(matrix, right);
    for (auto [u, value] : llvm::zip_equal(group, solved))
      result[u] = value;
  }
  return result;
}

void rnnc::reverseStep(const Program& program, const Numbers& memory, Numbers& adjoint) {
  Numbers ofUnknowns(program.unknowns.size()); // gathered on the way back
  for (auto [unknown, sum] : llvm::zip_equal(program.unknowns, ofUnknowns))
    sum = std::exchange(adjoint[unknown.next], 0); // which is the solution, not the equation's
  reverseAll(program, memory, adjoint);
  for (auto [unknown, sum] : llvm::zip_equal(program.unknowns, ofUnknowns))
    sum += adjoint[unknown.guess];
  for (auto level = program.levels.rbegin(); level != program.levels.rend(); ++level) {
    const Numbers ofEquations = solveLevel(program, *level, memory, ofUnknowns);
    Numbers through(memory.size());
    for (const auto& group : level->groups)
      for (uint32_t u : group)
        through[program.unknowns[u].next] = ofEquations[u];
    reverseAll(program, memory, through);
    // Those of this level are solved; what they add to earlier ones is theirs to solve.
    for (auto [unknown, sum] : llvm::zip_equal(program.unknowns, ofUnknowns))
      sum += through[unknown.guess];
    for (size_t i = 0; i < adjoint.size(); ++i)
      adjoint[i] += through[i];
  }
}
