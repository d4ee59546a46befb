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
  enum Kind : uint8_t { Operator, Paren, CallParen } kind;
  Node node;
  int level = 0;
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
    return fail(cursor.span(), "expected an operator or ')', found " + cursor.found());
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

/// x[t], x[t-2]; the name was read. Other brackets are parts of the language that come later.
bool ExpressionParser::timeIndex(Node node) {
  Span bracket = cursor.span();
  ++cursor.at;
  if (!cursor.isName("t"))
    return fail(bracket, "not supported yet: an index other than a time, as in x[t-1]", "",
                "RNN0307");
  ++cursor.at;
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
  if (cursor.isSign("["))
    return fail(cursor.span(), "not supported yet: a slice of a value", "", "RNN0307");
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
  if (cursor.isSign("["))
    return timeIndex(node);
  emit(node);
  wantsOperand = false;
  return true;
}

bool ExpressionParser::operand() {
  const Token& token = cursor.peek();
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
    return fail(cursor.span(), "not supported yet: the transpose .T", "", "RNN0307");
  if (text == "[")
    return fail(cursor.span(), "not supported yet: an index into an expression",
                "only x[t] and x[t-1] of an input or a state", "RNN0307");
  if (text != ",") {
    done = true;
    return true;
  }
  while (!stack.empty() && stack.back().kind == Pending::Operator)
    reduce();
  if (stack.empty() || stack.back().kind != Pending::CallParen) {
    done = stack.empty();
    return done || fail(cursor.span(), "a comma outside the arguments of a function");
  }
  ++cursor.at;
  if (cursor.isName("axis") && cursor.isSign("=", 1)) {
    cursor.at += 2;
    if (cursor.peek().kind != Token::Name)
      return fail(cursor.span(), "expected the name of an axis");
    stack.back().node.axis = cursor.text(cursor.peek());
    ++cursor.at;
    return cursor.isSign(")") || fail(cursor.span(), "expected ')' after the axis");
  }
  ++stack.back().level;
  wantsOperand = true;
  return true;
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
