//===- compiled.cpp - a program through the compiler ------------------------------------------===//

#include "compiled.h"

#include "Target/Cpu/Jit.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace rnnc;
using namespace rnnc::generated;

/// One context for many programs: making one costs more than parsing a cell.
static mlir::MLIRContext& sharedContext() {
  static const std::unique_ptr<mlir::MLIRContext> context = createContext();
  return *context;
}

namespace {

/// A folder for what programs import, with a new content for each.
class ImportFolder {
public:
  ImportFolder() { (void)llvm::sys::fs::createUniqueDirectory("rnnc_generated", root); }
  ~ImportFolder() { (void)llvm::sys::fs::remove_directories(root); }

  void write(const std::map<std::string, std::string>& files) const {
    for (const auto& [name, text] : files) {
      llvm::SmallString<128> path(root);
      llvm::sys::path::append(path, name);
      (void)llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
      std::error_code error; // an import that is not there is told by the front end
      llvm::raw_fd_ostream(path, error) << text;
    }
  }
  llvm::SmallString<128> root;
};

} // namespace

std::string Compiled::messages() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  diagnostics.print(stream, /*color=*/false);
  return text;
}

Compiled::Compiled(const Program& program) : program(program) {
  static const ImportFolder folder;
  FrontendOptions options;
  if (auto files = importedFiles(program); !files.empty()) {
    folder.write(files);
    options.root = folder.root.str().str();
  }
  diagnostics.setSource("generated.rnn", print(program));
  module = parseToRnn(sharedContext(), options, diagnostics);
  if (!module)
    failure = {"front end", messages()};
  else if (mlir::failed(mlir::verify(*module)))
    failure = {"front end", "the module does not verify"};
}

rnn::CellOp Compiled::cell() { return *module->getOps<rnn::CellOp>().begin(); }

mlir::OwningOpRef<mlir::ModuleOp> Compiled::lower(bool isDouble, std::optional<bool> fma) {
  mlir::OwningOpRef<mlir::ModuleOp> newton(module->clone());
  auto target = cpuTarget(program.setting.arch);
  LowerOptions options;
  options.fma = fma.value_or(target && target->fma);
  options.compute = isDouble ? "f64" : "f32";
  if (!target)
    failure = {"lowering", llvm::toString(target.takeError())};
  MlirDiagnostics forward(sharedContext(), diagnostics);
  if (!lowerToSolve(*newton, options) || mlir::failed(mlir::verify(*newton)))
    failure = {"lowering", messages()};
  return newton;
}

std::unique_ptr<CompiledCell> Compiled::compile(mlir::ModuleOp newton) {
  auto made = compileForHost(newton, "", program.setting.arch,
                             program.setting.isOptimised ? Effort::Full : Effort::Quick);
  if (made)
    return std::move(*made);
  failure = {"compiling", llvm::toString(made.takeError())};
  return nullptr;
}

std::optional<CudaUnit> Compiled::cuda(mlir::ModuleOp newton, const CudaOptions& options) {
  MlirDiagnostics forward(sharedContext(), diagnostics);
  std::optional<CudaUnit> unit = emitCuda(newton, "", options);
  if (!unit)
    failure = {"CUDA text", messages()};
  return unit;
}
