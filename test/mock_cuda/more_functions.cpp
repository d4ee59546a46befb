// Functions of CUDA's driver that the runtime does not call, and programs with kernels of their own
// do: copies on the device, events, graphs.
#include "machine.hpp"

#include <chrono>
#include <cstring>

using namespace mock_cuda;

namespace {

struct Event {
  std::chrono::steady_clock::time_point when{};
};

} // namespace

extern "C" {

int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes,
                         void* stream) {
  Machine& m = machine();
  const Inside inside(m);
  if (const int result = m.enter("cuMemcpyDtoDAsync", true); result != Success)
    return result;
  auto *target = reinterpret_cast<void*>(to), *source = reinterpret_cast<void*>(from);
  if (!m.holds(target, bytes) || !m.holds(source, bytes))
    return InvalidValue;
  return m.later(stream, [=] {
    std::memcpy(target, source, bytes);
    return std::string();
  });
}

int cuEventCreate(Event** event, unsigned) {
  *event = new Event(); // until the end, as the machine is
  return Success;
}

int cuEventRecord(Event* event, void* stream) {
  Machine& m = machine();
  const Inside inside(m);
  if (const int result = m.enter("cuEventRecord", true); result != Success)
    return result;
  return m.later(stream, [=] {
    event->when = std::chrono::steady_clock::now();
    return std::string();
  });
}

int cuEventElapsedTime(float* milliseconds, Event* first, Event* second) {
  const std::chrono::duration<float, std::milli> taken = second->when - first->when;
  *milliseconds = taken.count();
  return Success;
}

int cuStreamBeginCapture_v2(void* stream, int) {
  machine().beginCapture(stream);
  return Success;
}

int cuStreamEndCapture(void* stream, Graph** graph) {
  *graph = new Graph(machine().endCapture(stream));
  return (*graph)->result;
}

int cuGraphInstantiateWithFlags(Graph** ready, Graph* graph, unsigned long long) {
  *ready = graph;
  return Success;
}

int cuGraphLaunch(Graph* ready, void* stream) {
  machine().replay(ready->handle, stream);
  return Success;
}

} // extern "C"
