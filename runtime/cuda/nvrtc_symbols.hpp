// The functions of NVRTC that are used, as one table. Declared here, for nvrtc.h is not on every
// machine; its C interface has been stable since CUDA 7.
#pragma once

#include <cstddef>

namespace rnnc::runtime {

struct NvrtcProgram; // nvrtcProgram is a pointer to something of NVRTC's

/// nvrtcResult; everything but 0 is an error, nvrtcGetErrorString says which.
using NvrtcResult = int;
constexpr NvrtcResult kNvrtcSuccess = 0, kNvrtcCompilationError = 6;

// X(name, parameters)
#define RNN_NVRTC_FUNCTIONS(X)                                                                     \
  X(nvrtcVersion, (int*, int*))                                                                    \
  X(nvrtcGetNumSupportedArchs, (int*))                                                             \
  X(nvrtcGetSupportedArchs, (int*))                                                                \
  X(nvrtcCreateProgram, (NvrtcProgram**, const char* source, const char* name, int headers,        \
                         const char* const* texts, const char* const* names))                      \
  X(nvrtcDestroyProgram, (NvrtcProgram**))                                                         \
  X(nvrtcCompileProgram, (NvrtcProgram*, int options, const char* const* option))                  \
  X(nvrtcGetProgramLogSize, (NvrtcProgram*, size_t*))                                              \
  X(nvrtcGetProgramLog, (NvrtcProgram*, char*))                                                    \
  X(nvrtcGetPTXSize, (NvrtcProgram*, size_t*))                                                     \
  X(nvrtcGetPTX, (NvrtcProgram*, char*))                                                           \
  X(nvrtcGetCUBINSize, (NvrtcProgram*, size_t*))                                                   \
  X(nvrtcGetCUBIN, (NvrtcProgram*, char*))

struct NvrtcSymbols {
#define RNN_DECLARE(name, parameters) NvrtcResult(*name) parameters = nullptr;
  RNN_NVRTC_FUNCTIONS(RNN_DECLARE)
#undef RNN_DECLARE
  const char* (*nvrtcGetErrorString)(NvrtcResult) = nullptr; ///< the only one of another type
};

} // namespace rnnc::runtime
