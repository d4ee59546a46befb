//===- Jit.cpp - LLVM for this machine -------------------------------------------------------===//

#include "Target/Cpu/Jit.h"
#include "Target/Cpu/LowerToLlvm.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace rnnc;
using llvm::Expected;

static llvm::Error fail(const llvm::Twine& text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

Expected<CpuTarget> rnnc::cpuTarget(llvm::StringRef arch) {
  if (arch == "x86-64-v2")
    return CpuTarget{"x86-64-v2", "", false, 128};
  if (arch == "x86-64-v3")
    return CpuTarget{"x86-64-v3", "", true, 256};
  if (arch == "x86-64-v4")
    return CpuTarget{"x86-64-v4", "+prefer-256-bit,-prefer-256-bit", true, 512};
  if (!arch.empty() && arch != "native")
    return fail("unknown architecture '" + arch + "': x86-64-v2, x86-64-v3, x86-64-v4 or native");
  CpuTarget target;
  target.name = llvm::sys::getHostCPUName().str();
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  llvm::SmallVector<std::string> list;
  for (const auto& feature : features)
    list.push_back((feature.second ? "+" : "-") + feature.first().str());
  bool wide = features.lookup("avx512f") && features.lookup("avx512dq");
  if (wide) // kernels use whole registers; the default tuning of some processors splits them
    list.push_back("-prefer-256-bit");
  target.features = llvm::join(list, ",");
  target.fma = features.lookup("fma") || !llvm::Triple(llvm::sys::getProcessTriple()).isX86();
  target.vectorBits = wide ? 512 : features.lookup("avx2") ? 256 : 128;
  return target;
}

static void initializeLlvm() {
  static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)once;
}

static Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(const CpuTarget& target,
              llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Default) {
  initializeLlvm();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return fail(error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, target.name, target.features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, level));
  if (!machine)
    return fail("LLVM has no code generator for " + target.name);
  return machine;
}

/// Whether a kernel is made without optimisation: where that was asked for, and above so many
/// instructions. It is one block then that no register file holds: the optimiser and the register
/// allocator, whose time grows faster than the block, gain little and cost minutes.
static bool isQuick(const llvm::Module& module, const CpuTarget& target) {
  constexpr unsigned kInstructions = 30000;
  return !target.isOptimized || module.getInstructionCount() > kInstructions;
}

/// Cuts long straight code: what the code generator builds of a block grows faster than the block.
static void cutBlocks(llvm::Module& module) {
  constexpr unsigned kInstructions = 2000;
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::Instruction*> cuts;
    for (llvm::BasicBlock& block : function) {
      unsigned count = 0;
      for (llvm::Instruction& instruction : block)
        if (++count % kInstructions == 0 && !instruction.isTerminator() &&
            !llvm::isa<llvm::PHINode>(instruction))
          cuts.push_back(&instruction);
    }
    for (llvm::Instruction* cut : llvm::reverse(cuts)) // a cut moves what is behind it
      cut->getParent()->splitBasicBlock(cut);
  }
}

static void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O1).run(module, modules);
}

/// Lowers to the LLVM dialect, translates, optimises.
static Expected<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module,
                                                         llvm::LLVMContext& context,
                                                         llvm::TargetMachine& machine,
                                                         const CpuTarget& target) {
  if (failed(lowerToLlvm(module, target.fma)))
    return fail("lowering a kernel to LLVM failed");
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context, "rnn");
  if (!result)
    return fail("translating a kernel to LLVM IR failed");
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : *result) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.name);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (target.vectorBits == 512) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  }
  if (isQuick(*result, target))
    cutBlocks(*result);
  else
    optimize(*result, machine);
  return result;
}

Jit::Jit() = default;
Jit::~Jit() = default;

Expected<std::unique_ptr<Jit>> Jit::create(const CpuTarget& target) {
  initializeLlvm();
  auto machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  auto built = std::unique_ptr<Jit>(new Jit);
  built->target = target;
  built->machine = std::move(*machine);
  llvm::orc::JITTargetMachineBuilder builder(built->machine->getTargetTriple());
  builder.setCPU(target.name);
  builder.addFeatures({target.features});
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  builder.setCodeModel(llvm::CodeModel::Small); // constants by rip, foldable into operands
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!jit)
    return jit.takeError();
  built->jit = std::move(*jit);
  return built;
}

static void takeStackSize(const llvm::DiagnosticInfo* info, void* largest) {
  auto& bytes = *static_cast<uint64_t*>(largest);
  if (auto* stack = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(info))
    bytes = std::max(bytes, stack->getStackSize());
}

using Object = std::unique_ptr<llvm::MemoryBuffer>;

/// Code without optimisation. It computes the same bits: nothing may be contracted or reordered at
/// any level. What a long step keeps for later stands on the stack.
static Expected<Object> compileQuickly(llvm::Module& module, const CpuTarget& target) {
  constexpr uint64_t kStack = 4 << 20; // half of what threads have
  for (llvm::Function& function : module)
    if (!function.isDeclaration())
      function.addFnAttr("warn-stack-size", std::to_string(kStack));
  uint64_t largest = 0;
  module.getContext().setDiagnosticHandlerCallBack(takeStackSize, &largest);
  auto quick = createMachine(target, llvm::CodeGenOptLevel::None);
  if (!quick)
    return quick.takeError();
  auto object = llvm::orc::SimpleCompiler(**quick)(module);
  if (object && largest > kStack)
    return llvm::createStringError(std::errc::value_too_large,
                                   "a step is too long: what it keeps for later takes %llu MiB of "
                                   "a thread's stack, and %llu are there",
                                   static_cast<unsigned long long>(largest >> 20),
                                   static_cast<unsigned long long>(kStack >> 20));
  return object;
}

llvm::Error Jit::addQuickly(llvm::Module& module) {
  auto object = compileQuickly(module, target);
  return object ? jit->addObjectFile(std::move(*object)) : object.takeError();
}

Expected<void*> Jit::compile(mlir::ModuleOp module, llvm::StringRef name) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto translated = translate(module, *context, *machine, target);
  if (!translated)
    return translated.takeError();
  if (auto error = isQuick(**translated, target) ? addQuickly(**translated)
                                                 : jit->addIRModule(llvm::orc::ThreadSafeModule(
                                                       std::move(*translated), std::move(context))))
    return error;
  auto symbol = jit->lookup(name);
  if (!symbol)
    return symbol.takeError();
  return symbol->toPtr<void*>();
}

namespace {
/// A module translated for text: in a context of its own, by a machine of its own.
struct Translated {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};
} // namespace

static Expected<Translated> translateAlone(mlir::ModuleOp module, const CpuTarget& target) {
  Translated result;
  auto machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  result.machine = std::move(*machine);
  auto translated = translate(module, *result.context, *result.machine, target);
  if (!translated)
    return translated.takeError();
  result.module = std::move(*translated);
  if (isQuick(*result.module, target)) {
    auto quick = createMachine(target, llvm::CodeGenOptLevel::None);
    if (!quick)
      return quick.takeError();
    result.machine = std::move(*quick);
  }
  return result;
}

Expected<std::string> rnnc::emitLlvm(mlir::ModuleOp module, const CpuTarget& target) {
  auto translated = translateAlone(module, target);
  if (!translated)
    return translated.takeError();
  std::string text;
  llvm::raw_string_ostream(text) << *translated->module;
  return text;
}

Expected<std::string> rnnc::emitAssembly(mlir::ModuleOp module, const CpuTarget& target) {
  auto translated = translateAlone(module, target);
  if (!translated)
    return translated.takeError();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (translated->machine->addPassesToEmitFile(passes, stream, nullptr,
                                               llvm::CodeGenFileType::AssemblyFile))
    return fail("LLVM cannot write assembly for " + target.name);
  passes.run(*translated->module);
  return text.str().str();
}

static Expected<std::string> bytesOf(Expected<Object> object) {
  if (!object)
    return object.takeError();
  return (*object)->getBuffer().str();
}

Expected<std::string> rnnc::emitObject(mlir::ModuleOp module, const CpuTarget& target) {
  auto machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  auto translated = translate(module, context, **machine, target);
  if (!translated)
    return translated.takeError();
  for (llvm::Function& function : **translated)
    if (!function.isDeclaration())
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  return bytesOf(isQuick(**translated, target)
                     ? compileQuickly(**translated, target)
                     : llvm::orc::SimpleCompiler(**machine)(**translated));
}

Expected<std::string> rnnc::emitObject(llvm::Module& data) {
  auto target = cpuTarget("x86-64-v2");
  if (!target)
    return target.takeError();
  auto machine = createMachine(*target);
  if (!machine)
    return machine.takeError();
  data.setTargetTriple((*machine)->getTargetTriple());
  data.setDataLayout((*machine)->createDataLayout());
  return bytesOf(llvm::orc::SimpleCompiler(**machine)(data));
}
