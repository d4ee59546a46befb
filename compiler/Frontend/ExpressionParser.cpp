//===- ExpressionParser.cpp - expressions to postfix code -------------------------------------===//
//
// Dijkstra's shunting yard with an explicit stack: nesting costs heap, never the machine's stack.
// Precedence as Python's: or, and, not, comparisons (they do not chain), + -, * / @, unary -, ^.
//
//===----------------------------------------------------------------------------------------------===//

#include "Frontend/ExpressionParser.h"
#include "Frontend/Parser.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace rnnc;
using namespace rnnc::ast;
using llvm::StringRef;

std::string Cursor::found() const {
  if (peek().kind == Token::End)
    return "the end of the file";
  if (peek().kind == Token::Newline)
    return "the end of the line";
  return "'" + text(peek()).take_front(40).str() + (peek().length > 40 ? "...'" : "'");
}

void Cursor::error(Span where, const char* code, std::string text, std::string hint) {
  if (peek().kind != Token::Bad)
    reportAt(diagnostics, where, code, std::move(text), std::move(hint));
}

namespace {

enum Level : int { kOr = 1, kAnd, kNot, kCompare, kSum, kProduct, kUnary, kPower };

/// Something that waits for its operands or for its closing bracket.
struct Pending {
  enum Kind : uint8_t { Operator, Paren, CallParen, Bracket } kind;
  Node node;
  int level = 0; // of an operator; of a call its last argument; of a bracket, see boundEnds
};

class ExpressionParser {
public:
  ExpressionParser(Cursor& cursor, const Limits& limits) : cursor(cursor), limits(limits) {}
  std::optional<Expr> run();

private:
  bool operand();
  bool afterOperand();
  bool name();
  bool timeIndex(Node node);
  bool closeParen();
  Pending* innermost();
  bool openBracket();
  bool lacksBound();
  bool boundEnds(StringRef sign);
  bool transpose();
  bool comma();
  bool axis();
  bool push(Pending pending);
  bool missingValue(const char* hint = "");
  bool unclosed();
  bool pushOperator(Node::Op op, int level, bool rightAssociative = false);
  void reduce();
  void emit(Node node) {
    open.push_back(node.begin);
    code.push_back(node);
  }
  Node make(Node::Op op, const Token& token) {
    Node node{op, {token.offset, token.length}, cursor.text(token), 0, 0, 0, {}, 0, 0};
    node.begin = token.offset;
    node.end = token.offset + token.length;
    return node;
  }
  bool fail(Span where, std::string text, std::string hint = "", const char* c = "RNN0101") {
    cursor.error(where, c, std::move(text), std::move(hint));
    return false;
  }

  Cursor& cursor;
  const Limits& limits;
  Expr code;
  std::vector<uint32_t> open; // source start of each operand that waits
  std::vector<Pending> stack;
  bool wantsOperand = true, done = false;
};

} // namespace

bool ExpressionParser::push(Pending pending) {
  if (static_cast<int64_t>(stack.size()) >= limits.nesting) {
    cursor.error(pending.node.span, "RNN0006",
                 "the expression nests deeper than " + std::to_string(limits.nesting),
                 "name a part of it, or raise the limit with --limit nesting=N");
    return false;
  }
  stack.push_back(std::move(pending));
  return true;
}

/// The operator on top of the stack gets its operands.
void ExpressionParser::reduce() {
  Node node = stack.back().node;
  stack.pop_back();
  bool unary = node.op == Node::Neg || node.op == Node::Not;
  uint32_t end = code.back().end;
  if (!unary)
    open.pop_back();
  node.begin = unary ? node.span.offset : open.back();
  node.end = end;
  open.back() = node.begin;
  code.push_back(node);
}

/// Where the line ends too early the operator is to blame, not what stands on the next line.
bool ExpressionParser::missingValue(const char* hint) {
  const Token& token = cursor.peek();
  bool lineEnds = token.first || token.kind == Token::Newline || token.kind == Token::End;
  if (lineEnds && cursor.at > 0) {
    const Token& before = cursor.tokens[cursor.at - 1];
    return fail({before.offset, before.length},
                "expected a value after '" + cursor.text(before).str() + "'", hint);
  }
  if (cursor.isName("t"))
    hint = "t is the time, as in x[t]; it has no value";
  return fail(cursor.span(), "expected a value, found " + cursor.found(), hint);
}

/// The expression is over and its innermost bracket still open.
bool ExpressionParser::unclosed() {
  const Token& token = cursor.peek();
  Pending opened = stack.back();
  if (!token.first && token.kind != Token::Newline && token.kind != Token::End)
    return fail(cursor.span(), std::string("expected an operator or '") +
                                   (opened.kind == Pending::Bracket ? "]" : ")") + "', found " +
                                   cursor.found());
  bool call = opened.kind == Pending::CallParen;
  return fail(opened.node.span,
              call ? "the bracket of '" + opened.node.text.str() + "(' is never closed"
                   : "this bracket is never closed",
              "", "RNN0102");
}

bool ExpressionParser::pushOperator(Node::Op op, int level, bool rightAssociative) {
  const Token& token = cursor.peek();
  while (!stack.empty() && stack.back().kind == Pending::Operator &&
         (stack.back().level > level || (stack.back().level == level && !rightAssociative))) {
    if (op == Node::Compare && stack.back().node.op == Node::Compare)
      return fail(cursor.span(), "comparisons do not chain", "write a < b and b < c", "RNN0103");
    reduce();
  }
  ++cursor.at;
  wantsOperand = true;
  return push({Pending::Operator, make(op, token), level});
}

/// x[t], x[t-2]; the name was read, and [t follows.
bool ExpressionParser::timeIndex(Node node) {
  cursor.at += 2;
  node.op = Node::At;
  if (cursor.isSign("+"))
    return fail(cursor.span(), "a step cannot read the future", "only [t] and [t-n]", "RNN0105");
  if (cursor.accept("-")) {
    const Token& steps = cursor.peek();
    if (steps.kind != Token::Number || steps.number != std::floor(steps.number) ||
        steps.number > 1e9)
      return fail(cursor.span(), "expected a whole number of steps after 't-'");
    node.back = static_cast<int64_t>(steps.number);
    ++cursor.at;
  }
  if (!cursor.isSign("]"))
    return fail(cursor.span(), "expected ']' after the time");
  node.end = cursor.peek().offset + 1;
  node.span.length = node.end - node.span.offset;
  ++cursor.at;
  emit(node);
  wantsOperand = false;
  return true;
}

/// The bracket that encloses this place.
Pending* ExpressionParser::innermost() {
  for (size_t i = stack.size(); i-- > 0;)
    if (stack[i].kind != Pending::Operator)
      return &stack[i];
  return nullptr;
}

/// a[0:k] of any value: it binds closer than every operator.
bool ExpressionParser::openBracket() {
  Node node = make(Node::Index, cursor.peek());
  ++cursor.at;
  wantsOperand = true;
  return push({Pending::Bracket, node, static_cast<int>(open.size())});
}

/// Where a value could stand: a bound that is left away, as in a[:k].
bool ExpressionParser::lacksBound() {
  if (stack.empty() || stack.back().kind != Pending::Bracket)
    return false;
  const Node& node = stack.back().node;
  bool isSlice = node.slices >> node.items & 1;
  return isSlice ? cursor.isSign("]") || cursor.isSign(",") : cursor.isSign(":");
}

/// One of : , ] within an index. `level` of the bracket is the number of operands before this
/// bound.
bool ExpressionParser::boundEnds(StringRef sign) {
  while (stack.back().kind == Pending::Operator)
    reduce();
  Pending& bracket = stack.back();
  Node& node = bracket.node;
  auto bit = static_cast<uint8_t>(1u << node.items);
  bool isGiven = static_cast<int>(open.size()) > bracket.level, isSlice = node.slices & bit;
  bracket.level = static_cast<int>(open.size());
  node.arguments += isGiven;
  if (sign == ":" && isSlice)
    return fail(cursor.span(), "a slice has no step", "write a[from:to]");
  if (isGiven && (sign == ":" || isSlice))
    (isSlice ? node.to : node.from) |= bit;
  node.end = cursor.span().offset + 1;
  ++cursor.at;
  wantsOperand = sign != "]";
  if (sign == ":") {
    node.slices |= bit;
    return true;
  }
  ++node.items;
  if (sign == "," && node.items == Node::kMaxItems)
    return fail(node.span, "an index has at most " + std::to_string(Node::kMaxItems) + " items");
  if (sign == ",")
    return true;
  open.resize(open.size() - node.arguments);
  node.begin = open.back();
  code.push_back(node);
  stack.pop_back();
  return true;
}

/// a.T
bool ExpressionParser::transpose() {
  Node node = make(Node::Transpose, cursor.peek());
  ++cursor.at;
  if (!cursor.isName("T"))
    return fail(cursor.span(), "expected T after '.', found " + cursor.found(),
                "a.T swaps the last two axes of a");
  node.begin = open.back();
  node.end = cursor.peek().offset + 1;
  node.span.length = node.end - node.span.offset;
  ++cursor.at;
  code.push_back(node);
  return true;
}

bool ExpressionParser::name() {
  const Token& token = cursor.peek();
  StringRef text = cursor.text(token);
  if (text == "not")
    return ++cursor.at, push({Pending::Operator, make(Node::Not, token), kNot});
  ++cursor.at;
  Node node = make(Node::Name, token);
  if (cursor.isSign("(")) {
    node.op = Node::Call;
    ++cursor.at;
    if (!push({Pending::CallParen, node}))
      return false;
    if (!cursor.isSign(")"))
      return true;
    wantsOperand = false; // f(): closeParen counts no argument
    stack.back().level = -1;
    return true;
  }
  if (cursor.isSign("[") && cursor.isName("t", 1))
    return timeIndex(node);
  emit(node);
  wantsOperand = false;
  return true;
}

bool ExpressionParser::operand() {
  const Token& token = cursor.peek();
  if (lacksBound())
    return boundEnds(cursor.text(token));
  if (token.kind == Token::Number) {
    ++cursor.at;
    Node node = make(Node::Number, token);
    node.number = token.number;
    emit(node);
    wantsOperand = false;
    return true;
  }
  if (token.kind == Token::Name)
    return isWord(cursor.text(token)) && !cursor.isName("not") ? missingValue() : name();
  if (cursor.isSign("("))
    return ++cursor.at, push({Pending::Paren, make(Node::Name, token)});
  if (cursor.isSign("-"))
    return ++cursor.at, push({Pending::Operator, make(Node::Neg, token), kUnary});
  if (cursor.isSign("+"))
    return ++cursor.at, true;
  if (!stack.empty() && stack.back().kind == Pending::Bracket && cursor.isSign("]"))
    return missingValue("an element or a range, as in a[0] or a[0:k]");
  bool power =
      cursor.isSign("*") && cursor.at > 0 && cursor.text(cursor.tokens[cursor.at - 1]) == "*";
  return missingValue(power ? "a power is written a ^ b" : "");
}

bool ExpressionParser::closeParen() {
  while (!stack.empty() && stack.back().kind == Pending::Operator)
    reduce();
  if (stack.empty()) {
    done = true; // a bracket of somebody else's
    return true;
  }
  if (stack.back().kind == Pending::Bracket)
    return unclosed();
  const Token& token = cursor.peek();
  Pending opened = stack.back();
  stack.pop_back();
  ++cursor.at;
  if (opened.kind == Pending::CallParen) {
    Node node = opened.node;
    node.arguments = opened.level < 0 ? 0 : opened.level + 1;
    for (uint32_t i = 0; i < node.arguments; ++i)
      open.pop_back();
    node.end = token.offset + 1;
    emit(node);
  } else {
    code.back().begin = open.back() = opened.node.begin;
    code.back().end = token.offset + 1;
  }
  wantsOperand = false;
  return true;
}

bool ExpressionParser::afterOperand() {
  const Token& token = cursor.peek();
  StringRef text = cursor.text(token);
  if (token.kind == Token::Name) {
    if (text == "and")
      return pushOperator(Node::And, kAnd);
    if (text == "or")
      return pushOperator(Node::Or, kOr);
    done = true; // the caller knows whether a name may follow
    return true;
  }
  if (token.kind == Token::Bad)
    return false;
  if (token.kind != Token::Sign) {
    done = true;
    return true;
  }
  int level = llvm::StringSwitch<int>(text)
                  .Cases({"+", "-"}, kSum)
                  .Cases({"*", "/", "@"}, kProduct)
                  .Case("^", kPower)
                  .Cases({"<", "<=", ">", ">=", "==", "!="}, kCompare)
                  .Default(0);
  if (level == kCompare)
    return pushOperator(Node::Compare, kCompare);
  if (level == kPower)
    return pushOperator(Node::Binary, kPower, /*rightAssociative=*/true);
  if (level)
    return pushOperator(Node::Binary, level);
  if (text == ")")
    return closeParen();
  if (text == ".")
    return transpose();
  if (text == "[")
    return openBracket();
  Pending* bracket = innermost();
  if (bracket && bracket->kind == Pending::Bracket && (text == ":" || text == "," || text == "]"))
    return boundEnds(text);
  if (text == ",")
    return comma();
  done = true;
  return true;
}

bool ExpressionParser::comma() {
  while (!stack.empty() && stack.back().kind == Pending::Operator)
    reduce();
  if (stack.empty() || stack.back().kind != Pending::CallParen) {
    done = stack.empty();
    return done || fail(cursor.span(), "a comma outside the arguments of a function");
  }
  ++cursor.at;
  if (cursor.isName("axis") && cursor.isSign("=", 1))
    return axis();
  ++stack.back().level;
  wantsOperand = true;
  return true;
}

/// axis = name, axis = 0, axis = -1; the last argument.
bool ExpressionParser::axis() {
  cursor.at += 2;
  uint32_t begin = cursor.peek().offset;
  bool isNegative = cursor.accept("-");
  const Token& token = cursor.peek();
  bool isNumber = token.kind == Token::Number &&
                  cursor.text(token).find_first_not_of("0123456789") == StringRef::npos;
  if (!isNumber && (isNegative || token.kind != Token::Name))
    return fail(cursor.span(), "expected the name of an axis, or its number");
  stack.back().node.axis =
      StringRef(cursor.source.text)
          .substr(begin - cursor.source.base, token.offset + token.length - begin);
  ++cursor.at;
  return cursor.isSign(")") || fail(cursor.span(), "expected ')' after the axis");
}

std::optional<Expr> ExpressionParser::run() {
  while (!done) {
    if (wantsOperand &&
        (cursor.peek().kind == Token::End || cursor.peek().kind == Token::Newline)) {
      missingValue();
      return std::nullopt;
    }
    if (!(wantsOperand ? operand() : afterOperand()))
      return std::nullopt;
  }
  while (!stack.empty() && stack.back().kind == Pending::Operator)
    reduce();
  if (!stack.empty()) {
    unclosed();
    return std::nullopt;
  }
  return std::move(code);
}

std::optional<Expr> rnnc::parseExpression(Cursor& cursor, const Limits& limits) {
  return ExpressionParser(cursor, limits).run();
}
