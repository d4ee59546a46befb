// Units of CUDA C++, compiled for the very device that they run on, and loaded there.
#pragma once

#include "cuda/device.hpp"
#include "cuda/disk_cache.hpp"
#include "cuda/nvrtc.hpp"
#include "rnn/module.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace rnnc::runtime::cuda {

struct LoadedKernel {
  FunctionRef function = nullptr;
  int64_t residentBlocks = 0; ///< of a multiprocessor
};

/// A unit in a device's primary context, whole: one kernel for each entry, and each can be
/// launched.
struct Program {
  explicit Program(std::shared_ptr<const Device> theDevice) : device(std::move(theDevice)) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::shared_ptr<const Device> device;
  ModuleRef module = nullptr;
  std::vector<LoadedKernel> kernels; ///< in the order of the unit's entries
};

/// Name of what NVRTC makes of a source: of all that the code depends on.
Digest programKey(const Nvrtc& nvrtc, const CudaSource& source);

/// The devices and programs of a rnn_context. Code is kept in memory for as long as it lives, and
/// on disk beyond that. What could not be compiled, or what its own device refuses, is not tried
/// again; where the device had no memory, for one, it is. Thread-safe.
class Programs {
public:
  explicit Programs(std::string folder = DiskCache::userFolder()) : disk_(std::move(folder)) {}

  /// Throws where a driver or the device is missing.
  std::shared_ptr<const Device> device(int ordinal);
  /// Throws: RNN_MISSING without NVRTC or with one that does not know the device; RNN_INTERNAL with
  /// NVRTC's log, which names lines of the user's file.
  std::shared_ptr<const Program> program(const std::shared_ptr<const Device>& device,
                                         const rnn_cuda_unit& unit);
  std::string takeWarning() { return disk_.takeWarning(); }

private:
  struct Entry;
  std::shared_ptr<Entry> entryOf(const Digest& key);

  std::mutex mutex_;
  std::map<int, std::shared_ptr<const Device>> devices_;
  std::map<Digest, std::shared_ptr<Entry>> entries_;
  DiskCache disk_;
};

} // namespace rnnc::runtime::cuda
