// rnnc build: a stage of the compilation as text.
#include "files.h"
#include "source.h"
#include "verbs.h"

#include "Target/Cpu/Jit.h"

#include <fmt/format.h>

#include <filesystem>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

enum class Stage { Ast, Rnn, Newton, Llvm, Asm };

struct Kind {
  const char* name;
  Stage stage;
};
constexpr Kind kStages[] = {{"ast", Stage::Ast},
                            {"rnn", Stage::Rnn},
                            {"newton", Stage::Newton},
                            {"llvm", Stage::Llvm},
                            {"asm", Stage::Asm}};
constexpr Kind kSuffixes[] = {
    {".rnn.mlir", Stage::Rnn}, {".mlir", Stage::Newton}, {".ll", Stage::Llvm}, {".s", Stage::Asm}};
constexpr const char* kLaterStages[] = {"cuda", "ptx", "cubin", "header"};
constexpr const char* kLaterSuffixes[] = {".o", ".so", ".h", ".cu", ".ptx", ".cubin"};

class StageBuilder {
public:
  StageBuilder(const Options& options, const Console& console)
      : options(options), console(console), source(options, console) {}
  int run();

private:
  int checkTarget() const;
  int chooseStage();
  int dump();
  /// The text of a stage; with the places in the user's text where it goes into a file.
  int render(Stage stage, bool places, std::string& text);

  const Options& options;
  const Console& console;
  Source source;
  Stage stage = Stage::Newton;
};

} // namespace

int StageBuilder::checkTarget() const {
  if (options.target == "cuda")
    return console.error("not supported yet: --target cuda");
  if (options.target != "cpu")
    return console.error(fmt::format("--target: '{}' is no target; cpu", options.target), "",
                         kUsage);
  if (options.arch.find(',') != std::string::npos)
    return console.error("not supported yet: several architectures", "give one --arch");
  if (options.arch.starts_with("sm_"))
    return console.error(fmt::format("not supported yet: --arch {}", options.arch));
  if (auto target = cpuTarget(options.arch); !target)
    return console.error("--arch: " + llvm::toString(target.takeError()),
                         "x86-64-v2, x86-64-v3 or x86-64-v4", kUsage);
  return kFine;
}

int StageBuilder::chooseStage() {
  if (!options.emit.empty()) {
    for (const Kind& kind : kStages)
      if (options.emit == kind.name) {
        stage = kind.stage;
        return kFine;
      }
    for (const char* later : kLaterStages)
      if (options.emit == later)
        return console.error(fmt::format("not supported yet: --emit={}", later));
    return console.error(fmt::format("--emit: there is no stage '{}'", options.emit),
                         "ast, rnn, newton, llvm or asm", kUsage);
  }
  if (options.output.empty())
    return kFine;
  for (const Kind& kind : kSuffixes)
    if (options.output.ends_with(kind.name)) {
      stage = kind.stage;
      return kFine;
    }
  for (const char* later : kLaterSuffixes)
    if (options.output.ends_with(later))
      return console.error(fmt::format("{}: not supported yet: {} files", options.output, later));
  return console.error(fmt::format("{}: its suffix says nothing that can be built", options.output),
                       ".ll, .s, .mlir (what is solved) or .rnn.mlir (as written)", kUsage);
}

int StageBuilder::render(Stage stage, bool places, std::string& text) {
  if (stage == Stage::Ast)
    return source.ast(text);
  if (stage == Stage::Rnn && !source.cell())
    return console.error(options.file + ": is past the Rnn dialect already");
  mlir::OwningOpRef<mlir::ModuleOp> lowered;
  mlir::ModuleOp module = source.module();
  if (stage != Stage::Rnn) {
    if (int status = source.lower(computeType(options), lowered))
      return status;
    module = *lowered;
  }
  if (stage == Stage::Rnn || stage == Stage::Newton) {
    llvm::raw_string_ostream stream(text);
    module.print(stream, mlir::OpPrintingFlags().enableDebugInfo(places));
    return kFine;
  }
  auto kernels = emitKernels(module, source.cellName(), options.arch,
                             stage == Stage::Llvm ? KernelText::Llvm : KernelText::Assembly);
  if (!kernels)
    return source.bug(llvm::toString(kernels.takeError()));
  text = std::move(*kernels);
  return kFine;
}

int StageBuilder::dump() {
  std::error_code error;
  std::filesystem::create_directories(options.dumpDir, error);
  if (error)
    return console.error(fmt::format("{}: {}", options.dumpDir, error.message()));
  const std::pair<Stage, const char*> files[] = {{Stage::Ast, ".ast"},
                                                 {Stage::Rnn, ".rnn.mlir"},
                                                 {Stage::Newton, ".mlir"},
                                                 {Stage::Llvm, ".ll"},
                                                 {Stage::Asm, ".s"}};
  bool isIr = options.file.ends_with(".mlir");
  for (auto [stage, suffix] : files) {
    if ((stage == Stage::Ast && isIr) || (stage == Stage::Rnn && !source.cell()))
      continue;
    std::string text, path = options.dumpDir + "/" + source.cellName() + suffix;
    if (int status = render(stage, true, text))
      return status;
    if (int status = writeText(console, path, text))
      return status;
    fmt::print("{}\n", path);
  }
  return kFine;
}

int StageBuilder::run() {
  if (int status = checkTarget())
    return status;
  if (int status = chooseStage())
    return status;
  if (int status = checkSupported(options, console))
    return status;
  if (int status = source.load())
    return status;
  if (!options.dumpDir.empty())
    if (int status = dump())
      return status;
  if (options.emit.empty() && options.output.empty())
    return kFine;
  std::string text;
  if (int status = render(stage, !options.output.empty(), text))
    return status;
  if (!options.output.empty())
    return writeText(console, options.output, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kFine;
}

int rnnc::tool::runBuild(const Options& options) {
  Console console(options);
  return StageBuilder(options, console).run();
}
