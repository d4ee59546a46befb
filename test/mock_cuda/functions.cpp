// The functions that the mock driver exports, under the names of CUDA's.
#include "machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace mock_cuda;

// Enters under the lock; leaves with what the call is to give where that is no success.
#define MOCK_ENTER(name, ...)                                                                      \
  Machine& m = machine();                                                                          \
  const Inside inside(m);                                                                          \
  if (int result = m.enter(name __VA_OPT__(, ) __VA_ARGS__); result != Success)                    \
    return result;

static bool isDevice(Machine& m, int device) {
  return device >= 0 && device < static_cast<int>(m.devices.size());
}

extern "C" {

int cuInit(unsigned flags) {
  MOCK_ENTER("cuInit");
  if (m.devices.empty())
    return NoDevice;
  m.isInitialized = flags == 0;
  return flags == 0 ? Success : InvalidValue;
}

int cuDriverGetVersion(int* version) {
  MOCK_ENTER("cuDriverGetVersion");
  *version = m.version;
  return Success;
}

int cuDeviceGetCount(int* count) {
  MOCK_ENTER("cuDeviceGetCount");
  *count = static_cast<int>(m.devices.size());
  return Success;
}

int cuDeviceGet(int* device, int ordinal) {
  MOCK_ENTER("cuDeviceGet");
  *device = ordinal;
  return isDevice(m, ordinal) ? Success : InvalidDevice;
}

int cuDeviceGetName(char* name, int room, int device) {
  MOCK_ENTER("cuDeviceGetName");
  std::strncpy(name, "Mock device", room);
  return isDevice(m, device) ? Success : InvalidDevice;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  MOCK_ENTER("cuDeviceGetAttribute");
  if (!isDevice(m, device))
    return InvalidDevice;
  const int architecture = m.devices[device]->architecture;
  const bool isLarge = architecture == 90 || architecture == 100 || architecture == 103;
  switch (attribute) {
  case 16: // multiprocessors
    *value = 4;
    return Success;
  case 75:
    *value = architecture / 10;
    return Success;
  case 76:
    *value = architecture % 10;
    return Success;
  case 88: // pageable memory access
    *value = m.readsHostMemory;
    return Success;
  case 97: // shared memory a block, with the opt-in
    *value = (isLarge ? 227 : 99) << 10;
    return Success;
  }
  return InvalidValue;
}

int cuDevicePrimaryCtxRetain(Device** context, int device) {
  MOCK_ENTER("cuDevicePrimaryCtxRetain");
  if (!isDevice(m, device))
    return InvalidDevice;
  *context = m.devices[device].get();
  ++m.devices[device]->retained;
  return Success;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  MOCK_ENTER("cuDevicePrimaryCtxRelease");
  if (!isDevice(m, device) || m.devices[device]->retained == 0)
    return InvalidContext;
  --m.devices[device]->retained;
  return Success;
}

int cuCtxPushCurrent_v2(Device* context) {
  MOCK_ENTER("cuCtxPushCurrent");
  if (!context || context->retained == 0)
    return InvalidContext;
  contexts().push_back(context);
  return Success;
}

int cuCtxPopCurrent_v2(Device** context) {
  MOCK_ENTER("cuCtxPopCurrent");
  if (contexts().empty())
    return InvalidContext;
  *context = contexts().back();
  contexts().pop_back();
  return Success;
}

int cuModuleLoadData(Module** module, const void* data) {
  MOCK_ENTER("cuModuleLoadData", true, true);
  // The test's NVRTC writes "\x7f" "ELF sm_90", a line's end and the source; or behind the
  // architecture the size of a library that follows the source.
  const auto* text = static_cast<const char*>(data);
  if (std::memcmp(text,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return InvalidImage;
  std::string image = "real";
  if (std::strncmp(text + 4, " sm_", 4) == 0) {
    image = text + 4;
    if (std::atoi(text + 8) != contexts().back()->architecture)
      return NoBinary;
  }
  void* library = nullptr;
  const size_t line = image.find('\n'), space = image.find(' ', 1);
  if (line != std::string::npos && space < line) {
    library =
        loadLibrary(text + 4 + image.size() + 1, std::strtoull(image.c_str() + space, nullptr, 10));
    if (!library)
      return InvalidImage;
  }
  m.loaded.push_back(std::make_unique<Module>(Module{contexts().back(), image, library}));
  *module = m.loaded.back().get();
  return Success;
}

int cuModuleUnload(Module* module) {
  MOCK_ENTER("cuModuleUnload", true);
  const auto found = std::find_if(m.loaded.begin(), m.loaded.end(),
                                  [&](const auto& known) { return known.get() == module; });
  if (found == m.loaded.end() || module->context != contexts().back())
    return InvalidHandle;
  std::erase_if(m.functions, [&](const auto& function) { return function->module == module; });
  m.loaded.erase(found);
  return Success;
}

int cuModuleGetFunction(Function** function, Module* module, const char* name) {
  MOCK_ENTER("cuModuleGetFunction", true);
  if (module->image != "real" && !module->library &&
      module->image.find(std::string(name) + "(") == std::string::npos)
    return NotFound;
  m.functions.push_back(std::make_unique<Function>(Function{module, name}));
  *function = m.functions.back().get();
  return Success;
}

int cuFuncGetAttribute(int* value, int attribute, Function*) {
  MOCK_ENTER("cuFuncGetAttribute", true);
  *value = 1024;
  return attribute == 0 ? Success : InvalidValue;
}

int cuFuncSetAttribute(Function* function, int attribute, int value) {
  MOCK_ENTER("cuFuncSetAttribute", true);
  if (attribute != 8 || value > 227 << 10)
    return InvalidValue;
  function->sharedAllowed = static_cast<unsigned>(value);
  return Success;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*, int threads,
                                                size_t shared) {
  MOCK_ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor", true);
  const int byThreads = 2048 / std::max(threads, 1);
  const auto byShared = shared ? static_cast<int>((228u << 10) / (shared + 1024)) : byThreads;
  *blocks = std::min(byThreads, byShared);
  return Success;
}

int cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, void* stream, void** parameters,
                   void** extra) {
  MOCK_ENTER("cuLaunchKernel", true);
  return extra ? InvalidValue
               : m.launch(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters);
}

int cuMemsetD32Async(unsigned long long address, unsigned value, size_t count, void* stream) {
  MOCK_ENTER("cuMemsetD32Async", true);
  return m.fill(reinterpret_cast<void*>(address), value, count, stream);
}

int cuStreamGetCtx(Stream* stream, Device** context) {
  MOCK_ENTER("cuStreamGetCtx");
  for (const auto& known : m.streams) {
    if (known.get() == stream) {
      *context = known->context;
      return Success;
    }
  }
  return InvalidHandle;
}

int cuPointerGetAttributes(unsigned count, int* attributes, void** values,
                           unsigned long long address) {
  MOCK_ENTER("cuPointerGetAttributes", true);
  auto* at = reinterpret_cast<char*>(address);
  const auto after = m.blocks.upper_bound(at);
  const Machine::Block* block = nullptr;
  if (after != m.blocks.begin() && at < std::prev(after)->first + std::prev(after)->second.bytes)
    block = &std::prev(after)->second;
  for (unsigned i = 0; i < count; ++i) {
    auto* value = static_cast<int*>(values[i]);
    if (attributes[i] == 2) // the kind of memory
      *value = block ? 2 : 0;
    else if (attributes[i] == 9) // the device
      *value = block ? block->device : -2;
    else if (attributes[i] == 8) // managed
      *value = 0;
    else
      return InvalidValue;
  }
  return Success;
}

int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  MOCK_ENTER("cuMemAlloc", true, true);
  if (bytes == 0)
    return InvalidValue;
  void* made = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!made)
    return OutOfMemory;
  int device = 0;
  while (m.devices[device].get() != contexts().back())
    ++device;
  std::memset(made, 0xa5, bytes);
  m.blocks[static_cast<char*>(made)] = {bytes, device, true};
  *address = reinterpret_cast<unsigned long long>(made);
  return Success;
}

int cuMemFree_v2(unsigned long long address) {
  MOCK_ENTER("cuMemFree", true, true);
  const auto found = m.blocks.find(reinterpret_cast<char*>(address));
  if (found == m.blocks.end() || !found->second.isCounted)
    return InvalidValue;
  std::free(found->first);
  m.blocks.erase(found);
  return Success;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
  MOCK_ENTER("cuMemcpyHtoD", true, true);
  if (!m.holds(reinterpret_cast<void*>(to), bytes))
    return InvalidValue;
  const int result = m.finish(contexts().back());
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return result;
}

int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
  MOCK_ENTER("cuMemcpyDtoH", true, true);
  if (!m.holds(reinterpret_cast<void*>(from), bytes))
    return InvalidValue;
  const int result = m.finish(contexts().back());
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return result;
}

int cuStreamCreate(Stream** stream, unsigned) {
  MOCK_ENTER("cuStreamCreate", true);
  m.streams.push_back(std::make_unique<Stream>(Stream{contexts().back(), {}}));
  *stream = m.streams.back().get();
  return Success;
}

int cuStreamDestroy_v2(Stream* stream) {
  MOCK_ENTER("cuStreamDestroy", true);
  return std::erase_if(m.streams, [&](const auto& known) { return known.get() == stream; })
             ? Success
             : InvalidHandle;
}

int cuStreamSynchronize(Stream* stream) {
  MOCK_ENTER("cuStreamSynchronize", true, true);
  Stream* found = m.find(stream);
  return found ? m.finish(*found) : InvalidHandle;
}

int cuGetErrorName(int result, const char** name) {
  *name = result == NoDevice       ? "CUDA_ERROR_NO_DEVICE"
          : result == OutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == NoBinary     ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : result == LaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
                                   : nullptr;
  return *name ? Success : InvalidValue;
}

int cuGetErrorString(int result, const char** text) {
  *text = result == NoDevice       ? "no CUDA-capable device is detected"
          : result == OutOfMemory  ? "out of memory"
          : result == NoBinary     ? "no kernel image is available for execution on the device"
          : result == LaunchFailed ? "unspecified launch failure"
                                   : nullptr;
  return *text ? Success : InvalidValue;
}

} // extern "C"
