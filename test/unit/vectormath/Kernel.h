//===- Kernel.h - functions compiled to loops over arrays ===//
#pragma once

#include "Functions.h"
#include "Target/Cpu/Jit.h"

#include "mlir/IR/MLIRContext.h"

namespace vectormath {

struct Shape {
  int64_t width; // of the vectors; 0 is the scalar type
  bool fma = true;
};

/// out[i] = f(a[i], b[i]) for n elements, n a multiple of the width; b is unused for one argument.
template <typename T>
using Map = void (*)(const T* a, const T* b, T* out, int64_t n);

/// `steps` times h = f(h * c + d), or, interleaved, the same for `vectors` independent h.
template <typename T>
using Chain = void (*)(T* h, const T* c, const T* d, int64_t steps);

/// Compiles for this machine. The code lives as long as this object. Aborts the test on an error.
class Kernels {
public:
  Kernels();
  template <typename T>
  Map<T> map(const Function& function, Shape shape);
  template <typename T>
  Chain<T> chain(const Function& function, Shape shape);
  /// The machine code of a map, for reading.
  template <typename T>
  std::string assembly(const Function& function, Shape shape);

private:
  rnnc::Jit& jit(bool fma);
  mlir::OwningOpRef<mlir::ModuleOp> mapModule(const Function& function, mlir::Type element,
                                              int64_t width, llvm::StringRef name);
  mlir::OwningOpRef<mlir::ModuleOp> chainModule(const Function& function, mlir::Type element,
                                                int64_t width, llvm::StringRef name);
  template <typename T>
  mlir::Type type();

  mlir::MLIRContext context;
  std::unique_ptr<rnnc::Jit> fused, separate;
  int count = 0;
};

} // namespace vectormath
