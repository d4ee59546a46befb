//===- HostCell.h - a cell's table and its kernels -------------------------------------------===//
#pragma once

#include "Newton/Newton.h"
#include "Target/Cpu/Jit.h"
#include "rnnc/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace rnnc {

/// A cell of the Newton dialect, and what its kernels are made for.
struct CellChoice {
  newton::CellOp cell;
  CpuTarget target;
};

/// The cell of that name, the first where there is none, for `arch` (as cpuTarget takes it).
llvm::Expected<CellChoice> chooseCell(mlir::ModuleOp module, llvm::StringRef name,
                                      llvm::StringRef arch);

class HostCell;

/// With its adjoint, where the module has it. `makeJit` null: nobody runs the cell here.
llvm::Expected<std::unique_ptr<HostCell>>
makeCell(const CellChoice& choice, mlir::ModuleOp module,
         llvm::function_ref<llvm::Expected<std::unique_ptr<Jit>>()> makeJit);

class HostCell : public CompiledCell {
public:
  /// Without a Jit its kernels do nothing: for plans that nobody runs, and for files.
  HostCell(newton::CellOp cell, CpuTarget target, std::unique_ptr<Jit> jit);
  /// Its table's adjoint, from now on.
  void setAdjoint(std::unique_ptr<HostCell> cell);
  /// Null where there is none.
  const HostCell* adjointCell() const { return adjoint.get(); }

  const rnn_module_table* table() const override { return &module; }
  double compileSeconds() const override;
  int64_t compiledKernels() const override;
  std::string lastError() const override;
  bool isTooLong() const override;

  /// The systems, then the stages, as `resolve` of the table counts them.
  uint32_t numOps() const { return ops.size(); }
  /// Null for a product, or an outer one.
  const rnn_system_desc* systemAt(uint32_t index) const;
  bool hasJacobian(uint32_t system) const;
  /// Kernel number `kernel` of a system as the function `name` in a module of its own.
  mlir::OwningOpRef<mlir::ModuleOp> build(uint32_t system, uint32_t kernel, bool jacobian,
                                          llvm::StringRef name) const;

private:
  const char* text(llvm::StringRef string);
  void describeTensors();
  template <typename SystemT>
  rnn_system_desc describe(SystemT system);
  void describeCarry(newton::StructureAttr structure, rnn_system_desc& desc);
  rnn_system_desc describeScalars(newton::SystemOp system);
  rnn_system_desc describeDense(newton::DenseSystemOp system);
  rnn_system_desc describeSystem(mlir::Operation* op);
  void describeStages();
  const rnn_product* describeProduct(newton::ProductOp product);
  const rnn_outer* describeOuter(newton::OuterOp outer);
  void addKernels(rnn_system_desc& desc, mlir::Type compute, int64_t wide);
  std::vector<rnn_slot>& slots(mlir::ArrayAttr list);
  rnn_shoot_fn resolve(uint32_t system, uint32_t kernel, bool jacobian);

  mlir::OwningOpRef<mlir::ModuleOp> owner; // a copy: the caller's module may go
  newton::CellOp cell;
  CpuTarget target;
  std::unique_ptr<Jit> jit; // null: nobody runs the cell

  std::deque<std::string> strings; // stable addresses for everything that the table points to
  std::deque<std::vector<const char*>> names;
  std::deque<std::vector<int64_t>> sizes;
  std::deque<std::vector<rnn_slot>> slotLists;
  std::deque<std::vector<rnn_carry_place>> carryPlaces;
  std::deque<std::vector<rnn_cpu_kernel>> kernels;
  std::vector<rnn_tensor_desc> tensors;
  std::vector<rnn_system_desc> systems;
  std::vector<rnn_stage> stages;
  std::deque<rnn_system_desc> maps;
  std::deque<rnn_product> products;
  std::deque<std::vector<rnn_product_part>> parts;
  std::deque<rnn_outer> outers;
  std::deque<std::vector<rnn_temporary>> temporaries;
  std::vector<mlir::Operation*> ops; // the systems, then the stages
  llvm::StringMap<uint32_t> tensorIndex;
  rnn_module_table module{};
  std::unique_ptr<HostCell> adjoint; // null: none

  mutable std::mutex mutex;
  std::map<std::tuple<uint32_t, uint32_t, bool>, rnn_shoot_fn> compiled;
  double seconds = 0;
  std::string error;
  bool tooLong = false;
};

} // namespace rnnc
