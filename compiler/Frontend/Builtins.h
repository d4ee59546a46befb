//===- Builtins.h - the functions that the language brings ------------------------------------===//
#pragma once

#include "Rnn/Rnn.h"

#include <optional>
#include <string>
#include <vector>

namespace rnnc {

struct Builtin {
  enum Kind {
    Unary,
    Binary, // with one argument a reduction, where there is one
    Where,
    Reduce,
    Softmax,
    Norm,
    LogSumExp,
    Clamp,
    LeakyRelu,
    Elu,
    Concat,
    Outer,
    Complex,
    Re,
    Im,
    Conj,
    Arg
  } kind;
  unsigned least, most; // arguments; most is kAny where there is no limit
  rnn::UnaryKind unary = rnn::UnaryKind::Neg;
  rnn::BinaryKind binary = rnn::BinaryKind::Add;
  std::optional<rnn::ReduceKind> reduce = std::nullopt;

  static constexpr unsigned kAny = ~0u;

  /// Whether a call with so many arguments runs over one axis, which it may name.
  bool takesAxis(unsigned arguments) const {
    return kind == Concat || kind == Softmax || kind == Norm || kind == LogSumExp ||
           (reduce && arguments == 1);
  }
};

/// Null where there is no such function.
const Builtin* findBuiltin(llvm::StringRef name);
std::vector<std::string> builtinNames();
/// Of + - * / ^.
rnn::BinaryKind binarySign(llvm::StringRef sign);

} // namespace rnnc
