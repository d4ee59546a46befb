//===- diagnostics_test.cpp - how messages are collected and shown ---------------------------===//

#include "support.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <set>

using namespace rnnc;
using namespace rnnc::test;

static std::string json(const DiagnosticEngine& diagnostics) {
  std::string text;
  llvm::raw_string_ostream out(text);
  diagnostics.printJson(out);
  return text;
}

TEST(Diagnostics, JsonIsOneObjectALine) {
  Compiled result = compile(cellOf("  u = sigmod(a)\n  v = \xff\n  h[t] = x[t] * \"b\\\"\n"));
  llvm::SmallVector<llvm::StringRef> lines;
  std::string text = json(result.diagnostics);
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_EQ(lines.size(), result.diagnostics.all().size());
  ASSERT_GE(lines.size(), 3u);
  unsigned last = 0;
  for (llvm::StringRef line : lines) {
    auto value = llvm::json::parse(line);
    ASSERT_TRUE(static_cast<bool>(value)) << line.str();
    const llvm::json::Object* object = value->getAsObject();
    ASSERT_TRUE(object);
    EXPECT_EQ(object->getString("file"), llvm::StringRef("test.rnn"));
    EXPECT_EQ(object->getString("severity"), llvm::StringRef("error"));
    EXPECT_GE(object->getInteger("line").value_or(0), last) << "in the order of the text";
    last = *object->getInteger("line");
    EXPECT_TRUE(llvm::any_of(result.diagnostics.all(), [&](const Diagnostic& d) {
      return object->getInteger("line") == d.line && object->getInteger("column") == d.column &&
             object->getInteger("length") == d.length &&
             object->getString("code") == llvm::StringRef(d.code) &&
             object->getString("text").has_value() &&
             object->getString("hint").value_or("") == llvm::StringRef(d.hint);
    })) << line.str();
  }
}

TEST(Diagnostics, ColoursAreOptional) {
  Compiled result = compile(cellOf("  h[t] = sigmod(a)\n"));
  std::string plain = result.messages(), coloured;
  llvm::raw_string_ostream out(coloured);
  out.enable_colors(true);
  result.diagnostics.print(out, /*color=*/true);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(coloured.find('\x1b'), std::string::npos);
}

TEST(Diagnostics, EveryCodeIsUniqueAndHasALongText) {
  std::set<std::string> seen;
  std::string last;
  for (const CodeText* code : allCodes()) {
    EXPECT_TRUE(seen.insert(code->code).second) << code->code;
    EXPECT_LT(last, code->code) << "the table is in order";
    last = code->code;
    EXPECT_GT(std::string(code->title).size(), 3u);
    EXPECT_GT(std::string(code->text).size(), 20u) << code->code;
    EXPECT_EQ(findCode(code->code), code);
  }
  EXPECT_EQ(findCode("RNN9999"), nullptr);
  EXPECT_EQ(findCode(""), nullptr);
  EXPECT_NE(findCode("rnn0101"), nullptr);
}

TEST(Diagnostics, MlirMessagesGetAPlaceCodeAndCaret) {
  Compiled result = compile(cellOf("  h[t] = a * h[t-1] + b * x[t] * w[t]\n"));
  ASSERT_TRUE(result.module);
  {
    MlirDiagnostics handler(*result.context, result.diagnostics);
    auto place = mlir::FileLineColLoc::get(result.context.get(), "test.rnn", 6, 14);
    auto named = mlir::NameLoc::get(mlir::StringAttr::get(result.context.get(), "u"), place);
    mlir::emitError(named) << "couples too much [RNN0401]";
    mlir::emitWarning(mlir::UnknownLoc::get(result.context.get())) << "from nowhere";
    auto withNote = mlir::emitError(mlir::FusedLoc::get({named}, {}, result.context.get()));
    withNote << "refused";
    withNote.attachNote() << "do this instead";
  }
  EXPECT_EQ(result.messages(), "test.rnn:1:1: warning: from nowhere [RNN0499]\n"
                               "  cell C {\n"
                               "  ^~~~\n"
                               "test.rnn:6:14: error: couples too much [RNN0401]\n"
                               "    h[t] = a * h[t-1] + b * x[t] * w[t]\n"
                               "               ^\n"
                               "test.rnn:6:14: error: refused [RNN0499]\n"
                               "    h[t] = a * h[t-1] + b * x[t] * w[t]\n"
                               "               ^\n"
                               "  hint: do this instead\n");
}

TEST(Diagnostics, StopsAfterTwentyErrors) {
  std::string lines;
  for (int i = 0; i < 1000; ++i)
    lines += "  v" + std::to_string(i) + " = unknown" + std::to_string(i) + "\n";
  Compiled result = compile(cellOf(lines));
  EXPECT_EQ(result.diagnostics.all().size(), 20u);
  EXPECT_NE(result.messages().find("only the first 20 errors"), std::string::npos);
}

TEST(Diagnostics, AnErrorInAFunctionIsSaidOnce) {
  Compiled result =
      compile("fn f(u) = u * gian\nconst gain = 2\n" +
              cellOf("  h[t] = f(a) + f(b) + f(x[t]) + f(w[t]) * gain\n") +
              "cell D {\n  input x : []\n  state s : []\n  s[t] = f(s[t-1]) + x[t]\n}\n");
  EXPECT_EQ(result.diagnostics.errors(), 1u) << result.messages();
}

TEST(Diagnostics, NearestName) {
  EXPECT_EQ(nearest("sigmod", {"sin", "sigmoid", "sign"}), "sigmoid");
  EXPECT_EQ(nearest("x_zz", {"x_z", "x_r"}), "x_z");
  EXPECT_EQ(nearest("a", {"b", "c"}), std::nullopt);
  EXPECT_EQ(nearest("gate", {"tanh", "h"}), std::nullopt);
  EXPECT_EQ(nearest("teh", {}), std::nullopt);
}

TEST(Diagnostics, LineEndsOfWindowsAndByteOrderMark) {
  std::string text = cellOf("  h[t] = a * h[t-1] + b * x[t] * w[t] + oops\n");
  std::string windows = "\xEF\xBB\xBF";
  for (char c : text)
    windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(compile(windows).messages(), compile(text).messages());
}
