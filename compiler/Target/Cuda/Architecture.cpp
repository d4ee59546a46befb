//===- Architecture.cpp - the limits of CUDA's architectures ---------------------------------===//

#include "Target/Cuda/Architecture.h"

using namespace rnnc::cuda;

namespace {

constexpr int64_t KiB = 1024;

/// sm_88 is in no published table yet; it gets the least that its neighbours have.
constexpr Architecture kArchitectures[] = {
    {"sm_75", 75, 64 * KiB, 64 * KiB, 32, 16},     {"sm_80", 80, 164 * KiB, 163 * KiB, 64, 32},
    {"sm_86", 86, 100 * KiB, 99 * KiB, 48, 16},    {"sm_87", 87, 164 * KiB, 163 * KiB, 48, 16},
    {"sm_88", 88, 100 * KiB, 99 * KiB, 48, 16},    {"sm_89", 89, 100 * KiB, 99 * KiB, 48, 24},
    {"sm_90", 90, 228 * KiB, 227 * KiB, 64, 32},   {"sm_100", 100, 228 * KiB, 227 * KiB, 64, 32},
    {"sm_103", 103, 228 * KiB, 227 * KiB, 64, 32}, {"sm_110", 110, 228 * KiB, 227 * KiB, 48, 24},
    {"sm_120", 120, 100 * KiB, 99 * KiB, 48, 24},  {"sm_121", 121, 100 * KiB, 99 * KiB, 48, 24}};

} // namespace

std::string rnnc::cuda::architectureNames() {
  std::string names;
  for (const Architecture& arch : kArchitectures)
    names += (names.empty() ? "" : ", ") + std::string(arch.name);
  return names;
}

llvm::Expected<Architecture> rnnc::cuda::findArchitecture(llvm::StringRef name) {
  for (const Architecture& arch : kArchitectures)
    if (name == arch.name)
      return arch;
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "unknown architecture '" + name + "'");
}
