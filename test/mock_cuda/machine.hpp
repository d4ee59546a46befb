// What the mock driver knows.
#pragma once

#include "mock_cuda/driver.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace mock_cuda {

// CUresult.
enum Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinary = 209,
  InvalidHandle = 400,
  NotFound = 500,
  LaunchFailed = 719,
  CaptureUnsupported = 900,
  CaptureInvalidated = 901,
};

struct Device {
  int architecture;
  int retained = 0;
};

struct Module {
  Device* context;
  std::string image;
  void* library = nullptr; ///< of kernels for the host that the code brought
};

struct Function {
  Module* module;
  std::string name;
  unsigned sharedAllowed = 48 << 10; ///< dynamic, until more is asked for
};

using Work = std::function<std::string()>;

struct Stream {
  Device* context;
  std::vector<Work> queued;
  bool isCaptured = false, isBroken = false;
};

class Machine : public Driver {
public:
  Machine();

  std::vector<std::string> calls() override;
  std::vector<Launch> launches() override;
  void forget() override;
  void failOnce(const std::string& function, int result, int skipped) override;
  void bring(Kernel kernel) override;
  void setReadsHostMemory(bool reads) override;
  void* memory(int device, size_t bytes) override;
  void* makeStream(int device) override;
  void wait(void* stream) override;
  void beginCapture(void* stream) override;
  Graph endCapture(void* stream) override;
  void replay(size_t graph, void* stream) override;
  int retained(int device) override;
  int modules() override;
  size_t allocated() override;
  bool isInside() override;
  int current() override;
  void makeCurrent(int device) override;

  /// Counts a call and says what it is to give; `needsContext`: one must be current; `waits`: it is
  /// not for a captured stream.
  int enter(const char* function, bool needsContext = false, bool waits = false);

  // The functions' parts, with mutex_ held.
  int launch(Function* function, const unsigned (&grid)[3], const unsigned (&block)[3],
             unsigned shared, void* stream, void** parameters);
  int later(void* stream, Work work);
  int fill(void* address, unsigned value, size_t count, void* stream);
  /// Null where it is not of the current context.
  Stream* find(void* stream);
  int finish(Device* context);
  int finish(Stream& stream);
  /// Whether a device's kernels and copies may touch it.
  bool holds(const void* address, size_t bytes) const;

  struct Block {
    size_t bytes;
    int device;
    bool isCounted;
  };

  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> devices;
  std::map<char*, Block> blocks;
  std::vector<std::unique_ptr<Module>> loaded;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::unique_ptr<Stream>> streams;
  std::map<Device*, std::unique_ptr<Stream>> defaultStreams;
  bool readsHostMemory = false, isInitialized = false;
  int version = 13000;

private:
  struct Failure {
    int result, skipped;
  };
  const Kernel* kernelFor(const std::string& name, unsigned lanes, unsigned chunks) const;
  void put(Stream& stream, Work work);

  std::vector<std::string> calls_;
  std::vector<Launch> launches_;
  std::map<std::string, Failure> failures_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<Work>> graphs_;
};

Machine& machine();

void* loadLibrary(const char* bytes, size_t size);

/// Holds the machine while a thread is in a function of the driver.
class Inside {
public:
  explicit Inside(Machine& machine);
  ~Inside();
  Inside(const Inside&) = delete;

private:
  std::lock_guard<std::mutex> lock_;
};

/// Contexts that are current in the calling thread, the last one on top.
std::vector<Device*>& contexts();

} // namespace mock_cuda
