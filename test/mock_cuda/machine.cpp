#include "machine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace mock_cuda {
namespace {

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

} // namespace

thread_local bool isThreadInside = false;

Inside::Inside(Machine& machine) : lock_((isThreadInside = true, machine.mutex)) {}
Inside::~Inside() { isThreadInside = false; }
bool Machine::isInside() { return isThreadInside; }

Machine& machine() {
  static auto* made = new Machine(); // outlives everything that may still use it at the end
  return *made;
}

std::vector<Device*>& contexts() {
  thread_local std::vector<Device*> stack;
  return stack;
}

Machine::Machine() {
  const std::string list = variable("RNN_MOCK_DEVICES", "90");
  std::istringstream numbers(list == "none" ? "" : list);
  for (std::string number; std::getline(numbers, number, ',');) {
    devices.push_back(std::make_unique<Device>(Device{std::atoi(number.c_str())}));
  }
  version = std::atoi(variable("RNN_MOCK_VERSION", "13000").c_str());
  if (const std::string path = variable("RNN_MOCK_KERNELS", ""); !path.empty()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    using Kernels = std::vector<Kernel>* (*)();
    const auto kernels =
        library ? reinterpret_cast<Kernels>(dlsym(library, "mock_cuda_kernels")) : nullptr;
    if (!kernels) {
      std::fprintf(stderr, "RNN_MOCK_KERNELS=%s: %s\n", path.c_str(), dlerror());
      std::abort();
    }
    kernels_ = *kernels();
  }
}

std::vector<std::string> Machine::calls() {
  std::lock_guard lock(mutex);
  return calls_;
}
std::vector<Launch> Machine::launches() {
  std::lock_guard lock(mutex);
  return launches_;
}
void Machine::forget() {
  std::lock_guard lock(mutex);
  calls_.clear();
  launches_.clear();
  failures_.clear();
}
void Machine::failOnce(const std::string& function, int result, int skipped) {
  std::lock_guard lock(mutex);
  failures_[function] = {result, skipped};
}
void Machine::bring(Kernel kernel) {
  std::lock_guard lock(mutex);
  kernels_.push_back(std::move(kernel));
}
void Machine::setReadsHostMemory(bool reads) {
  std::lock_guard lock(mutex);
  readsHostMemory = reads;
}

void* Machine::memory(int device, size_t bytes) {
  std::lock_guard lock(mutex);
  void* made = std::aligned_alloc(256, (bytes + 255) / 256 * 256 + 256);
  std::memset(made, 0xa5, bytes);
  blocks[static_cast<char*>(made)] = {bytes, device, false};
  return made;
}

void* Machine::makeStream(int device) {
  std::lock_guard lock(mutex);
  ++devices[device]->retained;
  streams.push_back(std::make_unique<Stream>(Stream{devices[device].get(), {}}));
  return streams.back().get();
}

void Machine::wait(void* stream) {
  std::lock_guard lock(mutex);
  finish(*static_cast<Stream*>(stream));
}

void Machine::beginCapture(void* stream) {
  std::lock_guard lock(mutex);
  auto& captured = *static_cast<Stream*>(stream);
  finish(captured);
  captured.isCaptured = true;
  captured.isBroken = false;
}

Graph Machine::endCapture(void* stream) {
  std::lock_guard lock(mutex);
  auto& captured = *static_cast<Stream*>(stream);
  captured.isCaptured = false;
  graphs_.push_back(std::move(captured.queued));
  captured.queued.clear();
  return {captured.isBroken ? CaptureInvalidated : Success, graphs_.size() - 1,
          graphs_.back().size()};
}

void Machine::replay(size_t graph, void* stream) {
  std::lock_guard lock(mutex);
  auto& onto = static_cast<Stream*>(stream)->queued;
  onto.insert(onto.end(), graphs_[graph].begin(), graphs_[graph].end());
}

int Machine::retained(int device) {
  std::lock_guard lock(mutex);
  return devices[device]->retained;
}
int Machine::modules() {
  std::lock_guard lock(mutex);
  return static_cast<int>(loaded.size());
}
size_t Machine::allocated() {
  std::lock_guard lock(mutex);
  size_t bytes = 0;
  for (const auto& [address, block] : blocks) {
    bytes += block.isCounted ? block.bytes : 0;
  }
  return bytes;
}
int Machine::current() {
  std::lock_guard lock(mutex);
  for (size_t i = 0; i < devices.size() && !contexts().empty(); ++i) {
    if (devices[i].get() == contexts().back()) {
      return static_cast<int>(i);
    }
  }
  return -1;
}
void Machine::makeCurrent(int device) {
  std::lock_guard lock(mutex);
  contexts().clear();
  if (device >= 0) {
    contexts().push_back(devices[device].get());
  }
}

int Machine::enter(const char* function, bool needsContext, bool waits) {
  calls_.push_back(function);
  if (const auto failure = failures_.find(function); failure != failures_.end()) {
    if (failure->second.skipped-- == 0) {
      const int result = failure->second.result;
      failures_.erase(failure);
      return result;
    }
  }
  if (!isInitialized && std::string(function) != "cuInit") {
    return NotInitialized;
  }
  if (needsContext && (contexts().empty() || contexts().back()->retained == 0)) {
    return InvalidContext;
  }
  for (const auto& stream : streams) {
    if (waits && stream->isCaptured) {
      stream->isBroken = true;
      return CaptureUnsupported;
    }
  }
  return Success;
}

Stream* Machine::find(void* stream) {
  if (!stream) {
    auto& made = defaultStreams[contexts().back()];
    if (!made) {
      made = std::make_unique<Stream>(Stream{contexts().back(), {}});
    }
    return made.get();
  }
  for (const auto& known : streams) {
    if (known.get() == stream) {
      return known->context == contexts().back() ? known.get() : nullptr;
    }
  }
  return nullptr;
}

void Machine::put(Stream& stream, Work work) { stream.queued.push_back(std::move(work)); }

int Machine::finish(Stream& stream) {
  int result = Success;
  for (Work& work : std::exchange(stream.queued, {})) {
    if (const std::string wrong = work(); !wrong.empty()) {
      std::fprintf(stderr, "mock_cuda: %s\n", wrong.c_str());
      result = LaunchFailed;
    }
  }
  return result;
}

int Machine::finish(Device* context) {
  int result = Success;
  for (const auto& stream : streams) {
    if (stream->context == context) {
      result = std::max(result, finish(*stream));
    }
  }
  if (const auto found = defaultStreams.find(context); found != defaultStreams.end()) {
    result = std::max(result, finish(*found->second));
  }
  return result;
}

bool Machine::holds(const void* address, size_t bytes) const {
  auto* at = static_cast<char*>(const_cast<void*>(address));
  auto after = blocks.upper_bound(at);
  if (after != blocks.begin()) {
    const auto& [begin, block] = *std::prev(after);
    if (at + bytes <= begin + block.bytes) {
      return true;
    }
    if (at < begin + block.bytes) {
      return false; // begins inside and ends outside
    }
  }
  return readsHostMemory;
}

int Machine::later(void* stream, Work work) {
  Stream* onto = find(stream);
  if (!onto) {
    return InvalidHandle;
  }
  put(*onto, std::move(work));
  return Success;
}

int Machine::fill(void* address, unsigned value, size_t count, void* stream) {
  Stream* onto = find(stream);
  if (!onto) {
    return InvalidHandle;
  }
  if (!holds(address, 4 * count) || reinterpret_cast<uintptr_t>(address) % 4 != 0) {
    return InvalidValue;
  }
  put(*onto, [=] {
    std::fill_n(static_cast<unsigned*>(address), count, value);
    return std::string();
  });
  return Success;
}

const Kernel* Machine::kernelFor(const std::string& name, unsigned lanes, unsigned chunks) const {
  for (const Kernel& kernel : kernels_) {
    if (kernel.name == name && kernel.lanes == lanes && kernel.chunks == chunks) {
      return &kernel;
    }
  }
  return nullptr;
}

/// A library from memory; null with a word about why where it is none.
void* loadLibrary(const char* bytes, size_t size) {
  const int file = memfd_create("mock_cuda kernels", MFD_CLOEXEC);
  const bool isWhole = file >= 0 && write(file, bytes, size) == static_cast<ssize_t>(size);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* library = isWhole ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    std::fprintf(stderr, "mock_cuda: %s\n", isWhole ? dlerror() : "no memory for a library");
  }
  return library; // the file stays open: the loader knows a library by its path
}

/// Of a module's own kernels.
static std::optional<Kernel> kernelOf(const Function& function, unsigned lanes, unsigned chunks) {
  using Entry = void (*)(unsigned, unsigned, Kernel*);
  const std::string name = "mock_entry_" + function.name;
  const auto entry = function.module->library
                         ? reinterpret_cast<Entry>(dlsym(function.module->library, name.c_str()))
                         : nullptr;
  if (!entry) {
    return std::nullopt;
  }
  Kernel kernel;
  entry(lanes, chunks, &kernel);
  return kernel;
}

int Machine::launch(Function* function, const unsigned (&grid)[3], const unsigned (&block)[3],
                    unsigned shared, void* stream, void** parameters) {
  Stream* onto = find(stream);
  if (!onto || function->module->context != contexts().back()) {
    return InvalidHandle;
  }
  const bool isEmpty = grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
  const unsigned long long threads = 1ull * block[0] * block[1] * block[2];
  if (isEmpty || grid[0] > 0x7fffffffu || threads == 0 || threads > 1024 ||
      shared > function->sharedAllowed || !parameters || !parameters[0]) {
    return InvalidValue;
  }
  launches_.push_back({function->name,
                       {grid[0], grid[1], grid[2]},
                       {block[0], block[1], block[2]},
                       shared,
                       stream});
  // Kernels come and go with whoever brought them; a launch has its own.
  const std::optional<Kernel> own = kernelOf(*function, block[0], block[1]);
  if (const Kernel* kernel = own ? &*own : kernelFor(function->name, block[0], block[1])) {
    const auto* bytes = static_cast<const unsigned char*>(parameters[0]);
    put(*onto, [run = kernel->run, blocks = grid[0], shared,
                argument = std::vector<unsigned char>(bytes, bytes + kernel->bytes)] {
      return run(blocks, shared, argument.data());
    });
  } else {
    put(*onto, [] { return std::string(); });
  }
  return Success;
}

} // namespace mock_cuda

mock_cuda::Driver* mock_cuda_driver() { return &mock_cuda::machine(); }
