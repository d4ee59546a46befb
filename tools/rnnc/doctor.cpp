// rnnc doctor: what this machine has and lacks, and what that means.
#include "options.h"
#include "verbs.h"

#include "Target/Cpu/Jit.h"
#include "cuda/driver.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/session.hpp"

#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <sched.h>
#include <unistd.h>

using namespace rnnc;
using namespace rnnc::tool;
using Json = nlohmann::ordered_json;

/// Cores that this process may use, which a container's mask makes fewer than the machine's.
static int usableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

static Json describeCpu() {
  Json cpu;
  cpu["name"] = llvm::sys::getHostCPUName().str();
  cpu["cores"] = usableCores();
  auto features = llvm::sys::getHostCPUFeatures();
  Json& list = cpu["features"] = Json::array();
  for (const char* name : {"sse4.2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw",
                           "avx512dq", "avx512vl", "avx512bf16", "avx512fp16", "amx-bf16"})
    if (features.lookup(name))
      list.push_back(name);
  auto cache = [&](const char* name, int what) {
    long bytes = sysconf(what);
    if (bytes > 0)
      cpu["cache_bytes"][name] = bytes;
  };
  cache("L1d", _SC_LEVEL1_DCACHE_SIZE);
  cache("L2", _SC_LEVEL2_CACHE_SIZE);
  cache("L3", _SC_LEVEL3_CACHE_SIZE);
  cpu["memory_bytes"] =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  return cpu;
}

static Json describeCompiler() {
  Json compiler{{"version", RNNC_VERSION}, {"llvm", LLVM_VERSION_STRING}};
  if (auto target = cpuTarget("")) {
    compiler["target"] = target->name;
    compiler["vector_bits"] = target->vectorBits;
    compiler["fma"] = target->fma;
    compiler["usable"] = true;
  } else {
    compiler["usable"] = false;
    compiler["why"] = llvm::toString(target.takeError());
  }
  return compiler;
}

static Json describeDriver() {
  const runtime::cuda::Driver* driver = nullptr;
  std::string error;
  if (runtime::cuda::findDriver(driver, error) != RNN_OK)
    return {{"found", false}, {"why", error}, {"devices", Json::array()}};
  Json found{{"found", true},
             {"library", driver->path},
             {"version", runtime::cuda::versionText(driver->version)},
             {"devices", Json::array()}};
  for (const runtime::cuda::DeviceName& device : runtime::cuda::listDevices())
    found["devices"].push_back(
        {{"name", device.name}, {"architecture", fmt::format("sm_{}", device.architecture)}});
  return found;
}

static Json describeNvrtc() {
  const runtime::Nvrtc* nvrtc = nullptr;
  std::string error;
  if (runtime::findNvrtc(nvrtc, error) != RNN_OK)
    return {{"found", false}, {"why", error}};
  return {{"found", true},
          {"library", nvrtc->path},
          {"version", runtime::versionText(*nvrtc)},
          {"architectures", nvrtc->architectures}};
}

static std::string bytesText(int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

static void print(const Json& report) {
  auto line = [](const char* what, const std::string& text) {
    fmt::print("{:<10}{}\n", what, text);
  };
  const Json &cpu = report["cpu"], &compiler = report["compiler"], &cuda = report["cuda"];
  std::string features, caches;
  for (const auto& name : cpu["features"])
    features += " " + name.get<std::string>();
  if (cpu.contains("cache_bytes"))
    for (auto& [level, bytes] : cpu["cache_bytes"].items())
      caches += fmt::format("{}{} {}", caches.empty() ? "" : ", ", level,
                            bytesText(bytes.get<int64_t>()));
  line("rnnc", fmt::format("{}, LLVM {}", compiler["version"].get<std::string>(),
                           compiler["llvm"].get<std::string>()));
  line("cpu", fmt::format("{}, {} core{} usable,{}", cpu["name"].get<std::string>(),
                          cpu["cores"].get<int>(), cpu["cores"].get<int>() == 1 ? "" : "s",
                          features.empty() ? " no vector features" : features));
  line("caches", caches.empty() ? "the system does not say" : caches);
  line("memory", bytesText(cpu["memory_bytes"].get<int64_t>()));
  if (compiler["usable"].get<bool>())
    line("kernels",
         fmt::format("for this machine: {} bits a vector, {} f32 or {} f64{}",
                     compiler["vector_bits"].get<int>(), compiler["vector_bits"].get<int>() / 32,
                     compiler["vector_bits"].get<int>() / 64,
                     compiler["fma"].get<bool>() ? ", fused multiply-add"
                                                 : ", no fused multiply-add"));
  else
    line("kernels", "none: " + compiler["why"].get<std::string>());
  const Json &driver = cuda["driver"], &nvrtc = cuda["nvrtc"];
  if (driver["found"].get<bool>())
    line("libcuda", fmt::format("{}, for CUDA {}", driver["library"].get<std::string>(),
                                driver["version"].get<std::string>()));
  else
    line("libcuda", driver["why"].get<std::string>());
  if (nvrtc["found"].get<bool>())
    line("NVRTC", fmt::format("{}, version {}, for sm_{}", nvrtc["library"].get<std::string>(),
                              nvrtc["version"].get<std::string>(),
                              fmt::join(nvrtc["architectures"].get<std::vector<int>>(), " ")));
  else
    line("NVRTC", nvrtc["why"].get<std::string>());
  std::string devices = compiler["usable"].get<bool>() ? "cpu" : "";
  for (size_t i = 0; nvrtc["found"].get<bool>() && i < driver["devices"].size(); ++i)
    devices += fmt::format("{}cuda:{} ({}, {})", devices.empty() ? "" : ", ", i,
                           driver["devices"][i]["name"].get<std::string>(),
                           driver["devices"][i]["architecture"].get<std::string>());
  line("devices", devices.empty() ? "none" : devices);
}

int rnnc::tool::runDoctor(const Options& options) {
  Json report;
  report["compiler"] = describeCompiler();
  report["cpu"] = describeCpu();
  report["cuda"] = {{"driver", describeDriver()}, {"nvrtc", describeNvrtc()}};
  bool usable = report["compiler"]["usable"].get<bool>();
  report["devices"] = usable ? Json{"cpu"} : Json::array();
  const Json& cuda = report["cuda"];
  for (size_t i = 0; cuda["nvrtc"]["found"].get<bool>() && i < cuda["driver"]["devices"].size();
       ++i)
    report["devices"].push_back(fmt::format("cuda:{}", i));
  if (options.json)
    fmt::print("{}\n", report.dump(2));
  else
    print(report);
  return usable ? kFine : kMissing;
}
