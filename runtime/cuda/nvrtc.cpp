// NVRTC: loading it.
#include "nvrtc.hpp"

#include "library.hpp"
#include "nvrtc_places.hpp"
#include "nvrtc_symbols.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>

using namespace rnnc::runtime;

namespace {

/// The first that lets kernels have more than 4 KiB of parameters.
constexpr int kOldestMajor = 12, kOldestMinor = 1;

constexpr const char* kRemedy =
    "install it with 'pip install nvidia-cuda-nvrtc' or as part of the CUDA toolkit, or set "
    "RNN_NVRTC to the file libnvrtc.so.13";

/// Fills the table; the name of the first function that is not there, else null.
const char* resolve(void* library, NvrtcSymbols& symbols) {
#define RNN_RESOLVE(name, parameters)                                                              \
  symbols.name = reinterpret_cast<NvrtcResult(*) parameters>(dlsym(library, #name));               \
  if (!symbols.name)                                                                               \
    return #name;
  RNN_NVRTC_FUNCTIONS(RNN_RESOLVE)
#undef RNN_RESOLVE
  symbols.nvrtcGetErrorString =
      reinterpret_cast<const char* (*)(NvrtcResult)>(dlsym(library, "nvrtcGetErrorString"));
  return symbols.nvrtcGetErrorString ? nullptr : "nvrtcGetErrorString";
}

/// What is wrong with a loaded library, empty where it can be used.
std::string accept(void* library, const std::string& name, Nvrtc& out) {
  auto symbols = std::make_shared<NvrtcSymbols>();
  if (const char* missing = resolve(library, *symbols))
    return fmt::format("it has no function {}: too old, or no NVRTC", missing);
  Nvrtc found;
  found.path = pathOf(reinterpret_cast<void*>(symbols->nvrtcVersion), name);
  if (symbols->nvrtcVersion(&found.major, &found.minor) != kNvrtcSuccess)
    return "it does not say its version";
  if (std::pair(found.major, found.minor) < std::pair(kOldestMajor, kOldestMinor))
    return fmt::format("it is of version {}; {}.{} is the oldest that can be used",
                       versionText(found), kOldestMajor, kOldestMinor);
  int count = 0;
  if (symbols->nvrtcGetNumSupportedArchs(&count) != kNvrtcSuccess || count < 1)
    return "it does not say what it compiles for";
  found.architectures.resize(count);
  if (symbols->nvrtcGetSupportedArchs(found.architectures.data()) != kNvrtcSuccess)
    return "it does not say what it compiles for";
  std::sort(found.architectures.begin(), found.architectures.end());
  found.symbols = std::move(symbols);
  out = std::move(found);
  return "";
}

/// Loads by name or path, and says in `tried` why it will not do.
bool open(const std::string& name, int flags, Nvrtc& out, std::string& tried) {
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
  if (!library) {
    if (!(flags & RTLD_NOLOAD) && name.find('/') != std::string::npos)
      tried += fmt::format("; {}: {}", name, loaderText());
    return false;
  }
  std::string wrong = accept(library, name, out);
  if (wrong.empty())
    return true; // never closed: its own threads and destructors would not survive that
  dlclose(library);
  tried += fmt::format("; {}: {}", name, wrong);
  return false;
}

rnn_status search(Nvrtc& out, std::string& error) {
  std::string tried;
  if (const char* chosen = std::getenv("RNN_NVRTC"); chosen && *chosen) {
    std::string name = chosen;
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::string wrong = library ? accept(library, name, out) : loaderText();
    if (wrong.empty())
      return RNN_OK;
    error = fmt::format("RNN_NVRTC={}: {}", name, wrong);
    return RNN_MISSING;
  }
  for (const std::string& name : nvrtcNames())
    if (open(name, RTLD_NOLOAD, out, tried))
      return RNN_OK;
  for (const std::string& place : nvrtcPlaces())
    if (open(place, 0, out, tried))
      return RNN_OK;
  error = fmt::format("NVRTC is not on this machine{}; {}", tried, kRemedy);
  return RNN_MISSING;
}

} // namespace

bool Nvrtc::knows(int architecture) const {
  return std::binary_search(architectures.begin(), architectures.end(), architecture);
}

std::string rnnc::runtime::versionText(const Nvrtc& nvrtc) {
  return fmt::format("{}.{}", nvrtc.major, nvrtc.minor);
}

rnn_status rnnc::runtime::searchNvrtc(Nvrtc& out, std::string& error) noexcept {
  try {
    return search(out, error);
  } catch (const std::exception& trouble) {
    error = trouble.what();
    return RNN_INTERNAL;
  }
}

rnn_status rnnc::runtime::findNvrtc(const Nvrtc*& out, std::string& error) noexcept {
  return findOnce<Nvrtc>(searchNvrtc, out, error);
}
