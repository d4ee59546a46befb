#include "cuda/programs.hpp"

#include "core/status.hpp"
#include "device/text.hpp"

#include <optional>

namespace rnnc::runtime::cuda {
namespace {

/// What the device says to code that is not for it, or not whole: always the same.
bool isRefusal(Result result) {
  return result == kInvalidImage || result == kNoBinaryForGpu || result == kUnsupportedPtx ||
         result == kNotFound;
}

struct Refused {
  Result result = kSuccess;
  std::string what;
};

/// More than the 48 KiB that every kernel may have must be asked for, once.
void allowShared(const Device& device, FunctionRef function, const rnn_cuda_entry& entry) {
  if (entry.shared_bytes > device.sharedPerBlock) {
    fail(RNN_UNSUPPORTED,
         "{}: a block needs {} bytes of shared memory, {} gives it {}; smaller chunks need less",
         entry.name, entry.shared_bytes, deviceText(device), device.sharedPerBlock);
  }
  if (entry.shared_bytes > 0) {
    check(device.driver,
          device.driver->cuFuncSetAttribute(function, kFunctionShared,
                                            static_cast<int>(entry.shared_bytes)),
          "asking for shared memory");
  }
}

LoadedKernel launchable(const Device& device, FunctionRef function, const rnn_cuda_entry& entry) {
  const Driver& driver = device.driver;
  // Asking also makes a driver that loads lazily load now, not in the middle of a call.
  int most = 0, resident = 0;
  check(driver, driver->cuFuncGetAttribute(&most, kFunctionThreads, function),
        "asking how large a block may be");
  allowShared(device, function, entry);
  const int64_t threads = entry.lanes * entry.chunks;
  if (threads <= most) {
    check(driver,
          driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(
              &resident, function, static_cast<int>(threads),
              static_cast<size_t>(entry.shared_bytes)),
          "asking how many blocks fit");
  }
  if (resident < 1) {
    fail(RNN_UNSUPPORTED,
         "{}: a block of {} threads with {} bytes of shared memory does not fit on {}; fewer or "
         "smaller chunks need less",
         entry.name, threads, entry.shared_bytes, deviceText(device));
  }
  return {function, resident};
}

/// Null where the device refuses the code, which `refused` then tells; throws for anything else.
std::shared_ptr<const Program> load(const std::shared_ptr<const Device>& device,
                                    const rnn_cuda_unit& unit, const std::string& code,
                                    Refused& refused) {
  const Driver& driver = device->driver;
  Current current(*device);
  auto program = std::make_shared<Program>(device);
  const auto fine = [&](Result result, std::string what) {
    if (isRefusal(result)) {
      refused = {result, std::move(what)};
    } else {
      check(driver, result, what.c_str());
    }
    return result == kSuccess;
  };
  if (!fine(driver->cuModuleLoadData(&program->module, code.data()),
            fmt::format("loading {}", unit.name))) {
    program->module = nullptr;
    return nullptr;
  }
  for (uint32_t i = 0; i < unit.entries; ++i) {
    FunctionRef function = nullptr;
    if (!fine(driver->cuModuleGetFunction(&function, program->module, unit.entry[i].name),
              fmt::format("finding {} in {}", unit.entry[i].name, unit.name))) {
      return nullptr;
    }
    program->kernels.push_back(launchable(*device, function, unit.entry[i]));
  }
  current.restore();
  return program;
}

} // namespace

// Nothing to be done where it fails, as for the device.
Program::~Program() {
  ContextRef popped = nullptr;
  if (module && device->driver->cuCtxPushCurrent(device->context) == kSuccess) {
    device->driver->cuModuleUnload(module);
    device->driver->cuCtxPopCurrent(&popped);
  }
}

Digest programKey(const Nvrtc& nvrtc, const CudaSource& source) {
  Sha256 sha;
  sha.addText("rnn program 1");
  sha.addText(versionText(nvrtc));
  sha.addText(std::to_string(source.architecture));
  for (const std::string& option : compileOptions(source, CudaCode::Cubin)) {
    sha.addText(option);
  }
  for (const EmbeddedText& header : rnnc::deviceText()) {
    sha.addText(header.name);
    sha.addText({header.text, header.size});
  }
  sha.addText(source.name);
  sha.addText(source.text);
  return sha.finish();
}

struct Programs::Entry {
  std::mutex mutex; ///< held while the code is made or loaded, so that one thread does it
  std::string code;
  bool isFromDisk = false;
  std::optional<Error> failed;
  std::map<int, std::shared_ptr<const Program>> loaded; ///< by device

  /// Fills `code`, or throws.
  void compile(const Nvrtc& nvrtc, const CudaSource& source, const Digest& key, DiskCache& disk) {
    CudaProgram made;
    std::string error;
    const rnn_status status = compileCuda(nvrtc, source, CudaCode::Cubin, made, error);
    if (status == RNN_OUT_OF_MEMORY) {
      throw std::bad_alloc();
    }
    if (status != RNN_OK) {
      failed.emplace(status, error);
      throw *failed;
    }
    code = std::move(made.code);
    isFromDisk = false;
    disk.store(key, code);
  }
};

std::shared_ptr<const Device> Programs::device(int ordinal) {
  const Driver* driver = nullptr;
  std::string error;
  if (const rnn_status status = findDriver(driver, error); status != RNN_OK) {
    fail(status, "no CUDA device can be used: {}", error);
  }
  std::lock_guard lock(mutex_);
  std::shared_ptr<const Device>& device = devices_[ordinal];
  if (!device) {
    device = std::make_shared<Device>(*driver, ordinal);
  }
  return device;
}

std::shared_ptr<Programs::Entry> Programs::entryOf(const Digest& key) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[key];
  if (!entry) {
    entry = std::make_shared<Entry>();
  }
  return entry;
}

std::shared_ptr<const Program> Programs::program(const std::shared_ptr<const Device>& device,
                                                 const rnn_cuda_unit& unit) {
  const Nvrtc* nvrtc = nullptr;
  std::string error;
  if (const rnn_status status = findNvrtc(nvrtc, error); status != RNN_OK) {
    fail(status, "{} can be used, but its kernels cannot be compiled: {}", deviceText(*device),
         error);
  }
  const CudaSource source{unit.name, unit.text, device->architecture};
  const Digest key = programKey(*nvrtc, source);
  const std::shared_ptr<Entry> entry = entryOf(key);
  std::lock_guard lock(entry->mutex);
  if (entry->failed) {
    throw *entry->failed;
  }
  std::shared_ptr<const Program>& loaded = entry->loaded[device->ordinal];
  if (loaded) {
    return loaded;
  }
  if (entry->code.empty()) {
    entry->isFromDisk = disk_.load(key, entry->code);
  }
  if (entry->code.empty()) {
    entry->compile(*nvrtc, source, key, disk_);
  }
  Refused refused;
  loaded = load(device, unit, entry->code, refused);
  if (!loaded && entry->isFromDisk) { // whole, but not what it should be
    entry->compile(*nvrtc, source, key, disk_);
    loaded = load(device, unit, entry->code, refused);
  }
  if (!loaded) {
    Trouble trouble = troubleOf(device->driver, refused.result, refused.what);
    entry->failed.emplace(trouble.status,
                          fmt::format("{}; it was compiled by NVRTC {} for sm_{}", trouble.text,
                                      versionText(*nvrtc), device->architecture));
    throw *entry->failed;
  }
  return loaded;
}

} // namespace rnnc::runtime::cuda
