#include "gpu.hpp"

#include "cuda/nvrtc.hpp"

#include <cstdlib>
#include <dlfcn.h>

using namespace gpu;
using namespace rnnc::runtime;

bool gpu::isQuick() { return std::getenv("RNN_GPU_QUICK") != nullptr; }

Device& Device::get() {
  static auto* device = new Device(); // CUDA is not touched when a process ends
  return *device;
}

template <class Function>
static void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) {
    throw Trouble(std::string("the driver has no ") + name);
  }
}

Device::Device() {
  std::string error;
  if (cuda::findDriver(driver_, error) != RNN_OK) {
    throw Trouble(error);
  }
  if (session_.open(0) != RNN_OK) {
    throw Trouble(session_.error());
  }
  void* library = dlopen(driver_->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    throw Trouble(dlerror());
  }
  find(library, "cuEventCreate", more_.cuEventCreate);
  find(library, "cuEventRecord", more_.cuEventRecord);
  find(library, "cuEventElapsedTime", more_.cuEventElapsedTime);
  find(library, "cuStreamBeginCapture_v2", more_.cuStreamBeginCapture);
  find(library, "cuStreamEndCapture", more_.cuStreamEndCapture);
  find(library, "cuGraphInstantiateWithFlags", more_.cuGraphInstantiate);
  find(library, "cuGraphLaunch", more_.cuGraphLaunch);
  find(library, "cuMemcpyDtoDAsync_v2", more_.cuMemcpyDtoDAsync);
  cuda::ContextRef context = nullptr;
  check((*driver_)->cuDevicePrimaryCtxRetain(&context, 0), "retaining the context");
  check((*driver_)->cuCtxPushCurrent(context), "making the context current");
}

void Device::check(cuda::Result result, const char* what) const {
  if (result != cuda::kSuccess) {
    throw Trouble(cuda::troubleOf(*driver_, result, what).text);
  }
}

void Device::synchronise() {
  if (session_.synchronise() != RNN_OK) {
    throw Trouble(session_.error());
  }
}

void Device::copyIn(void* to, const void* from, size_t bytes) {
  if (bytes && session_.copyIn(to, from, bytes) != RNN_OK) {
    throw Trouble(session_.error());
  }
}

void Device::copyOut(void* to, const void* from, size_t bytes) {
  if (bytes && session_.copyOut(to, from, bytes) != RNN_OK) {
    throw Trouble(session_.error());
  }
}

cuda::ModuleRef Device::load(const std::string& unit, const std::string& text) {
  const Nvrtc* nvrtc = nullptr;
  std::string error;
  CudaProgram program;
  if (findNvrtc(nvrtc, error) != RNN_OK || compileCuda(*nvrtc, {unit, text, architecture()},
                                                       CudaCode::Cubin, program, error) != RNN_OK) {
    throw Trouble(error);
  }
  cuda::ModuleRef module = nullptr;
  check((*driver_)->cuModuleLoadData(&module, program.code.data()), "loading kernels");
  return module;
}

cuda::FunctionRef Device::kernel(cuda::ModuleRef module, const std::string& name) {
  cuda::FunctionRef function = nullptr;
  check((*driver_)->cuModuleGetFunction(&function, module, name.c_str()), "finding a kernel");
  return function;
}

Memory::Memory(size_t bytes) {
  const Device& device = Device::get();
  cuda::Address address = 0;
  device.check(device.driver()->cuMemAlloc(&address, bytes ? bytes : 1), "taking memory");
  data_ = reinterpret_cast<void*>(address);
}

Memory::~Memory() {
  if (data_) {
    Device::get().driver()->cuMemFree(reinterpret_cast<cuda::Address>(data_));
  }
}
