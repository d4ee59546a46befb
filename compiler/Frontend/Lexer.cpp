//===- Lexer.cpp - text to tokens
//-------------------------------------------------------------------===//

#include "Frontend/Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cmath>
#include <cstdlib>

using namespace rnnc;
using llvm::StringRef;

namespace {

class Lexer {
public:
  explicit Lexer(DiagnosticEngine& diagnostics)
      : diagnostics(diagnostics), source(diagnostics.source()) {}

  std::vector<Token> run();

private:
  void error(size_t offset, size_t length, const char* code, std::string text,
             std::string hint = "") {
    auto [line, column] = diagnostics.lineAndColumn(offset);
    diagnostics.report({Severity::Error, code, std::move(text), std::move(hint), "", line, column,
                        static_cast<unsigned>(length)});
  }
  void push(Token::Kind kind, size_t begin, double number = 0) {
    tokens.push_back(
        {kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(at - begin), number});
  }
  StringRef last() const {
    return tokens.empty() ? StringRef() : source.substr(tokens.back().offset, tokens.back().length);
  }
  /// Bytes of the Greek letter at `at`, 0 where there is none.
  size_t greek() const {
    auto byte = [&](size_t i) { return i < source.size() ? static_cast<uint8_t>(source[i]) : 0; };
    bool letter = (byte(at) == 0xCE && byte(at + 1) >= 0x91 && byte(at + 1) <= 0xBF) ||
                  (byte(at) == 0xCF && byte(at + 1) >= 0x80 && byte(at + 1) <= 0x89);
    return letter ? 2 : 0;
  }
  bool name();
  bool number();
  bool comment();
  bool sign();
  void newline();
  void unknown();

  DiagnosticEngine& diagnostics;
  StringRef source;
  size_t at = 0;
  int64_t depth = 0; // of ( and [
  std::vector<Token> tokens;
};

} // namespace

bool Lexer::name() {
  size_t begin = at;
  while (at < source.size()) {
    if (llvm::isAlnum(source[at]) || source[at] == '_')
      ++at;
    else if (size_t bytes = greek())
      at += bytes;
    else
      break;
  }
  if (at == begin)
    return false;
  push(Token::Name, begin);
  return true;
}

bool Lexer::number() {
  auto digit = [&](size_t i) { return i < source.size() && llvm::isDigit(source[i]); };
  if (!digit(at) && !(source[at] == '.' && digit(at + 1)))
    return false;
  size_t begin = at;
  while (digit(at))
    ++at;
  if (at < source.size() && source[at] == '.') {
    ++at;
    while (digit(at))
      ++at;
  }
  if (at < source.size() && (source[at] == 'e' || source[at] == 'E')) {
    size_t exponent = at + 1;
    if (exponent < source.size() && (source[exponent] == '+' || source[exponent] == '-'))
      ++exponent;
    if (digit(exponent)) {
      at = exponent;
      while (digit(at))
        ++at;
    }
  }
  StringRef text = source.slice(begin, at);
  double value = std::strtod(text.str().c_str(), nullptr);
  if (std::isinf(value))
    error(begin, text.size(), "RNN0003", "the number is too large for float64", "write inf");
  push(Token::Number, begin, value);
  if (at < source.size() && (llvm::isAlpha(source[at]) || source[at] == '_' || greek())) {
    size_t rest = at;
    name();
    tokens.pop_back();
    error(rest, at - rest, "RNN0004", "a name begins right after a number",
          "write '*' between them, or start the name with a letter");
  }
  return true;
}

bool Lexer::comment() {
  StringRef rest = source.substr(at);
  if (rest.starts_with("//")) {
    at += std::min(rest.find('\n'), rest.size());
    return true;
  }
  if (!rest.starts_with("/*"))
    return false;
  size_t end = rest.find("*/", 2);
  if (end == StringRef::npos)
    error(at, 2, "RNN0005", "this comment is never closed", "end it with */");
  at = end == StringRef::npos ? source.size() : at + end + 2;
  return true;
}

bool Lexer::sign() {
  StringRef rest = source.substr(at);
  size_t length = 0;
  for (StringRef two : {"==", "!=", "<=", ">="})
    if (rest.starts_with(two))
      length = 2;
  if (!length && StringRef("+-*/^@=<>()[]{},:.").contains(rest.front()))
    length = 1;
  if (!length)
    return false;
  size_t begin = at;
  at += length;
  push(Token::Sign, begin);
  char c = rest.front();
  if (c == '(' || c == '[')
    ++depth;
  else if (c == ')' || c == ']')
    depth = std::max<int64_t>(0, depth - 1);
  else if (c == '{' || c == '}')
    depth = 0; // an unclosed bracket ends with its line's block
  return true;
}

void Lexer::newline() {
  size_t begin = at++;
  if (tokens.empty() || depth > 0 || tokens.back().kind == Token::Newline)
    return;
  bool continues = tokens.back().kind == Token::Sign && !StringRef(")]{}").contains(last().front());
  if (!continues)
    push(Token::Newline, begin);
}

void Lexer::unknown() {
  auto byte = static_cast<uint8_t>(source[at]);
  size_t length = llvm::getNumBytesForUTF8(byte);
  const auto* begin = reinterpret_cast<const llvm::UTF8*>(source.data() + at);
  bool valid = byte < 0x80 ||
               (at + length <= source.size() && llvm::isLegalUTF8Sequence(begin, begin + length));
  if (byte == 0)
    error(at, 1, "RNN0001", "a NUL byte in the text", "the file is not plain text");
  else if (!valid)
    error(at, 1, "RNN0002", "the text is not valid UTF-8 here", "save the file as UTF-8");
  else
    error(at, length, "RNN0001",
          "unexpected character '" + source.substr(at, byte < 0x80 ? 1 : length).str() + "'",
          source[at] == '%'   ? "there is no remainder operator"
          : source[at] == '!' ? "write 'not'"
          : source[at] == '&' ? "write 'and'"
          : source[at] == '|' ? "write 'or'"
                              : "");
  at += valid && byte >= 0x80 ? length : 1;
  // One message for a run of them.
  while (at < source.size() &&
         (source[at] == 0 || (!valid && static_cast<uint8_t>(source[at]) >= 0x80)))
    ++at;
}

std::vector<Token> Lexer::run() {
  while (at < source.size()) {
    char c = source[at];
    if (c == '\n')
      newline();
    else if (c == ' ' || c == '\t' || c == '\r')
      ++at;
    else if (!(comment() || number() || name() || sign()))
      unknown();
  }
  if (!tokens.empty() && tokens.back().kind != Token::Newline)
    push(Token::Newline, at);
  push(Token::End, at);
  return std::move(tokens);
}

std::vector<Token> rnnc::lex(DiagnosticEngine& diagnostics) { return Lexer(diagnostics).run(); }
