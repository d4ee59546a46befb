//===- Cuda.h - CUDA text of a cell ----------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace rnnc {

enum class CudaMath { Polynomial, Special };
enum class CudaSchedule { Auto, Sequential, Parallel };
enum class CudaStaging { Auto, Registers };

struct CudaOptions {
  std::string arch = "sm_90";
  int64_t chunk = 0, chunks = 0; ///< C and W; 0: the rule of compiler/Target/Cuda/Policy.cpp
  CudaSchedule schedule = CudaSchedule::Auto; ///< Sequential is W = 1
  CudaStaging staging = CudaStaging::Auto;
  CudaMath math = CudaMath::Polynomial;
};

/// A kernel of a unit and how it is launched: blockDim = (lanes, chunks), any grid along x.
struct CudaEntry {
  std::string name; ///< of the extern "C" function
  int64_t lanes, chunks, steps;
  int64_t sharedBytes;   ///< dynamic, of a block
  int64_t blocks;        ///< that are resident on a multiprocessor
  int64_t registers;     ///< the most that a thread can have
  int64_t argumentBytes; ///< of its one parameter
};

/// One translation unit: the cell's systems, their policies, an entry each, in the order of the
/// systems. It includes headers of runtime/device only.
struct CudaUnit {
  std::string name; ///< what the unit calls itself in `#line`: "ParaGRU.cu"
  std::string text;
  std::vector<CudaEntry> entries;
};

/// Whether `name` is an architecture; an error that names it where not.
llvm::Error checkCudaArchitecture(llvm::StringRef name);
/// All names, oldest first, separated by commas.
std::string cudaArchitectureNames();

/// The text for the cell `cell` (empty: the first) of a Newton module. Deterministic: the same
/// module and options give the same text. Nothing where there was an error; every error is a
/// diagnostic of the context, at the place in the user's text.
std::optional<CudaUnit> emitCuda(mlir::ModuleOp newton, llvm::StringRef cell,
                                 const CudaOptions& options);

} // namespace rnnc
