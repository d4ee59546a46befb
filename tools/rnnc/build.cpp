// rnnc build: a stage of the compilation as text, as what a GPU runs, or as what programs link and
// load.
#include "build_cuda.h"
#include "build_module.h"
#include "files.h"
#include "source.h"
#include "verbs.h"

#include "Target/Cpu/Jit.h"

#include <fmt/format.h>

#include <filesystem>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

enum class Stage { Ast, Rnn, Newton, Llvm, Asm, Cuda, Ptx, Cubin, Header, Object, Shared };

struct Kind {
  const char* name;
  Stage stage;
};
constexpr Kind kStages[] = {
    {"ast", Stage::Ast},   {"rnn", Stage::Rnn},     {"newton", Stage::Newton},
    {"llvm", Stage::Llvm}, {"asm", Stage::Asm},     {"cuda", Stage::Cuda},
    {"ptx", Stage::Ptx},   {"cubin", Stage::Cubin}, {"header", Stage::Header}};
constexpr Kind kSuffixes[] = {{".rnn.mlir", Stage::Rnn}, {".mlir", Stage::Newton},
                              {".ll", Stage::Llvm},      {".s", Stage::Asm},
                              {".cu", Stage::Cuda},      {".ptx", Stage::Ptx},
                              {".cubin", Stage::Cubin},  {".h", Stage::Header},
                              {".o", Stage::Object},     {".so", Stage::Shared}};

/// The target whose stage it is; nothing where it belongs to all of them.
std::optional<BackEnd> targetOf(Stage stage) {
  if (stage <= Stage::Newton || stage >= Stage::Header)
    return std::nullopt;
  return stage <= Stage::Asm ? BackEnd::Cpu : BackEnd::Cuda;
}

/// What has code for several architectures in it.
bool isModule(Stage stage) { return stage == Stage::Object || stage == Stage::Shared; }

class StageBuilder {
public:
  StageBuilder(const Options& options, const Console& console)
      : options(options), console(console), source(options, console) {}
  int run();

private:
  int chooseStage();
  int chooseTarget();
  int checkTarget();
  int dump();
  /// The text of a stage; with the places in the user's text where it goes into a file.
  int render(Stage stage, bool places, std::string& text);

  const Options& options;
  const Console& console;
  Source source;
  ModuleBuilder modules{options, console, source};
  Stage stage = Stage::Newton;
  BackEnd target = BackEnd::Cpu;
};

} // namespace

int StageBuilder::chooseStage() {
  if (!options.emit.empty()) {
    for (const Kind& kind : kStages)
      if (options.emit == kind.name) {
        stage = kind.stage;
        return kFine;
      }
    return console.error(fmt::format("--emit: there is no stage '{}'", options.emit),
                         "ast, rnn, newton, llvm, asm, cuda, ptx, cubin or header", kUsage);
  }
  if (options.output.empty())
    return kFine;
  for (const Kind& kind : kSuffixes)
    if (options.output.ends_with(kind.name)) {
      stage = kind.stage;
      return kFine;
    }
  return console.error(fmt::format("{}: its suffix says nothing that can be built", options.output),
                       ".so, .o, .h, .cu, .ptx, .cubin, .ll, .s, .mlir (what is solved) or "
                       ".rnn.mlir (as written)",
                       kUsage);
}

/// What --target says, else the stage, else the architecture.
int StageBuilder::chooseTarget() {
  std::optional<BackEnd> stages = targetOf(stage);
  if (!options.target.empty() && options.target != "cpu" && options.target != "cuda")
    return console.error(fmt::format("--target: '{}' is no target", options.target), "cpu or cuda",
                         kUsage);
  if (!options.target.empty())
    target = options.target == "cuda" ? BackEnd::Cuda : BackEnd::Cpu;
  else
    target = stages.value_or(options.arch.starts_with("sm_") ? BackEnd::Cuda : BackEnd::Cpu);
  if (!stages || *stages == target)
    return kFine;
  return console.error(fmt::format("--target {}: {} is a stage of the other target", options.target,
                                   options.emit.empty() ? options.output : options.emit),
                       *stages == BackEnd::Cuda ? "--target cuda" : "--target cpu", kUsage);
}

int StageBuilder::checkTarget() {
  bool hasGradients = isModule(stage) || stage == Stage::Newton || stage == Stage::Header;
  if (options.gradients && !hasGradients)
    return console.error("--gradients: this stage has no gradients",
                         ".so, .o, .h and .mlir have, and --emit newton", kUsage);
  if (isModule(stage) || stage == Stage::Header)
    return modules.check();
  if (options.arch.find(',') != std::string::npos)
    return console.error("--arch: a list is for .so and .o files", "give one here", kUsage);
  if (target == BackEnd::Cuda)
    return checkCudaOptions(options, console);
  if (auto cpu = cpuTarget(options.arch); !cpu)
    return console.error("--arch: " + llvm::toString(cpu.takeError()),
                         "x86-64-v2, x86-64-v3 or x86-64-v4", kUsage);
  if (namesCudaPolicy(options))
    return console.error("--schedule, --chunk, --chunks, --math and --staging belong to the target "
                         "cuda",
                         "on the CPU a schedule is chosen when a cell runs", kUsage);
  return kFine;
}

int StageBuilder::render(Stage stage, bool places, std::string& text) {
  if (stage == Stage::Ast)
    return source.ast(text);
  if (stage == Stage::Header)
    return modules.header(text);
  if (isModule(stage))
    return modules.build(stage == Stage::Shared, text);
  if (stage == Stage::Rnn && !source.cell())
    return console.error(options.file + ": is past the Rnn dialect already");
  mlir::OwningOpRef<mlir::ModuleOp> lowered;
  mlir::ModuleOp module = source.module();
  if (stage != Stage::Rnn) {
    if (int status = source.lower(computeType(options), lowered, target))
      return status;
    module = *lowered;
  }
  if (stage == Stage::Rnn || stage == Stage::Newton) {
    llvm::raw_string_ostream stream(text);
    module.print(stream, mlir::OpPrintingFlags().enableDebugInfo(places));
    return kFine;
  }
  if (targetOf(stage) == BackEnd::Cuda) {
    CudaBuilder cuda(options, console, source);
    if (int status = cuda.print(module))
      return status;
    if (stage != Stage::Cuda)
      return cuda.compile(stage == Stage::Ptx ? CudaCode::Ptx : CudaCode::Cubin, text);
    text = cuda.text();
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
  const std::pair<Stage, const char*> files[] = {
      {Stage::Ast, ".ast"}, {Stage::Rnn, ".rnn.mlir"}, {Stage::Newton, ".mlir"},
      {Stage::Llvm, ".ll"}, {Stage::Asm, ".s"},        {Stage::Cuda, ".cu"},
      {Stage::Ptx, ".ptx"}, {Stage::Cubin, ".cubin"}};
  bool isIr = options.file.ends_with(".mlir");
  for (auto [stage, suffix] : files) {
    if ((stage == Stage::Ast && isIr) || (stage == Stage::Rnn && !source.cell()) ||
        targetOf(stage).value_or(target) != target)
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
  if (int status = chooseStage())
    return status;
  if (int status = chooseTarget())
    return status;
  if (int status = checkTarget())
    return status;
  if (int status = checkSupported(options, console))
    return status;
  if (int status = source.load())
    return status;
  if (options.gradients)
    source.takeGradients();
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
