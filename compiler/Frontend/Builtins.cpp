//===- Builtins.cpp - the functions that the language brings ----------------------------------===//

#include "Frontend/Builtins.h"

#include "llvm/ADT/StringMap.h"

using namespace rnnc;
using rnn::BinaryKind;
using rnn::ReduceKind;
using rnn::UnaryKind;

static const llvm::StringMap<Builtin>& table() {
  static const llvm::StringMap<Builtin> builtins = [] {
    llvm::StringMap<Builtin> map;
    for (unsigned i = 0; i <= rnn::getMaxEnumValForUnaryKind(); ++i)
      if (auto kind = rnn::symbolizeUnaryKind(i); kind && *kind != UnaryKind::Neg)
        map[rnn::stringifyUnaryKind(*kind)] = {Builtin::Unary, 1, 1, *kind};
    for (BinaryKind kind : {BinaryKind::Pow, BinaryKind::Atan2})
      map[rnn::stringifyBinaryKind(kind)] = {Builtin::Binary, 2, 2, UnaryKind::Neg, kind};
    for (auto [kind, reduce] :
         {std::pair(BinaryKind::Min, ReduceKind::Min), std::pair(BinaryKind::Max, ReduceKind::Max)})
      map[rnn::stringifyBinaryKind(kind)] = {Builtin::Binary, 1, 2, UnaryKind::Neg, kind, reduce};
    for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Mean})
      map[rnn::stringifyReduceKind(kind)] = {Builtin::Reduce, 1,   1, UnaryKind::Neg,
                                             BinaryKind::Add, kind};
    map["softmax"] = {Builtin::Softmax, 1, 1};
    map["norm"] = {Builtin::Norm, 1, 1};
    map["logsumexp"] = {Builtin::LogSumExp, 1, 1};
    map["where"] = {Builtin::Where, 3, 3};
    map["clamp"] = {Builtin::Clamp, 3, 3};
    map["leaky_relu"] = {Builtin::LeakyRelu, 1, 2};
    map["elu"] = {Builtin::Elu, 1, 2};
    map["concat"] = {Builtin::Concat, 2, Builtin::kAny};
    map["outer"] = {Builtin::Outer, 2, 2};
    map["complex"] = {Builtin::Complex, 2, 2};
    map["re"] = {Builtin::Re, 1, 1};
    map["im"] = {Builtin::Im, 1, 1};
    map["conj"] = {Builtin::Conj, 1, 1};
    map["arg"] = {Builtin::Arg, 1, 1};
    return map;
  }();
  return builtins;
}

const Builtin* rnnc::findBuiltin(llvm::StringRef name) {
  auto it = table().find(name);
  return it == table().end() ? nullptr : &it->second;
}

std::vector<std::string> rnnc::builtinNames() {
  std::vector<std::string> names;
  for (const auto& entry : table())
    names.push_back(entry.first().str());
  std::sort(names.begin(), names.end());
  return names;
}

BinaryKind rnnc::binarySign(llvm::StringRef sign) {
  switch (sign[0]) {
  case '+':
    return BinaryKind::Add;
  case '-':
    return BinaryKind::Sub;
  case '*':
    return BinaryKind::Mul;
  case '/':
    return BinaryKind::Div;
  default:
    return BinaryKind::Pow;
  }
}
