//===- Lexer.h - text to tokens
//---------------------------------------------------------------------===//
#pragma once

#include "rnnc/Frontend.h"

#include <vector>

namespace rnnc {

struct Token {
  enum Kind : uint8_t { Name, Number, Sign, Newline, End } kind;
  uint32_t offset, length;
  double number = 0; // of a Number
};

/// Signs are one or two characters. A Newline appears where one ends an equation: not inside
/// parentheses or square brackets, and not after an operator. The last token is End.
std::vector<Token> lex(DiagnosticEngine& diagnostics);

} // namespace rnnc
