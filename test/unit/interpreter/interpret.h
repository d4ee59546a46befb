//===- interpret.h - an interpreter for the text of a cell ----------------------------------===//
#pragma once

#include "rnnc/Interpreter.h"

#include "Rnn/Rnn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace rnnc::interpreter_test {

struct Parsed {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Parsed(const std::string& text) {
    context.loadDialect<rnn::RnnDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
  }
  rnn::CellOp cell() { return *module->getOps<rnn::CellOp>().begin(); }
};

inline Interpreter interpret(rnn::CellOp cell, const std::map<std::string, int64_t>& dims) {
  auto made = Interpreter::create(cell, dims);
  if (!made) {
    ADD_FAILURE() << llvm::toString(made.takeError());
    abort();
  }
  return std::move(*made);
}

inline Interpreter interpret(const std::string& text, const std::map<std::string, int64_t>& dims) {
  return interpret(Parsed(text).cell(), dims);
}

template <typename T>
T get(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  ADD_FAILURE() << llvm::toString(value.takeError());
  return T();
}

template <typename T>
std::string message(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}

using Doubles = std::vector<double>;
using Shape = std::vector<int64_t>;

} // namespace rnnc::interpreter_test
