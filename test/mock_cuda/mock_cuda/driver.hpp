// A driver of CUDA's for tests: a library with the functions that runtime/cuda uses, which RNN_CUDA
// can name. Device memory is the host's; kernels are functions that somebody brings, or nothing.
// What is put on a stream is done when somebody waits for it, as late as a real device might.
//
// It refuses what the real one refuses, as far as it matters here: calls without a context or with
// another one's handles, code for another architecture, launches that are too large, addresses that
// it did not give, and whatever would wait or allocate while a stream is captured.
//
// From the environment, when it is loaded: RNN_MOCK_DEVICES, architectures such as "90,80" (default
// "90", "none" for no device); RNN_MOCK_VERSION (13000); RNN_MOCK_KERNELS, a library with
// mock_cuda_kernels().
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace mock_cuda {

/// A kernel for launches of this name and block; its argument has `bytes`. Returns what went wrong.
struct Kernel {
  std::string name;
  unsigned lanes, chunks;
  size_t bytes;
  std::function<std::string(unsigned grid, unsigned shared, const void* argument)> run;
};

struct Launch {
  std::string name;
  unsigned grid[3], block[3], shared;
  void* stream;
};

/// Of a stream that was captured.
struct Graph {
  int result;    ///< of the end of the capture
  size_t handle; ///< for replay()
  size_t nodes;
};

class Driver {
public:
  virtual ~Driver() = default;

  /// Every call so far, by the function's name, and every launch.
  virtual std::vector<std::string> calls() = 0;
  virtual std::vector<Launch> launches() = 0;
  virtual void forget() = 0;
  /// The call of `function` after `skipped` more, and no other, gives `result` and does nothing.
  virtual void failOnce(const std::string& function, int result, int skipped = 0) = 0;

  virtual void bring(Kernel kernel) = 0;
  /// Whether every device can read what the process has; at the start none can.
  virtual void setReadsHostMemory(bool reads) = 0;

  /// Memory of a device, without a call that is counted; given back at the end of the process.
  virtual void* memory(int device, size_t bytes) = 0;
  /// Of a device's primary context, which it retains.
  virtual void* makeStream(int device) = 0;
  virtual void wait(void* stream) = 0;

  virtual void beginCapture(void* stream) = 0;
  virtual Graph endCapture(void* stream) = 0;
  virtual void replay(size_t graph, void* stream) = 0;

  /// What is there now: contexts that are retained, how often, modules, bytes allocated by calls.
  virtual int retained(int device) = 0;
  virtual int modules() = 0;
  virtual size_t allocated() = 0;
  /// Whether the calling thread is in a function of the driver: what is allocated then is not ours.
  virtual bool isInside() = 0;
  /// What is current in this thread: a device, -1 for nothing.
  virtual int current() = 0;
  virtual void makeCurrent(int device) = 0; ///< -1: nothing
};

} // namespace mock_cuda

/// Of the library that RNN_CUDA names, which stays loaded.
extern "C" mock_cuda::Driver* mock_cuda_driver();
/// Of a library that RNN_MOCK_KERNELS names.
extern "C" std::vector<mock_cuda::Kernel>* mock_cuda_kernels();
