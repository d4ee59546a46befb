//===- Lexer.cpp - text to tokens -------------------------------------------------------------===//

#include "Frontend/Lexer.h"

#include "Frontend/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cmath>
#include <cstdlib>

using namespace rnnc;
using llvm::StringRef;

namespace {

class Lexer {
public:
  Lexer(const SourceText& source, DiagnosticEngine& diagnostics)
      : diagnostics(diagnostics), source(source.text), base(source.base) {}

  Tokens run();

private:
  void error(size_t offset, size_t length, const char* code, std::string text,
             std::string hint = "") {
    reportAt(diagnostics, {static_cast<uint32_t>(base + offset), static_cast<uint32_t>(length)},
             code, std::move(text), std::move(hint));
  }
  void push(Token::Kind kind, size_t begin, double number = 0) {
    tokens.list.push_back({kind, first, static_cast<uint32_t>(base + begin),
                           static_cast<uint32_t>(at - begin), number});
    first = kind == Token::Newline;
  }
  StringRef last() const {
    const Token& token = tokens.list.back();
    return source.substr(token.offset - base, token.length);
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
  bool string();
  bool sign();
  void newline();
  void unknown();

  DiagnosticEngine& diagnostics;
  StringRef source;
  size_t base;
  size_t at = 0;
  int64_t depth = 0; // of ( and [
  bool first = true;
  Tokens tokens;
};

constexpr size_t kMaxName = 255; // bytes

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
  bool tooLong = at - begin > kMaxName;
  if (tooLong)
    error(begin, 1, "RNN0010",
          "this name has " + std::to_string(at - begin) + " bytes, the longest is " +
              std::to_string(kMaxName));
  push(tooLong ? Token::Bad : Token::Name, begin);
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
    while (at < source.size() && (llvm::isAlnum(source[at]) || source[at] == '_' || greek()))
      at += std::max<size_t>(greek(), 1);
    error(rest, at - rest, "RNN0004", "a name begins right after a number",
          "write '*' between them, or start the name with a letter");
    push(Token::Bad, rest);
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
  tokens.truncated |= end == StringRef::npos;
  at = end == StringRef::npos ? source.size() : at + end + 2;
  return true;
}

/// Only `import "file"` has one; it ends on its line.
bool Lexer::string() {
  if (source[at] != '"')
    return false;
  size_t begin = at, end = source.find_first_of("\"\n", at + 1);
  bool closed = end != StringRef::npos && source[end] == '"';
  at = closed ? end + 1 : std::min(end, source.size());
  if (!closed)
    error(begin, 1, "RNN0005", "this text is never closed", "end it with \" on the same line");
  push(closed ? Token::String : Token::Bad, begin);
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
  first = true;
  if (tokens.list.empty() || depth > 0 || tokens.list.back().kind == Token::Newline)
    return;
  bool continues =
      tokens.list.back().kind == Token::Sign && !StringRef(")]{}").contains(last().front());
  if (!continues)
    push(Token::Newline, begin);
}

static const char* hintFor(char c) {
  switch (c) {
  case '%':
    return "there is no remainder operator";
  case '!':
    return "write 'not'";
  case '&':
    return "write 'and'";
  case '|':
    return "write 'or'";
  case ';':
    return "a line ends an equation";
  case '#':
    return "a comment begins with //";
  default:
    return "";
  }
}

/// What no token begins with; one message for a run of the same.
void Lexer::unknown() {
  size_t begin = at;
  auto byte = static_cast<uint8_t>(source[at]);
  size_t length = llvm::getNumBytesForUTF8(byte);
  const auto* bytes = reinterpret_cast<const llvm::UTF8*>(source.data() + at);
  bool valid = byte < 0x80 ||
               (at + length <= source.size() && llvm::isLegalUTF8Sequence(bytes, bytes + length));
  if (!valid) {
    while (at < source.size() && static_cast<uint8_t>(source[at]) >= 0x80 && !greek())
      ++at;
    error(begin, 1, "RNN0002", "the text is not valid UTF-8 here", "save the file as UTF-8");
  } else if (byte < 0x20 || byte == 0x7F) {
    while (at < source.size() && source[at] == source[begin])
      ++at;
    error(begin, 1, "RNN0001", "a control character, byte " + std::to_string(byte),
          "the file is not plain text");
  } else {
    StringRef character = source.substr(at, length);
    while (source.substr(at).starts_with(character))
      at += length;
    error(begin, at - begin, "RNN0001", "unexpected character '" + character.str() + "'",
          hintFor(source[begin]));
  }
  push(Token::Bad, begin);
}

Tokens Lexer::run() {
  if (source.starts_with("\xEF\xBB\xBF")) // a byte order mark
    at = 3;
  while (at < source.size()) {
    char c = source[at];
    if (c == '\n')
      newline();
    else if (c == ' ' || c == '\t' || c == '\r')
      ++at;
    else if (!(comment() || number() || name() || string() || sign()))
      unknown();
  }
  if (!tokens.list.empty() && tokens.list.back().kind != Token::Newline)
    push(Token::Newline, at);
  push(Token::End, at);
  return std::move(tokens);
}

Tokens rnnc::lex(const SourceText& source, DiagnosticEngine& diagnostics) {
  return Lexer(source, diagnostics).run();
}
