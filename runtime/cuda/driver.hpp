// CUDA's driver, libcuda: found and loaded when first asked for. Nothing here needs CUDA's headers,
// and a machine without a driver needs nothing of this.
#pragma once

#include "cuda/driver_symbols.hpp"
#include "rnn/rnn.h"

#include <memory>
#include <string>

namespace rnnc::runtime::cuda {

/// A loaded and initialised driver. Never unloaded.
struct Driver {
  std::string path; ///< of the file, as the system resolved it
  int version = 0;  ///< the CUDA that it is for: 13000
  int devices = 0;
  std::shared_ptr<const DriverSymbols> symbols;

  const DriverSymbols* operator->() const { return symbols.get(); }
};

/// The process's driver: the library that RNN_CUDA names (and then no other), else the system's
/// libcuda.so.1. The first answer stays. RNN_OK with one device or more, or RNN_MISSING with a text
/// that says what is missing and what to do. Thread-safe.
rnn_status findDriver(const Driver*& out, std::string& error) noexcept;

/// The same search, made anew.
rnn_status searchDriver(Driver& out, std::string& error) noexcept;

/// "13.0" of 13000.
std::string versionText(int version);

/// The one place where an answer of the driver becomes a status and a text: what was done, what the
/// driver calls it, and what would help, as far as it is known. Not for kSuccess.
struct Trouble {
  rnn_status status;
  std::string text;
};
Trouble troubleOf(const Driver& driver, Result result, const std::string& what);

/// Throws an Error of core/status.hpp for everything but kSuccess.
void check(const Driver& driver, Result result, const char* what);

} // namespace rnnc::runtime::cuda
