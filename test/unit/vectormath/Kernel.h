//===- Kernel.h - functions compiled to loops over arrays ------------------------------------===//
#pragma once

#include "Operations.h"
#include "Sweep.h"
#include "Target/Cpu/Jit.h"

#include "mlir/IR/MLIRContext.h"

#include <map>

namespace vectormath {

struct Shape {
  int64_t width; // of the vectors; 0 is the scalar type
  bool fma = true;
  const char* arch = "native";
};

using elementary::Map; // n is a multiple of the width

/// `steps` times h = f(h * c + d).
template <typename T>
using Chain = void (*)(T* h, const T* c, const T* d, int64_t steps);

/// Compiles for this machine. The code lives as long as this object. Aborts the test on an error.
class Kernels {
public:
  Kernels();
  template <typename T>
  Map<T> map(const Operation& operation, Shape shape);
  template <typename T>
  Chain<T> chain(const Operation& operation, Shape shape);
  /// The machine code of a map, for reading.
  template <typename T>
  std::string assembly(const Operation& operation, Shape shape);

private:
  rnnc::Jit& jit(Shape shape);
  mlir::OwningOpRef<mlir::ModuleOp> mapModule(const Operation& operation, mlir::Type element,
                                              int64_t width, llvm::StringRef name);
  mlir::OwningOpRef<mlir::ModuleOp> chainModule(const Operation& operation, mlir::Type element,
                                                int64_t width, llvm::StringRef name);
  template <typename T>
  mlir::Type type();

  mlir::MLIRContext context;
  std::map<std::pair<std::string, bool>, std::unique_ptr<rnnc::Jit>> jits;
  int count = 0;
};

} // namespace vectormath
