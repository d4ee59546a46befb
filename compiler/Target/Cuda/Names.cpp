//===- Names.cpp - CUDA's names for the user's names -----------------------------------------===//

#include "Target/Cuda/Names.h"

#include "llvm/ADT/StringExtras.h"

using namespace rnnc::cuda;
using llvm::StringRef;

namespace {

/// Keywords of C++20 and CUDA, what CUDA declares in every unit, macros that compilers define
/// without two underscores, and the words of a printed unit.
constexpr StringRef kReserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
    // CUDA
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize",
    // macros
    "linux", "unix", "i386", "NULL", "NAN", "INFINITY", "HUGE_VAL", "EOF", "errno", "assert",
    "stdin", "stdout", "stderr", "offsetof", "I", "M_PI", "M_E", "RNN_HOST_CUDA",
    // the unit's own
    "real", "math", "rnn", "state", "input", "param", "next", "output", "jacobian", "step",
    "step_jacobian", "states", "inputs", "params", "outputs", "linear", "entries", "carry",
    "scalar", "args"};

constexpr StringRef kGreek[] = {"alpha",   "beta", "gamma", "delta",  "epsilon", "zeta", "eta",
                                "theta",   "iota", "kappa", "lambda", "mu",      "nu",   "xi",
                                "omicron", "pi",   "rho",   "sigma",  "sigma",   "tau",  "upsilon",
                                "phi",     "chi",  "psi",   "omega"};

/// The name of the Greek letter of two bytes, empty where it is none. U+0391 to U+03A9 are the
/// capitals, U+03B1 to U+03C9 the small letters, with final sigma in the place of the gap.
std::string greek(uint8_t first, uint8_t second) {
  if (first != 0xCE && first != 0xCF)
    return "";
  int point = (first & 0x1F) << 6 | (second & 0x3F);
  if (point >= 0x0391 && point <= 0x03A9) {
    std::string name = kGreek[point - 0x0391].str();
    name[0] = llvm::toUpper(name[0]);
    return name;
  }
  return point >= 0x03B1 && point <= 0x03C9 ? kGreek[point - 0x03B1].str() : "";
}

} // namespace

std::string rnnc::cuda::spell(StringRef name) {
  std::string text;
  // C++ keeps a leading `_` (at file scope) and `__` (everywhere) for itself.
  auto underscore = [&] {
    if (!text.empty() && text.back() != '_')
      text += '_';
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (llvm::isAlnum(name[i])) {
      text += name[i];
      continue;
    }
    std::string letter = i + 1 < name.size() ? greek(name[i], name[i + 1]) : "";
    if (letter.empty()) {
      underscore();
      continue;
    }
    // Spelled letters stay words of their own: dα is d_alpha.
    if (!text.empty() && text.back() != '_')
      text += '_';
    text += letter;
    ++i;
  }
  while (!text.empty() && text.back() == '_')
    text.pop_back();
  if (text.empty() || llvm::isDigit(text.front()))
    text.insert(0, "x");
  return text;
}

std::string NameScope::unique(StringRef wanted) {
  std::string name = spell(wanted);
  static const llvm::StringSet<> reserved = [] {
    llvm::StringSet<> words;
    for (StringRef word : kReserved)
      words.insert(word);
    return words;
  }();
  if (!reserved.contains(name) && taken.insert(name).second)
    return name;
  int& suffix = lastSuffix.try_emplace(name, 1).first->second;
  while (true) {
    std::string numbered = name + "_" + std::to_string(++suffix);
    if (taken.insert(numbered).second)
      return numbered;
  }
}
