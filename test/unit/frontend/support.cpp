//===- support.cpp - what the tests of the front end share -----------------------------------===//

#include "support.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/raw_ostream.h"

#include <fstream>
#include <sstream>

using namespace rnnc;
using namespace rnnc::test;

std::string Compiled::messages() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  diagnostics.print(out, /*color=*/false);
  return text;
}

std::string Compiled::ir(bool locations) {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo(true, /*prettyForm=*/false);
  if (module)
    module->print(out, flags);
  return text;
}

Compiled test::compile(std::string text, const FrontendOptions& options, const std::string& file) {
  Compiled result;
  result.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  result.diagnostics.setSource(file, std::move(text));
  result.module = parseToRnn(*result.context, options, result.diagnostics);
  return result;
}

std::string test::cellOf(const std::string& equations) {
  return "cell C {\n  dim d\n  input x, w : [d]\n  param a, b : [d]\n  state h : [d] = 0\n" +
         equations + "}\n";
}

std::string test::readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
