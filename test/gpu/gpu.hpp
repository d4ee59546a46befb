// The device of the tests and benches, by the driver that the runtime loads: kernels of their own,
// streams that are captured, and times.
#pragma once

#include "cuda/driver.hpp"
#include "cuda/session.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpu {

namespace driver = rnnc::runtime::cuda;

/// Thrown for whatever goes wrong on the device: a test cannot go on then.
struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using EventRef = struct CudaEventOfDriver*;
using GraphRef = struct CudaGraphOfDriver*;
using GraphExecRef = struct CudaGraphExecOfDriver*;

/// What the runtime itself does not call.
struct MoreSymbols {
  driver::Result (*cuEventCreate)(EventRef*, unsigned flags) = nullptr;
  driver::Result (*cuEventRecord)(EventRef, driver::StreamRef) = nullptr;
  driver::Result (*cuEventElapsedTime)(float* milliseconds, EventRef, EventRef) = nullptr;
  driver::Result (*cuStreamBeginCapture)(driver::StreamRef, int mode) = nullptr;
  driver::Result (*cuStreamEndCapture)(driver::StreamRef, GraphRef*) = nullptr;
  driver::Result (*cuGraphInstantiate)(GraphExecRef*, GraphRef, unsigned long long flags) = nullptr;
  driver::Result (*cuGraphLaunch)(GraphExecRef, driver::StreamRef) = nullptr;
  driver::Result (*cuMemcpyDtoDAsync)(driver::Address to, driver::Address from, size_t,
                                      driver::StreamRef) = nullptr;
};

/// Device 0, current in the thread that asks first.
class Device {
public:
  static Device& get();

  std::string name() const { return session_.deviceName(); }
  int architecture() const { return session_.architecture(); }
  driver::StreamRef stream() const { return static_cast<driver::StreamRef>(session_.stream()); }
  const driver::Driver& driver() const { return *driver_; }
  const MoreSymbols& more() const { return more_; }

  /// Throws for everything but success.
  void check(driver::Result result, const char* what) const;
  void synchronise();
  void copyIn(void* to, const void* from, size_t bytes);
  void copyOut(void* to, const void* from, size_t bytes);

  /// A text of CUDA C++, compiled for this device; loaded until the end.
  driver::ModuleRef load(const std::string& unit, const std::string& text);
  driver::FunctionRef kernel(driver::ModuleRef module, const std::string& name);

private:
  Device();

  driver::Session session_;
  const driver::Driver* driver_ = nullptr;
  MoreSymbols more_;
};

/// Device memory.
class Memory {
public:
  explicit Memory(size_t bytes);
  ~Memory();
  Memory(Memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  void* data() const { return data_; }

private:
  void* data_ = nullptr;
};

/// Whether this is a run that only shows that everything is there (RNN_GPU_QUICK).
bool isQuick();

} // namespace gpu
