//===- imports_test.cpp - which files an import may read, and what it brings -----------------===//
//
// What is said of wrong ones is in test/Frontend/errors/import-*; here is what needs links, pipes
// and folders of its own.
//
//===----------------------------------------------------------------------------------------------===//

#include "support.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace rnnc;
using namespace rnnc::test;
namespace fs = std::filesystem;

namespace {

/// A folder `root` with files, and one beside it that is nobody's business.
class Imports : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("rnnc_imports_" + std::to_string(getpid()));
    fs::remove_all(folder);
    fs::create_directories(folder / "root/lib");
    fs::create_directories(folder / "outside");
    write("outside/secret.rnn", "fn secret(u) = u\n");
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }

  /// Compiles root/main.rnn: the imports, and a cell with `h[t] = value`.
  Compiled compileMain(const std::string& imports, const std::string& value,
                       FrontendOptions options = {}) {
    write("root/main.rnn", imports + cell(value));
    Compiled result;
    result.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    if (readSource(path("root/main.rnn"), options.limits, result.diagnostics))
      result.module = parseToRnn(*result.context, options, result.diagnostics);
    return result;
  }
  static std::string cell(const std::string& value) {
    return "cell C {\n  dim d\n  input x : [d]\n  state h : [d] = 0\n  h[t] = " + value + "\n}\n";
  }
  static std::string onlyText(const Compiled& result) {
    EXPECT_EQ(result.diagnostics.all().size(), 1u) << result.messages();
    return result.diagnostics.all().empty() ? "" : result.diagnostics.all()[0].text;
  }

  fs::path folder;
};

TEST_F(Imports, BringFunctionsWithEverythingThatTheySee) {
  write("root/lib/a.rnn",
        "import \"deep/b.rnn\"\nconst gain = 2\nfn amplify(u) = gain * inner(u)\n");
  fs::create_directories(folder / "root/lib/deep");
  write("root/lib/deep/b.rnn", "const gain = 3\nfn inner(u) = tanh(gain * u)\n");
  // `gain` of the cell is its own; that of each file stays that file's.
  Compiled result = compileMain("import \"lib/a.rnn\"\n", "amplify(h[t-1]) + inner(x[t])");
  EXPECT_EQ(result.messages(), "");
  ASSERT_TRUE(result.module);
  std::string ir = result.ir(/*locations=*/true);
  EXPECT_NE(ir.find("lib/deep/b.rnn\":2:"), std::string::npos) << ir;
  EXPECT_NE(ir.find("lib/a.rnn\":3:"), std::string::npos) << ir;

  FrontendOptions options;
  options.consts["gain"] = 7;
  ir = compileMain("import \"lib/a.rnn\"\n", "amplify(h[t-1]) + x[t]", options).ir();
  EXPECT_NE(ir.find("7.0"), std::string::npos) << ir;
  EXPECT_EQ(ir.find("3.0"), std::string::npos) << ir;
}

TEST_F(Imports, BringCellsBehindTheFilesOwn) {
  write("root/lib/a.rnn", "fn half(u) = 0.5 * u\ncell Other {\n  dim d\n  input x : [d]\n"
                          "  state s : [d]\n  s[t] = half(s[t-1]) + x[t]\n}\n");
  Compiled result = compileMain("import \"lib/a.rnn\"\n", "half(h[t-1]) + x[t]");
  EXPECT_EQ(result.messages(), "");
  std::string ir = result.ir();
  EXPECT_LT(ir.find("rnn.cell @C"), ir.find("rnn.cell @Other")) << ir;
  EXPECT_NE(ir.find("rnn.cell @Other"), std::string::npos) << ir;
  // A file may hold imports alone.
  write("root/only.rnn", "import \"lib/a.rnn\"\n");
  Compiled only = compile("import \"only.rnn\"\n", {.root = path("root")}, "/dev/stdin");
  EXPECT_EQ(only.messages(), "");
}

TEST_F(Imports, OfADiamondAreReadOnce) {
  write("root/lib/base.rnn", "fn base(u) = u * u\ncell Base {\n  dim d\n  input x : [d]\n"
                             "  state s : [d]\n  s[t] = base(s[t-1]) + x[t]\n}\n");
  write("root/lib/left.rnn", "import \"base.rnn\"\nfn left(u) = base(u)\n");
  write("root/lib/right.rnn", "import \"../lib/./base.rnn\"\nfn right(u) = base(u)\n");
  fs::create_symlink("base.rnn", folder / "root/lib/link.rnn");
  Compiled result = compileMain("import \"lib/left.rnn\"\nimport \"lib/right.rnn\"\n"
                                "import \"lib/link.rnn\"\nimport \"lib/left.rnn\"\n",
                                "left(h[t-1]) + right(x[t]) + base(x[t])");
  EXPECT_EQ(result.messages(), "");
  EXPECT_TRUE(result.module);
}

TEST_F(Imports, StayWithinTheRootFolder) {
  fs::create_symlink("../outside/secret.rnn", folder / "root/link.rnn");
  fs::create_symlink("../outside", folder / "root/folder");
  fs::create_symlink("../../outside/nothing.rnn", folder / "root/lib/dangling.rnn");
  fs::create_directories(folder / "root2");
  write("root2/near.rnn", "fn near(u) = u\n");
  for (const char* name :
       {"../outside/secret.rnn", "link.rnn", "folder/secret.rnn", "lib/../../outside/secret.rnn",
        "../outside/nothing.rnn", "../root2/near.rnn", "../nowhere/x.rnn", "../main.rnn"})
    EXPECT_EQ(onlyText(compileMain(std::string("import \"") + name + "\"\n", "0.5 * x[t]")),
              std::string("'") + name + "' leads outside of the root folder");
  // A larger root lets all of them in.
  Compiled result = compileMain("import \"link.rnn\"\nimport \"../root2/near.rnn\"\n",
                                "secret(h[t-1]) + near(x[t])", {.root = path(".")});
  EXPECT_EQ(result.messages(), "");
  // A smaller one keeps the main file's own neighbours out.
  write("root/near.rnn", "fn near(u) = u\n");
  EXPECT_EQ(
      onlyText(compileMain("import \"near.rnn\"\n", "near(x[t])", {.root = path("root/lib")})),
      "'near.rnn' leads outside of the root folder");
  EXPECT_EQ(compileMain("import \"near.rnn\"\n", "near(x[t])", {.root = path("nowhere")})
                .diagnostics.all()
                .front()
                .code,
            "RNN0130");
}

TEST_F(Imports, AreRegularFiles) {
  ASSERT_EQ(mkfifo(path("root/pipe.rnn").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder / "root/zero.rnn");
  fs::create_symlink("loop.rnn", folder / "root/loop.rnn");
  auto text = [&](const char* name) {
    return onlyText(compileMain(std::string("import \"") + name + "\"\n", "f(x[t])"));
  };
  EXPECT_EQ(text("pipe.rnn"), "cannot read 'pipe.rnn': it is no regular file");
  EXPECT_EQ(text("zero.rnn"), "'zero.rnn' leads outside of the root folder");
  EXPECT_EQ(text("lib"), "cannot read 'lib': it is a directory");
  EXPECT_EQ(text("loop.rnn"), "cannot read 'loop.rnn': Too many levels of symbolic links");
  EXPECT_EQ(text("a\tb.rnn"), "this is not the name of a file");
  EXPECT_EQ(text("a\xff.rnn"), "this is not the name of a file");
  std::string large(3000, 'n');
  EXPECT_EQ(text(large.c_str()), "cannot read '" + large + "': File name too long");
  write("root/mine.rnn", "fn f(u) = u\n");
  chmod(path("root/mine.rnn").c_str(), 0);
  if (geteuid() != 0) // root may read everything
    EXPECT_EQ(text("mine.rnn"), "cannot read 'mine.rnn': Permission denied");
}

TEST_F(Imports, CountTogether) {
  write("root/large.rnn", "// " + std::string(600000, 'x') + "\n");
  write("root/larger.rnn", "// " + std::string(600000, 'y') + "\n");
  EXPECT_EQ(compileMain("import \"large.rnn\"\n", "0.5 * h[t-1] + x[t]").messages(), "");
  Compiled result = compileMain("import \"large.rnn\"\nimport \"larger.rnn\"\n", "x[t]");
  EXPECT_EQ(onlyText(result), "with 'larger.rnn' the texts have more than 1048576 bytes");
  // A terabyte that takes no room on the disk.
  fs::resize_file(folder / "root/large.rnn", uintmax_t(1) << 40);
  EXPECT_EQ(onlyText(compileMain("import \"large.rnn\"\n", "x[t]")),
            "with 'large.rnn' the texts have more than 1048576 bytes");
}

TEST_F(Imports, OfATextThatIsNoFileNeedARoot) {
  write("root/lib/a.rnn", "fn half(u) = 0.5 * u\n");
  std::string text = "import \"lib/a.rnn\"\n" + cell("half(h[t-1]) + x[t]");
  for (const char* file : {"/dev/stdin", "/proc/self/fd/0", "nowhere.rnn"}) {
    Compiled without = compile(text, {}, file);
    EXPECT_EQ(onlyText(without), "a text that is no file has no folder to import from");
    EXPECT_EQ(compile(text, {.root = path("root")}, file).messages(), "");
  }
}

TEST_F(Imports, InALongChain) {
  constexpr int kFiles = 3000;
  for (int i = 0; i < kFiles; ++i) {
    std::string next = std::to_string(i + 1);
    write("root/f" + std::to_string(i) + ".rnn",
          i + 1 < kFiles ? "import \"f" + next + ".rnn\"\n" : "fn last(u) = u\n");
  }
  EXPECT_EQ(compileMain("import \"f0.rnn\"\n", "last(h[t-1]) + x[t]").messages(), "");
  write("root/f2999.rnn", "import \"main.rnn\"\n");
  Compiled circle = compileMain("import \"f0.rnn\"\n", "last(h[t-1]) + x[t]");
  ASSERT_EQ(circle.diagnostics.all().size(), 1u);
  EXPECT_EQ(circle.diagnostics.all()[0].code, "RNN0131");
  EXPECT_LT(circle.messages().size(), 1000u);
}

} // namespace
