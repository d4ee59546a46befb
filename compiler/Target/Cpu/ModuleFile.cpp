//===- ModuleFile.cpp - a cell as an object file or a shared library -------------------------===//

#include "rnnc/ModuleFile.h"

#include "Target/Cpu/HostCell.h"
#include "Target/Cpu/Link.h"
#include "Target/Cpu/TableImage.h"

#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/LLVMContext.h"

using namespace rnnc;
using llvm::Constant;
using llvm::Error;
using llvm::Expected;

namespace {

class ModuleFile {
public:
  ModuleFile(llvm::StringRef cell, const ModuleFileOptions& options)
      : cell(cell), options(options), cuda(options.cuda ? image.cuda(*options.cuda) : nullptr) {}

  Error add(const ModuleVariant& variant);
  Expected<std::string> finish();

private:
  Error addKernels(const HostCell& host, const CpuTarget& target, const std::string& prefix);
  Constant* kernel(const HostCell& host, const std::string& prefix, uint32_t system,
                   uint32_t kernel, bool jacobian);
  /// The table of the cell, whose kernels have names that begin so.
  Expected<Constant*> addTable(const HostCell& host, const CpuTarget& target,
                               const std::string& prefix, Constant* cuda);

  llvm::StringRef cell;
  const ModuleFileOptions& options;
  llvm::LLVMContext context;
  llvm::Module tables{"rnn", context};
  TableImage image{tables};
  Constant* cuda; // shared by the tables of all variants
  std::vector<TableImage::Variant> variants;
  std::vector<std::string> objects;
};

} // namespace

/// Symbols of a kernel: unique among everything that is linked with it, for a cell's name is.
static std::string kernelName(const std::string& prefix, uint32_t system, uint32_t kernel,
                              bool jacobian) {
  return prefix + "." + std::to_string(system) + "." + std::to_string(kernel) +
         (jacobian ? ".jacobian" : ".shoot");
}

Error ModuleFile::addKernels(const HostCell& host, const CpuTarget& target,
                             const std::string& prefix) {
  for (uint32_t system = 0; system < host.numOps(); ++system) {
    const rnn_system_desc* desc = host.systemAt(system);
    for (uint32_t kernel = 0; desc && kernel < desc->kernels; ++kernel)
      for (bool jacobian : {false, true}) {
        if (jacobian && !host.hasJacobian(system))
          continue;
        std::string name = kernelName(prefix, system, kernel, jacobian);
        mlir::OwningOpRef<mlir::ModuleOp> built = host.build(system, kernel, jacobian, name);
        auto object = emitObject(*built, target);
        if (!object)
          return object.takeError();
        objects.push_back(std::move(*object));
      }
  }
  return Error::success();
}

/// Declared here, defined in an object of its own, and seen by nothing outside of the file.
Constant* ModuleFile::kernel(const HostCell& host, const std::string& prefix, uint32_t system,
                             uint32_t kernel, bool jacobian) {
  if (jacobian && !host.hasJacobian(system))
    return nullptr;
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::getUnqual(context)}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                          kernelName(prefix, system, kernel, jacobian), tables);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return function;
}

Expected<Constant*> ModuleFile::addTable(const HostCell& host, const CpuTarget& target,
                                         const std::string& prefix, Constant* cuda) {
  if (Error error = addKernels(host, target, prefix))
    return error;
  Constant* adjoint = nullptr;
  if (const HostCell* gradients = host.adjointCell()) {
    auto table = addTable(*gradients, target, prefix + ".adjoint", nullptr);
    if (!table)
      return table.takeError();
    adjoint = *table;
  }
  return image.table(*host.table(), cuda, adjoint,
                     [&](uint32_t system, uint32_t number, bool jacobian) {
                       return kernel(host, prefix, system, number, jacobian);
                     });
}

Error ModuleFile::add(const ModuleVariant& variant) {
  auto choice = chooseCell(variant.newton, cell, variant.target);
  if (!choice)
    return choice.takeError();
  auto host = makeCell(*choice, variant.newton, {});
  if (!host)
    return host.takeError();
  auto table = addTable(**host, choice->target, ("rnn." + cell + "." + variant.target).str(), cuda);
  if (!table)
    return table.takeError();
  variants.push_back({variant.target, *table});
  return Error::success();
}

Expected<std::string> ModuleFile::finish() {
  llvm::GlobalVariable* bundle = image.bundle(bundleSymbol(cell), cell, options.manifest, variants);
  if (options.shared)
    llvm::GlobalAlias::create(llvm::GlobalValue::ExternalLinkage, RNN_BUNDLE_SYMBOL, bundle);
  auto object = emitObject(tables);
  if (!object)
    return object.takeError();
  objects.push_back(std::move(*object));
  return link(objects, options.shared ? LinkKind::Shared : LinkKind::Relocatable);
}

std::string rnnc::bundleSymbol(llvm::StringRef cell) { return ("rnn_cell_" + cell).str(); }

Expected<std::string> rnnc::emitModuleFile(llvm::StringRef cell,
                                           llvm::ArrayRef<ModuleVariant> variants,
                                           const ModuleFileOptions& options) {
  ModuleFile file(cell, options);
  for (const ModuleVariant& variant : variants)
    if (Error error = file.add(variant))
      return error;
  return file.finish();
}
