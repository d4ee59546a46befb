// What loading the driver and loading NVRTC have in common.
#pragma once

#include "rnn/rnn.h"

#include <dlfcn.h>
#include <new>
#include <string>

namespace rnnc::runtime {

/// Why the last dlopen failed.
inline std::string loaderText() {
  const char* text = dlerror();
  return text ? text : "it cannot be loaded";
}

/// The file that a function came from, as the system resolved it.
inline std::string pathOf(void* function, const std::string& otherwise) {
  Dl_info info{};
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : otherwise;
}

/// The process's T: what `search` answers first stays, found or not. Made once and never destroyed:
/// nothing of CUDA's is touched when a process ends, and a library that is unloaded then takes
/// others with it. Thread-safe.
template <class T>
rnn_status findOnce(rnn_status (*search)(T&, std::string&) noexcept, const T*& out,
                    std::string& error) noexcept {
  struct Found {
    T library;
    rnn_status status;
    std::string error;
  };
  static const Found* found = [search] {
    auto* made = new (std::nothrow) Found();
    if (made) {
      made->status = search(made->library, made->error);
    }
    return made;
  }();
  if (!found) {
    return RNN_OUT_OF_MEMORY;
  }
  try {
    out = &found->library;
    error = found->error;
    return found->status;
  } catch (const std::bad_alloc&) {
    return RNN_OUT_OF_MEMORY;
  }
}

} // namespace rnnc::runtime
