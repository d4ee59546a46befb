// A CUDA device for a program that has no CUDA of its own: memory, a stream, copies. rnn_forward
// itself needs none of this; its callers bring theirs.
#pragma once

#include "rnn/rnn.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace rnnc::runtime::cuda {

class Device;

/// The devices that the driver has, without touching one; none where there is no driver.
struct DeviceName {
  std::string name; ///< "NVIDIA H200"
  int architecture; ///< 90 for sm_90
};
std::vector<DeviceName> listDevices() noexcept;

/// What is missing on this machine to run on its CUDA devices, everything at once; empty where
/// nothing is. Compiles nothing.
std::string whatIsMissing(int ordinal) noexcept;

/// Of one thread at a time. Functions return a status, with a text in error(), and throw nothing.
/// Everything is given back at the end.
class Session {
public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// First of all. RNN_MISSING where the driver or the device is.
  rnn_status open(int ordinal) noexcept;
  /// Aligned to 256 bytes; null for 0 bytes.
  rnn_status allocate(size_t bytes, void*& out) noexcept;
  rnn_status copyIn(void* to, const void* from, size_t bytes) noexcept;
  rnn_status copyOut(void* to, const void* from, size_t bytes) noexcept;
  /// Waits for everything on stream().
  rnn_status synchronise() noexcept;

  void* stream() const { return stream_; }
  const std::string& error() const { return error_; }
  /// "NVIDIA H200" and 90.
  const std::string& deviceName() const;
  int architecture() const;

private:
  template <class Work>
  rnn_status run(Work&& work) noexcept;

  std::unique_ptr<const Device> device_;
  void* stream_ = nullptr;
  std::vector<void*> memory_;
  std::string error_;
};

} // namespace rnnc::runtime::cuda
