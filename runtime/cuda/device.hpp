// A CUDA device and its primary context, which it shares with everything else in the process.
#pragma once

#include "cuda/driver.hpp"

#include <memory>

namespace rnnc::runtime::cuda {

struct DeviceFacts {
  std::string name;     ///< "NVIDIA H200"
  int architecture = 0; ///< 90 for sm_90
  int multiprocessors = 0;
  int64_t sharedPerBlock = 0;   ///< bytes that one block may ask for
  bool readsHostMemory = false; ///< kernels may be given any memory of the process
};

bool hasDevice(const Driver& driver, int ordinal);
/// Which there are, for a message: "they are 0 to 3".
std::string ordinalsText(const Driver& driver);

/// Throws: RNN_MISSING where there is no such device. `ordinal` as CUDA_VISIBLE_DEVICES numbers
/// them, from 0. Makes no context.
DeviceFacts factsOf(const Driver& driver, int ordinal);

/// Holds the primary context while it lives. It is neither reset nor given flags: it may be the
/// caller's.
class Device : public DeviceFacts {
public:
  /// Throws as factsOf.
  Device(const Driver& driver, int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver;
  const int ordinal;
  ContextRef context = nullptr;

private:
  DeviceNumber number_ = 0;
};

/// Makes a device's context the calling thread's; what was current before is so again at the end,
/// or after restore(), which throws where the driver does not let it.
class Current {
public:
  explicit Current(const Device& device);
  ~Current();
  void restore();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

private:
  const Device& device_;
  bool isRestored_ = false;
};

/// "CUDA device 0 (NVIDIA H200, sm_90)".
std::string deviceText(const Device& device);

} // namespace rnnc::runtime::cuda
