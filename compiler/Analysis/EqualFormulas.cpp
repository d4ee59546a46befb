//===- EqualFormulas.cpp - which values are equal or opposite as real formulas ---------------===//
//
// Every float value is brought into a normal form: a polynomial over atoms, with exponents of
// either sign. An atom is an argument of the block, or an op applied to normal forms. What grows
// too long becomes an atom itself, so that the work stays linear in the number of ops.

#include "Analysis/EqualFormulas.h"

#include "Newton/Newton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

using namespace mlir;
using namespace rnnc;

namespace {

constexpr size_t kTerms = 16;  // of a polynomial
constexpr size_t kFactors = 8; // of one of its terms

/// Atoms with their exponents, by atom; none twice, no exponent 0.
using Monomial = std::vector<std::pair<int64_t, int64_t>>;
/// No coefficient is 0.
using Polynomial = std::map<Monomial, double>;
/// A polynomial's number and sign.
using Signed = std::pair<int64_t, int64_t>;

} // namespace

class EqualFormulas::Impl {
public:
  Impl(Block& block, ValueRange values);
  Signed numberOf(Value value) const { return signedOf.lookup(value); }

private:
  Signed intern(const Polynomial& polynomial);
  Polynomial polynomialOf(Signed number) const;
  Polynomial atom(const void* what, const void* attributes, std::vector<int64_t> operands);
  Polynomial collapse(const Polynomial& polynomial);
  Polynomial sum(const Polynomial& a, const Polynomial& b, double factor);
  Polynomial product(const Polynomial& a, const Polynomial& b);
  Polynomial inverse(const Polynomial& polynomial);
  Polynomial of(Operation* op);
  Polynomial function(Operation* op);
  Polynomial select(arith::SelectOp op);

  int64_t code(Value value) const {
    Signed number = signedOf.lookup(value);
    return number.first * number.second;
  }
  Polynomial operand(Operation* op, unsigned i) const {
    return polynomialOf(signedOf.lookup(op->getOperand(i)));
  }

  DenseMap<Value, Signed> signedOf;
  std::map<Polynomial, int64_t> numbers;
  std::vector<const Polynomial*> polynomials; // by number, from 1 on; keys of `numbers`
  std::map<std::tuple<const void*, const void*, std::vector<int64_t>>, int64_t> atoms;
};

static Polynomial negated(Polynomial polynomial) {
  for (auto& [monomial, coefficient] : polynomial)
    coefficient = -coefficient;
  return polynomial;
}

static Polynomial constant(double value) {
  return value == 0 ? Polynomial() : Polynomial{{{}, value}};
}

static Monomial timesOf(const Monomial& a, const Monomial& b) {
  std::map<int64_t, int64_t> exponents(a.begin(), a.end());
  for (auto [atom, exponent] : b)
    exponents[atom] += exponent;
  Monomial result;
  for (auto [atom, exponent] : exponents)
    if (exponent)
      result.push_back({atom, exponent});
  return result;
}

/// The first term is positive: of two opposite polynomials one is.
Signed EqualFormulas::Impl::intern(const Polynomial& polynomial) {
  if (!polynomial.empty() && polynomial.begin()->second < 0)
    return {intern(negated(polynomial)).first, -1};
  auto [it, isNew] = numbers.try_emplace(polynomial, polynomials.size() + 1);
  if (isNew)
    polynomials.push_back(&it->first);
  return {it->second, 1};
}

Polynomial EqualFormulas::Impl::polynomialOf(Signed number) const {
  const Polynomial& polynomial = *polynomials[number.first - 1];
  return number.second < 0 ? negated(polynomial) : polynomial;
}

Polynomial EqualFormulas::Impl::atom(const void* what, const void* attributes,
                                     std::vector<int64_t> operands) {
  auto it = atoms.try_emplace({what, attributes, std::move(operands)}, atoms.size()).first;
  return {{{{it->second, 1}}, 1.0}};
}

/// What is long, as one atom that stands for it. Its key is no op's.
Polynomial EqualFormulas::Impl::collapse(const Polynomial& polynomial) {
  if (polynomial.size() <= 1 && (polynomial.empty() || polynomial.begin()->first.size() <= 1))
    return polynomial;
  Signed number = intern(polynomial);
  Polynomial whole = atom(nullptr, nullptr, {number.first});
  return number.second < 0 ? negated(whole) : whole;
}

Polynomial EqualFormulas::Impl::sum(const Polynomial& a, const Polynomial& b, double factor) {
  Polynomial result = a;
  for (auto& [monomial, coefficient] : b) {
    auto it = result.try_emplace(monomial, 0).first;
    it->second += factor * coefficient;
    if (it->second == 0)
      result.erase(it);
  }
  return result.size() > kTerms ? collapse(result) : result;
}

Polynomial EqualFormulas::Impl::product(const Polynomial& a, const Polynomial& b) {
  if (a.size() * b.size() > kTerms)
    return product(a.size() > 1 ? collapse(a) : a, b.size() > 1 ? collapse(b) : b);
  Polynomial result;
  for (auto& [left, leftFactor] : a)
    for (auto& [right, rightFactor] : b) {
      Monomial monomial = timesOf(left, right);
      if (monomial.size() > kFactors)
        return product(collapse(a), collapse(b));
      auto it = result.try_emplace(monomial, 0).first;
      it->second += leftFactor * rightFactor;
      if (it->second == 0)
        result.erase(it);
    }
  return result;
}

Polynomial EqualFormulas::Impl::inverse(const Polynomial& polynomial) {
  Polynomial one = polynomial.size() == 1 ? polynomial : collapse(polynomial);
  if (one.empty()) // 1 / 0
    return atom(nullptr, this, {});
  Monomial monomial = one.begin()->first;
  for (auto& [atom, exponent] : monomial)
    exponent = -exponent;
  return {{monomial, 1 / one.begin()->second}};
}

/// f(-x) is -f(x), f(x), or what else is known of it: functions see the sign that is plus.
Polynomial EqualFormulas::Impl::function(Operation* op) {
  Signed argument = signedOf.lookup(op->getOperand(0));
  bool minus = argument.second < 0;
  const void* name = op->getName().getAsOpaquePointer();
  if (isa<math::TanhOp, math::SinOp, math::TanOp, math::ErfOp, math::AsinOp, math::AtanOp,
          math::SinhOp, newton::SignOp>(op)) {
    Polynomial odd = atom(name, nullptr, {argument.first});
    return minus ? negated(odd) : odd;
  }
  if (isa<math::CosOp, math::CoshOp, math::AbsFOp>(op))
    return atom(name, nullptr, {argument.first});
  if (isa<math::ExpOp>(op)) {
    Polynomial power = atom(name, nullptr, {argument.first});
    return minus ? inverse(power) : power;
  }
  if (isa<newton::SigmoidOp>(op)) {
    Polynomial gate = atom(name, nullptr, {argument.first});
    return minus ? sum(constant(1), gate, -1) : gate;
  }
  return {};
}

Polynomial EqualFormulas::Impl::select(arith::SelectOp op) {
  int64_t condition = code(op.getCondition()), a = code(op.getTrueValue()),
          b = code(op.getFalseValue());
  if (a == b)
    return operand(op, 1);
  // One of two opposite choices is chosen by the sign of the first.
  bool minus = a < 0;
  Polynomial choice = atom(op->getName().getAsOpaquePointer(), nullptr,
                           {condition, minus ? -a : a, minus ? -b : b});
  return minus ? negated(choice) : choice;
}

Polynomial EqualFormulas::Impl::of(Operation* op) {
  FloatAttr number;
  if (matchPattern(op, m_Constant(&number)) && std::isfinite(number.getValueAsDouble()))
    return constant(number.getValueAsDouble());
  if (isa<arith::AddFOp>(op))
    return sum(operand(op, 0), operand(op, 1), 1);
  if (isa<arith::SubFOp>(op))
    return sum(operand(op, 0), operand(op, 1), -1);
  if (isa<arith::NegFOp>(op))
    return negated(operand(op, 0));
  if (isa<arith::MulFOp>(op))
    return product(operand(op, 0), operand(op, 1));
  if (isa<arith::DivFOp>(op))
    return product(operand(op, 0), inverse(operand(op, 1)));
  if (isa<math::FmaOp>(op))
    return sum(product(operand(op, 0), operand(op, 1)), operand(op, 2), 1);
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return select(choice);
  if (op->getNumOperands() == 1)
    if (Polynomial known = function(op); !known.empty())
      return known;
  std::vector<int64_t> operands;
  for (Value value : op->getOperands())
    operands.push_back(code(value));
  return atom(op->getName().getAsOpaquePointer(), op->getAttrDictionary().getAsOpaquePointer(),
              std::move(operands));
}

/// Ops of a block stand in order, so operands come first.
EqualFormulas::Impl::Impl(Block& block, ValueRange values) {
  for (BlockArgument arg : block.getArguments())
    signedOf[arg] = intern(atom(this, this, {arg.getArgNumber()}));
  DenseSet<Operation*> needed;
  SmallVector<Value> work(values);
  while (!work.empty())
    if (Operation* op = work.pop_back_val().getDefiningOp(); op && needed.insert(op).second)
      llvm::append_range(work, op->getOperands());
  for (Operation& op : block)
    if (needed.contains(&op))
      for (OpResult result : op.getResults())
        signedOf[result] = op.getNumResults() == 1 && op.getNumRegions() == 0
                               ? intern(of(&op))
                               : intern(atom(&op, this, {result.getResultNumber()}));
}

EqualFormulas::EqualFormulas(Block& block, ValueRange values)
    : impl(std::make_unique<Impl>(block, values)) {}
EqualFormulas::~EqualFormulas() = default;

std::pair<int64_t, int64_t> EqualFormulas::numberOf(Value value) const {
  return impl->numberOf(value);
}
