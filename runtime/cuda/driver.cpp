#include "cuda/driver.hpp"

#include "core/status.hpp"
#include "cuda/library.hpp"

#include <cstdlib>
#include <memory>
#include <new>

namespace rnnc::runtime::cuda {
namespace {

/// The first whose kernels have more than 4 KiB of parameters, as NVRTC's (nvrtc.cpp).
constexpr int oldestVersion = 12010;

/// The second is where Windows keeps it for its Linux.
constexpr const char* names[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};

constexpr const char* remedy =
    "it comes with NVIDIA's driver (nvidia-smi shows whether that works), or set RNN_CUDA to the "
    "file libcuda.so.1";

/// Fills the table; the name of the first function that is not there, else null.
const char* resolve(void* library, DriverSymbols& symbols) {
#define RNN_RESOLVE(name, exported, parameters)                                                    \
  symbols.name = reinterpret_cast<Result(*) parameters>(dlsym(library, exported));                 \
  if (!symbols.name) {                                                                             \
    return exported;                                                                               \
  }
  RNN_CUDA_FUNCTIONS(RNN_RESOLVE)
#undef RNN_RESOLVE
  return nullptr;
}

/// What is wrong with a loaded library, empty where it can be used.
std::string accept(void* library, const std::string& name, Driver& out) {
  auto symbols = std::make_shared<DriverSymbols>();
  if (const char* missing = resolve(library, *symbols)) {
    return fmt::format("it has no function {}: too old, or no driver of CUDA's", missing);
  }
  Driver found;
  found.path = pathOf(reinterpret_cast<void*>(symbols->cuInit), name);
  found.symbols = symbols;
  if (Result result = found->cuInit(0); result != kSuccess) {
    return troubleOf(found, result, "starting the driver").text;
  }
  if (Result result = found->cuDriverGetVersion(&found.version); result != kSuccess) {
    return troubleOf(found, result, "asking the driver for its version").text;
  }
  if (found.version < oldestVersion) {
    return fmt::format("it is for CUDA {}; {} is the oldest that can be used: update the driver",
                       versionText(found.version), versionText(oldestVersion));
  }
  if (Result result = found->cuDeviceGetCount(&found.devices); result != kSuccess) {
    return troubleOf(found, result, "counting the devices").text;
  }
  if (found.devices < 1) {
    return "it has no device; CUDA_VISIBLE_DEVICES may hide them";
  }
  out = std::move(found);
  return "";
}

/// The library is never closed once its cuInit ran: threads of its own would not survive that.
rnn_status use(void* library, const std::string& name, Driver& out, std::string& error) {
  const std::string wrong = library ? accept(library, name, out) : loaderText();
  if (!wrong.empty()) {
    error = fmt::format("NVIDIA's driver, {}: {}", name, wrong);
  }
  return wrong.empty() ? RNN_OK : RNN_MISSING;
}

rnn_status search(Driver& out, std::string& error) {
  if (const char* chosen = std::getenv("RNN_CUDA"); chosen && *chosen) {
    return use(dlopen(chosen, RTLD_NOW | RTLD_LOCAL), fmt::format("RNN_CUDA={}", chosen), out,
               error);
  }
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      return use(library, name, out, error);
    }
  }
  error = fmt::format("NVIDIA's driver, {}, is not on this machine; {}", names[0], remedy);
  return RNN_MISSING;
}

/// Faults of a kernel, any kernel of the process: an address, a timeout, an instruction, ...
bool isLost(Result result) {
  return result == 700 || result == 702 || (result >= 714 && result <= 719);
}

std::string adviceFor(const Driver& driver, Result result) {
  switch (result) {
  case kOutOfMemory:
    return "the device has too little memory left: a smaller batch or time, or other programs "
           "ended";
  case kStubLibrary:
    return "this is the toolkit's stub, not the driver";
  case kNoDevice:
    return "there is no device; CUDA_VISIBLE_DEVICES may hide them";
  case kInvalidImage:
  case kNoBinaryForGpu:
  case kUnsupportedPtx:
    return fmt::format("the driver is for CUDA {}: an NVRTC of a newer one makes code that it "
                       "cannot load; update the driver, or set RNN_NVRTC to an older libnvrtc",
                       versionText(driver.version));
  case kDriverMismatch:
  case kCompatNotSupported:
    return "the driver's library and its kernel module are of different versions: restart the "
           "machine";
  case kCaptureUnsupported:
  case kCaptureInvalidated:
    return "a stream is being captured; plans are made, and reports read, before and after that";
  default:
    return isLost(result)
               ? "a kernel of this process failed, perhaps by an array that is smaller than it "
                 "says; "
                 "the device's context is lost, and with it this process's use of the device"
               : "";
  }
}

rnn_status statusOf(Result result) {
  switch (result) {
  case kOutOfMemory:
    return RNN_OUT_OF_MEMORY;
  case kStubLibrary:
  case kNoDevice:
  case kInvalidDevice:
  case kNoBinaryForGpu:
  case kUnsupportedPtx:
  case kDriverMismatch:
  case kCompatNotSupported:
    return RNN_MISSING;
  default:
    return RNN_DEVICE_FAILED;
  }
}

} // namespace

std::string versionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Trouble troubleOf(const Driver& driver, Result result, const std::string& what) {
  const char *name = nullptr, *text = nullptr;
  // A code that the driver does not know leaves them null.
  driver->cuGetErrorName(result, &name);
  driver->cuGetErrorString(result, &text);
  std::string all = fmt::format("CUDA: {}: {} ({})", what, text ? text : "an unknown error",
                                name ? name : fmt::format("code {}", result).c_str());
  if (const std::string advice = adviceFor(driver, result); !advice.empty()) {
    all += "; " + advice;
  }
  return {statusOf(result), std::move(all)};
}

void check(const Driver& driver, Result result, const char* what) {
  if (result != kSuccess) {
    Trouble trouble = troubleOf(driver, result, what);
    throw Error(trouble.status, std::move(trouble.text));
  }
}

rnn_status searchDriver(Driver& out, std::string& error) noexcept {
  try {
    return search(out, error);
  } catch (const std::bad_alloc&) {
    return RNN_OUT_OF_MEMORY;
  } catch (const std::exception& trouble) {
    error = trouble.what();
    return RNN_INTERNAL;
  }
}

rnn_status findDriver(const Driver*& out, std::string& error) noexcept {
  return findOnce<Driver>(searchDriver, out, error);
}

} // namespace rnnc::runtime::cuda
