#include "core/bundle.hpp"

#include "core/module.hpp"
#include "core/status.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <string_view>

namespace rnnc::runtime {
namespace {

constexpr std::string_view levels = "x86-64-v";

/// The least level that runs a variant; -1 for a name of another runtime's.
int levelOf(std::string_view target) {
  if (target == "any") {
    return 0;
  }
  if (target.size() != levels.size() + 1 || !target.starts_with(levels)) {
    return -1;
  }
  const char digit = target.back();
  return digit >= '1' && digit <= '4' ? digit - '0' : -1;
}

/// A library that is cut short loads, and ends the process where it is read: what the linker wrote
/// last tells whether it is whole. What is no library at all is left to dlopen.
void checkIsWhole(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  Elf64_Ehdr header{};
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return;
  }
  const uint64_t sections = uint64_t(header.e_shnum) * header.e_shentsize;
  if (header.e_shoff > size || sections > size - header.e_shoff) {
    invalid("rnn_module_load: argument `path`: {} is cut short: {} bytes of {}", path, size,
            header.e_shoff + sections);
  }
}

/// A library of the process's; null where it could not be had, with the reason thrown.
std::shared_ptr<void> openLibrary(const char* path) {
  // A name without a slash is a file here, and not one of the system's library folders.
  const std::string file =
      std::string_view(path).find('/') == std::string_view::npos ? "./" + std::string(path) : path;
  checkIsWhole(file.c_str());
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    invalid("rnn_module_load: argument `path`: {}", why ? why : file.c_str());
  }
  return {library, [](void* opened) { dlclose(opened); }};
}

} // namespace

int processorLevel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("x86-64-v4")   ? 4
         : __builtin_cpu_supports("x86-64-v3") ? 3
         : __builtin_cpu_supports("x86-64-v2") ? 2
                                               : 1;
#else
  return 0;
#endif
}

void validateBundle(const rnn_module_bundle* bundle, const char* what) {
  if (!bundle) {
    invalid("{} is null", what);
  }
  if (bundle->abi_version != RNN_ABI_VERSION) {
    invalid(
        "{}: it was built for version {} of the module interface, this runtime has {}; build it "
        "again with the rnnc that belongs to this runtime",
        what, bundle->abi_version, RNN_ABI_VERSION);
  }
  if (bundle->size < sizeof(rnn_module_bundle)) {
    invalid("{}: size is {}, this runtime needs {}", what, bundle->size, sizeof(rnn_module_bundle));
  }
  if (!bundle->cell || !bundle->manifest || !bundle->variant || bundle->variants == 0) {
    invalid("{}: it lacks a name, a manifest or a variant", what);
  }
  for (uint32_t i = 0; i < bundle->variants; ++i) {
    if (!bundle->variant[i].target || !bundle->variant[i].table) {
      invalid("{}: variant {} of {} lacks a target or a table", what, i, bundle->cell);
    }
  }
}

const rnn_module_table* chooseVariant(const rnn_module_bundle& bundle, int level) {
  const rnn_module_table* best = nullptr;
  std::string targets;
  for (uint32_t i = 0; i < bundle.variants; ++i) {
    const rnn_module_variant& variant = bundle.variant[i];
    const int needed = levelOf(variant.target);
    if (needed >= 0 && needed <= level) {
      best = variant.table;
    }
    targets += fmt::format("{}{}", i ? ", " : "", variant.target);
  }
  if (!best) {
    fail(RNN_UNSUPPORTED,
         "module {}: it was built for {}, and this processor {}; build it with --arch for "
         "what runs here",
         bundle.cell, targets,
         level > 0 ? fmt::format("is {}{}", levels, level) : std::string("is not of x86-64"));
  }
  return best;
}

} // namespace rnnc::runtime

using namespace rnnc::runtime;

rnn_status rnn_module_from_bundle(rnn_context* context, const rnn_module_bundle* bundle,
                                  rnn_module** out) {
  return guarded([&] {
    prepareModule(context, out, "rnn_module_from_bundle");
    validateBundle(bundle, "rnn_module_from_bundle: argument `bundle`");
    *out = makeModule(*context, chooseVariant(*bundle, processorLevel()), nullptr);
    return RNN_OK;
  });
}

rnn_status rnn_module_load(rnn_context* context, const char* path, rnn_module** out) {
  return guarded([&] {
    prepareModule(context, out, "rnn_module_load");
    if (!path || !*path) {
      invalid("rnn_module_load: argument `path` is {}", path ? "empty" : "null");
    }
    std::shared_ptr<void> library = openLibrary(path);
    const auto* bundle =
        static_cast<const rnn_module_bundle*>(dlsym(library.get(), RNN_BUNDLE_SYMBOL));
    const std::string what = fmt::format("rnn_module_load: argument `path`: {}", path);
    if (!bundle) {
      invalid("{}: this library was not written by rnnc build: it has no symbol {}", what,
              RNN_BUNDLE_SYMBOL);
    }
    validateBundle(bundle, what.c_str());
    *out = makeModule(*context, chooseVariant(*bundle, processorLevel()), std::move(library));
    return RNN_OK;
  });
}
