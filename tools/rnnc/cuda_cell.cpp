#include "cuda_cell.h"

#include "bug.h"

#include <fmt/format.h>

using namespace rnnc;
using namespace rnnc::tool;

int CudaCell::make(const Options& options, const Source& source, std::unique_ptr<CudaCell>& cell) {
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  if (int status = source.lower(computeType(options), newton, BackEnd::Cuda))
    return status;
  auto described = describeForHost(*newton, source.cellName());
  if (!described)
    return source.bug(llvm::toString(described.takeError()));
  cell.reset(new CudaCell(source, std::move(newton), std::move(*described)));
  return kFine;
}

CudaCell::CudaCell(const Source& source, mlir::OwningOpRef<mlir::ModuleOp> newton,
                   std::unique_ptr<CompiledCell> described)
    : source(source), newton(std::move(newton)), described(std::move(described)),
      module(*this->described->table()) {
  desc.size = sizeof(desc);
  desc.context = this;
  desc.print = [](void* self, const rnn_cuda_request* request, const char** why) {
    return static_cast<CudaCell*>(self)->print(*request, why);
  };
  module.size = sizeof(module);
  module.cuda = &desc;
}

/// The tool makes one plan at a time.
const rnn_cuda_unit* CudaCell::print(const rnn_cuda_request& request, const char** why) {
  CudaOptions options;
  options.arch = fmt::format("sm_{}", request.architecture);
  options.chunk = request.chunk;
  options.chunks = request.chunks;
  options.schedule = scheduleOf(request.schedule);
  std::optional<CudaUnit> text;
  status = source.diagnose(
      [&] {
        text = emitCuda(*newton, source.cellName(), options);
        return text.has_value();
      },
      "the cell '" + source.cellName() + "' could not be printed as CUDA");
  if (!text) {
    *why = "its text could not be printed";
    return nullptr;
  }
  kernels += static_cast<int64_t>(text->entries.size());
  return units.add(std::move(*text), request.architecture, request.compute, request.schedule);
}
