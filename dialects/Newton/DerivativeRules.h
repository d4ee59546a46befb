//===- DerivativeRules.h - the derivatives of functions, as formulas -------------------------===//
//
// Each rule gives dy/dx of y = f(x), or dy/da and dy/db of y = f(a, b), from the arguments and y.
// An E is an expression: + - * / of two of them, of a number and one, and the functions by name.
// So the same rules serve scalars (Derivatives.cpp) and whole arrays.
//
//===--------------------------------------------------------------------------------------------===//
#pragma once

#include <numbers>

namespace rnnc::newton::rules {

template <typename E>
E exp(E, E y) {
  return y;
}
template <typename E>
E expm1(E, E y) {
  return 1 + y;
}
template <typename E>
E log(E x, E) {
  return 1 / x;
}
template <typename E>
E log1p(E x, E) {
  return 1 / (1 + x);
}
template <typename E>
E sqrt(E, E y) {
  return 0.5 / y;
}
template <typename E>
E rsqrt(E x, E y) {
  return -(0.5 * (y / x));
}
template <typename E>
E erf(E x, E) {
  return (2 * std::numbers::inv_sqrtpi) * (-(x * x)).exp();
}
template <typename E>
E sigmoid(E, E y) {
  return y * (1 - y);
}
template <typename E>
E softplus(E x, E) {
  return x.sigmoid();
}

template <typename E>
E sin(E x, E) {
  return x.cos();
}
template <typename E>
E cos(E x, E) {
  return -x.sin();
}
template <typename E>
E tan(E, E y) {
  return 1 + y * y;
}
template <typename E>
E asin(E x, E) {
  return 1 / ((1 - x) * (1 + x)).sqrt();
}
template <typename E>
E acos(E x, E) {
  return -(1 / ((1 - x) * (1 + x)).sqrt());
}
template <typename E>
E atan(E x, E) {
  return 1 / (1 + x * x);
}
template <typename E>
E sinh(E x, E) {
  return x.cosh();
}
template <typename E>
E cosh(E x, E) {
  return x.sinh();
}
template <typename E>
E tanh(E, E y) {
  return 1 - y * y;
}
template <typename E>
E abs(E x, E) {
  return x.sign();
}

template <typename E>
E divByLhs(E, E b, E) {
  return 1 / b;
}
template <typename E>
E divByRhs(E, E b, E y) {
  return -(y / b);
}
template <typename E>
E powByLhs(E a, E b, E) {
  return b * a.pow(b - b.constant(1));
}
template <typename E>
E powByRhs(E a, E, E y) {
  return y * a.log();
}
template <typename E>
E atan2ByLhs(E a, E b, E) {
  return b / (a * a + b * b);
}
template <typename E>
E atan2ByRhs(E a, E b, E) {
  return -(a / (a * a + b * b));
}

} // namespace rnnc::newton::rules
