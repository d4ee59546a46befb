// The functions of CUDA's driver that are used, as one table. Declared here, for cuda.h is not on
// every machine; the driver keeps old names alive, so a change of a function has a name of its own.
#pragma once

#include <cstddef>

namespace rnnc::runtime::cuda {

// CUdevice, CUdeviceptr, and pointers to what only the driver knows.
using DeviceNumber = int;
using Address = unsigned long long;
using ContextRef = struct CudaContextOfDriver*;
using ModuleRef = struct CudaModuleOfDriver*;
using FunctionRef = struct CudaFunctionOfDriver*;
using StreamRef = struct CudaStreamOfDriver*;

/// CUresult. Those that something here depends on.
using Result = int;
constexpr Result kSuccess = 0, kOutOfMemory = 2, kStubLibrary = 34, kNoDevice = 100,
                 kInvalidDevice = 101, kInvalidImage = 200, kNoBinaryForGpu = 209,
                 kUnsupportedPtx = 222, kNotFound = 500, kDriverMismatch = 803,
                 kCompatNotSupported = 804, kCaptureUnsupported = 900, kCaptureInvalidated = 901;

// CUdevice_attribute, CUfunction_attribute, CUpointer_attribute.
constexpr int kMultiprocessors = 16, kComputeMajor = 75, kComputeMinor = 76, kPageableMemory = 88,
              kSharedPerBlock = 97;
constexpr int kFunctionThreads = 0, kFunctionShared = 8;
constexpr int kPointerMemoryType = 2, kPointerIsManaged = 8, kPointerDevice = 9;
constexpr unsigned kMemoryDevice = 2;

// X(name, the name in the library, parameters)
#define RNN_CUDA_FUNCTIONS(X)                                                                      \
  X(cuInit, "cuInit", (unsigned flags))                                                            \
  X(cuDriverGetVersion, "cuDriverGetVersion", (int*))                                              \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int*))                                                  \
  X(cuDeviceGet, "cuDeviceGet", (DeviceNumber*, int ordinal))                                      \
  X(cuDeviceGetName, "cuDeviceGetName", (char*, int room, DeviceNumber))                           \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int*, int attribute, DeviceNumber))             \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (ContextRef*, DeviceNumber))             \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber))                     \
  X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (ContextRef))                                         \
  X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (ContextRef*))                                          \
  X(cuModuleLoadData, "cuModuleLoadData", (ModuleRef*, const void* image))                         \
  X(cuModuleUnload, "cuModuleUnload", (ModuleRef))                                                 \
  X(cuModuleGetFunction, "cuModuleGetFunction", (FunctionRef*, ModuleRef, const char* name))       \
  X(cuFuncGetAttribute, "cuFuncGetAttribute", (int*, int attribute, FunctionRef))                  \
  X(cuFuncSetAttribute, "cuFuncSetAttribute", (FunctionRef, int attribute, int value))             \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",    \
    (int* blocks, FunctionRef, int threads, size_t shared))                                        \
  X(cuLaunchKernel, "cuLaunchKernel",                                                              \
    (FunctionRef, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,                 \
     unsigned blockY, unsigned blockZ, unsigned shared, StreamRef, void** parameters,              \
     void** extra))                                                                                \
  X(cuMemsetD32Async, "cuMemsetD32Async", (Address, unsigned value, size_t count, StreamRef))      \
  X(cuStreamGetCtx, "cuStreamGetCtx", (StreamRef, ContextRef*))                                    \
  X(cuPointerGetAttributes, "cuPointerGetAttributes",                                              \
    (unsigned count, int* attributes, void** values, Address))                                     \
  X(cuMemAlloc, "cuMemAlloc_v2", (Address*, size_t))                                               \
  X(cuMemFree, "cuMemFree_v2", (Address))                                                          \
  X(cuMemcpyHtoD, "cuMemcpyHtoD_v2", (Address to, const void* from, size_t))                       \
  X(cuMemcpyDtoH, "cuMemcpyDtoH_v2", (void* to, Address from, size_t))                             \
  X(cuStreamCreate, "cuStreamCreate", (StreamRef*, unsigned flags))                                \
  X(cuStreamDestroy, "cuStreamDestroy_v2", (StreamRef))                                            \
  X(cuStreamSynchronize, "cuStreamSynchronize", (StreamRef))                                       \
  X(cuGetErrorName, "cuGetErrorName", (Result, const char**))                                      \
  X(cuGetErrorString, "cuGetErrorString", (Result, const char**))

struct DriverSymbols {
#define RNN_DECLARE(name, exported, parameters) Result(*name) parameters = nullptr;
  RNN_CUDA_FUNCTIONS(RNN_DECLARE)
#undef RNN_DECLARE
};

} // namespace rnnc::runtime::cuda
