//===- docs_test.cpp - what the documents show is what the compiler takes ---------------------------===//

#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace rnnc;
namespace fs = std::filesystem;

namespace {

struct Snippet {
  std::string name, text;
};

/// The blocks fenced as ```rnn in a file.
std::vector<Snippet> snippets(const fs::path& path) {
  std::ifstream file(path);
  std::vector<Snippet> found;
  bool inside = false;
  int line = 0;
  for (std::string text; std::getline(file, text);) {
    ++line;
    if (!inside && text == "```rnn") {
      inside = true;
      found.push_back({path.filename().string() + ":" + std::to_string(line), ""});
    } else if (inside && text == "```") {
      inside = false;
    } else if (inside) {
      found.back().text += text + "\n";
    }
  }
  return found;
}

TEST(Docs, EverySnippetCompiles) {
  std::vector<Snippet> all = snippets(fs::path(RNN_SOURCE_DIR) / "README.md");
  for (const auto& entry : fs::directory_iterator(fs::path(RNN_SOURCE_DIR) / "docs"))
    if (entry.path().extension() == ".md")
      for (Snippet& snippet : snippets(entry.path()))
        all.push_back(std::move(snippet));
  ASSERT_GE(all.size(), 3u);
  for (const Snippet& snippet : all) {
    auto context = createContext();
    rnnc::DiagnosticEngine diagnostics;
    diagnostics.setSource(snippet.name, snippet.text);
    auto module = parseToRnn(*context, {}, diagnostics);
    bool fine = module && lowerToSolve(*module, {});
    std::string messages;
    llvm::raw_string_ostream stream(messages);
    diagnostics.print(stream, false);
    EXPECT_TRUE(fine) << messages;
    EXPECT_EQ(messages, "") << "a document shows something that the compiler warns of";
  }
}

} // namespace
