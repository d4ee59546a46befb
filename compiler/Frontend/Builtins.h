//===- Builtins.h - the functions that the language brings ------------------------------------===//
#pragma once

#include "Rnn/Rnn.h"

#include <string>
#include <vector>

namespace rnnc {

struct Builtin {
  enum Kind { Unary, Binary, Where, Sum, Clamp, LeakyRelu, Elu, Later } kind;
  unsigned least, most; // arguments
  rnn::UnaryKind unary = rnn::UnaryKind::Neg;
  rnn::BinaryKind binary = rnn::BinaryKind::Add;
};

/// Null where there is no such function.
const Builtin* findBuiltin(llvm::StringRef name);
std::vector<std::string> builtinNames();
/// Of + - * / ^.
rnn::BinaryKind binarySign(llvm::StringRef sign);

} // namespace rnnc
