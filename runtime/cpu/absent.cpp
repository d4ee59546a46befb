// In place of all other files of this folder, in a library that is built with RNN_CPU=OFF: no plan
// for the CPU can be made, so that nothing else of it is ever asked for.
#include "core/status.hpp"
#include "cpu/arena.hpp"
#include "cpu/forward.hpp"
#include "cpu/stream.hpp"

namespace rnnc::runtime::cpu {
namespace {

[[noreturn]] void absent() {
  fail(RNN_UNSUPPORTED, "this library was built without its part for the CPU (RNN_CPU=OFF); set "
                        "`device` in rnn_plan_options to RNN_DEVICE_CUDA");
}

} // namespace

int usualThreads() { absent(); }
std::shared_ptr<Arena> makeArena(int) { absent(); }
void measureParts(Plan&) { absent(); }
int64_t outerNumbers(const OuterPlan&, rnn_dtype) { absent(); }
size_t workspaceBytes(const Plan&) { absent(); }
size_t reserveBytes(const Plan&) { absent(); }
size_t backwardBytes(const Plan&) { absent(); }
rnn_status forward(const Plan&, const rnn_tensor*, void*, void*) { absent(); }
rnn_status backward(const Plan&, const rnn_tensor*, const rnn_tensor*, void*, const void*) {
  absent();
}
size_t stateBytes(const Plan&) { absent(); }
StreamHeader* streamHeader(const Plan&, void*) { absent(); }
void beginStream(const Plan&, const rnn_tensor*, void*) { absent(); }
rnn_status step(const Plan&, const rnn_tensor*, void*) { absent(); }
rnn_status steps(const Plan&, const rnn_tensor*, void*, void*) { absent(); }

} // namespace rnnc::runtime::cpu
