//===- golden_test.cpp - bad files and exactly what is said about them -----------------------===//
//
// test/Frontend/errors/NAME.rnn gives NAME.expected, byte for byte. A first line
// `// rnnc --dim k=3 --const tau=2 --limit nesting=8 --root lib` holds options. RNN_UPDATE_GOLDEN=1
// writes the .expected files anew: read the difference before it is committed.
//
//===----------------------------------------------------------------------------------------------===//

#include "support.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

using namespace rnnc;
using namespace rnnc::test;
namespace fs = std::filesystem;

static const fs::path kFolder = fs::path(RNN_SOURCE_DIR) / "test/Frontend/errors";

static std::vector<std::string> badFiles() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".rnn")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The options in the first line; a word that is none of them fails the test.
static FrontendOptions optionsOf(llvm::StringRef text) {
  FrontendOptions options;
  llvm::StringRef line = text.split('\n').first;
  if (!line.consume_front("// rnnc "))
    return options;
  llvm::SmallVector<llvm::StringRef> words;
  line.split(words, ' ');
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    auto [name, value] = words[i + 1].split('=');
    if (words[i] == "--root") {
      options.root = words[i + 1].str();
      continue;
    }
    double number = std::strtod(value.str().c_str(), nullptr);
    if (words[i] == "--dim")
      options.dims[name.str()] = static_cast<int64_t>(number);
    else if (words[i] == "--const")
      options.consts[name.str()] = number;
    else if (words[i] == "--limit" && name == "nesting")
      options.limits.nesting = static_cast<int64_t>(number);
    else if (words[i] == "--limit" && name == "operations")
      options.limits.operations = static_cast<int64_t>(number);
    else if (words[i] == "--limit" && name == "source")
      options.limits.source = static_cast<int64_t>(number);
    else
      ADD_FAILURE() << "unknown option " << words[i].str();
  }
  return options;
}

/// From within the folder, so that messages name the file alone.
static Compiled compileFile(const std::string& name) {
  fs::current_path(kFolder);
  std::string file = name + ".rnn";
  FrontendOptions options = optionsOf(readFile(file));
  Compiled result;
  result.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  if (readSource(file, options.limits, result.diagnostics))
    result.module = parseToRnn(*result.context, options, result.diagnostics);
  return result;
}

class BadFile : public testing::TestWithParam<std::string> {};

TEST_P(BadFile, SaysExactlyThis) {
  Compiled result = compileFile(GetParam());
  std::string said = result.messages();
  fs::path expected = kFolder / (GetParam() + ".expected");
  if (std::getenv("RNN_UPDATE_GOLDEN"))
    std::ofstream(expected, std::ios::binary) << said;
  EXPECT_EQ(said, readFile(expected.string()));
  EXPECT_NE(said, "");
  EXPECT_EQ(said.find("unknown location"), std::string::npos);
  bool onlyWarnings = llvm::all_of(result.diagnostics.all(), [](const Diagnostic& d) {
    return d.severity == Severity::Warning;
  });
  EXPECT_EQ(static_cast<bool>(result.module), onlyWarnings);
}

/// Every message has a place inside its file, or one that it imports, and a code with a long text.
TEST_P(BadFile, HasPlacesAndKnownCodes) {
  Compiled result = compileFile(GetParam());
  for (const Diagnostic& d : result.diagnostics.all()) {
    bool imported = llvm::StringRef(GetParam()).starts_with("import-") &&
                    llvm::StringRef(d.file).starts_with("lib/");
    EXPECT_TRUE(d.file == GetParam() + ".rnn" || imported) << d.file;
    EXPECT_TRUE(findCode(d.code)) << d.code;
    EXPECT_GE(d.length, 1u);
    std::string text = readFile(d.file);
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(text).split(lines, '\n');
    ASSERT_GE(d.line, 1u);
    ASSERT_LE(d.line, lines.size());
    EXPECT_GE(d.column, 1u);
    EXPECT_LE(d.column, lines[d.line - 1].size() + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, BadFile, testing::ValuesIn(badFiles()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Golden, CoversEveryCodeOfTheFrontEnd) {
  std::set<std::string> seen;
  for (const std::string& name : badFiles()) {
    Compiled result = compileFile(name);
    for (const Diagnostic& d : result.diagnostics.all())
      seen.insert(d.code);
  }
  seen.insert("RNN0011"); // thousands of declarations: limits_test
  for (const CodeText* code : allCodes()) {
    llvm::StringRef name = code->code;
    bool ofThePasses = name >= "RNN0400" && name < "RNN0900";
    EXPECT_TRUE(ofThePasses || seen.count(code->code)) << code->code << ": " << code->title;
  }
  EXPECT_GE(badFiles().size(), 80u);
}

/// rules.txt: `what the rule is: file file-*`, where * stands for whatever follows.
TEST(Golden, EachRuleHasAFileAndEachFileARule) {
  std::string text = readFile((kFolder / "rules.txt").string());
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::set<std::string> left;
  for (const std::string& name : badFiles())
    left.insert(name);
  const std::set<std::string> all = left;
  int rules = 0;
  for (llvm::StringRef line : lines) {
    if (line.starts_with("#"))
      continue;
    auto [rule, files] = line.rsplit(':');
    llvm::SmallVector<llvm::StringRef> patterns;
    files.split(patterns, ' ', -1, /*KeepEmpty=*/false);
    EXPECT_FALSE(patterns.empty()) << rule.str() << " has no bad file";
    for (llvm::StringRef pattern : patterns) {
      bool isFamily = pattern.consume_back("*");
      auto belongs = [&](llvm::StringRef name) {
        return isFamily ? name.starts_with(pattern) : name == pattern;
      };
      EXPECT_TRUE(llvm::any_of(all, belongs)) << rule.str() << ": there is no " << pattern.str();
      std::erase_if(left, belongs);
    }
    ++rules;
  }
  EXPECT_GE(rules, 50);
  for (const std::string& name : left)
    ADD_FAILURE() << name << " belongs to no rule";
}

TEST(Golden, EveryExpectationHasItsFile) {
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".expected")
      EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".rnn"))) << entry.path();
}
