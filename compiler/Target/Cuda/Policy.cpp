//===- Policy.cpp - how a system is laid on a multiprocessor ---------------------------------===//
//
// Without measurements, by arithmetic:
//
// W, the chunks of a tile. A dependent addition or product takes 4 cycles, and each of the 4
// schedulers of a multiprocessor issues one instruction a cycle: 16 warps hide that latency where
// a lane is one chain of operations. Two tiles are in flight, so that one computes while the other
// waits for memory: W = 8. A lane of more than two states has the columns of its product of
// Jacobians to work on side by side, and needs the registers for them: W = 4.
//
// C, the steps of a chunk. The larger it is, the fewer sweeps; the largest power of two with which
// two blocks fit into the shared memory of a multiprocessor. Where that is less than 8, one block
// with double buffers will do, and then fewer chunks: a sweep of short chunks is mostly scan.
//
// Registers. A thread of two blocks of W warps may have 65536 / (2 * 32 * W) of them, 255 at most.
// A product of Jacobians that does not fit beside its factors would go to memory at every step:
// such a system runs sequentially.
//
//===----------------------------------------------------------------------------------------------===//

#include "Target/Cuda/Policy.h"

#include "rnn/policy.cuh"
#include "rnn/windows.cuh"

#include <algorithm>

using namespace rnnc::cuda;

namespace {

constexpr int64_t kWarp = 32, kMostRegisters = 255;
constexpr int64_t kBlocks = 2; // tiles in flight on a multiprocessor
constexpr int64_t kLongestChunk = 64;
constexpr int64_t kShortChunk = 8;
constexpr int64_t kMostChunks = 32; // a block has 1024 threads at most
constexpr int64_t kMostSteps = 4096, kMostUnrolled = 64;
/// Numbers that a step needs beside its states, products and params: what the functions of math.cuh
/// use, pointers, indices. Calibrated with ptxas on blocks of 5 to 8 states in f32 and f64.
constexpr int64_t kWorkingNumbers = 28;

int64_t sharedBytes(const SystemShape& shape, const Policy& policy) {
  rnn::staging stage = policy.stage == Staging::Registers ? rnn::staging::registers
                       : policy.stage == Staging::Shared  ? rnn::staging::shared
                                                          : rnn::staging::shared_single;
  rnn::shared_shape tile{static_cast<int>(policy.lanes),
                         static_cast<int>(policy.chunks),
                         static_cast<int>(policy.steps),
                         stage,
                         static_cast<int>(shape.states),
                         static_cast<int>(shape.carry),
                         static_cast<int>(shape.inputRows(policy.steps)),
                         static_cast<int>(shape.stored + shape.outputs)};
  return tile.bytes(static_cast<int>(shape.bytes));
}

/// Whether so many blocks are resident on a multiprocessor together.
bool fits(const Architecture& arch, int64_t bytes, int64_t blocks) {
  return bytes <= arch.sharedPerBlock &&
         blocks * (bytes + Architecture::kReservedPerBlock) <= arch.sharedPerSm;
}

/// Registers of a thread that multiplies Jacobians: the product before and after, the states, the
/// params. An entry of the Jacobian lives shortly.
int64_t registersOfProduct(const SystemShape& shape) {
  int64_t numbers = 2 * shape.carry + 2 * shape.states + shape.inputs + shape.params;
  return (numbers + kWorkingNumbers) * shape.bytes / 4;
}

Policy withStaging(const SystemShape& shape, Policy policy, Staging stage, int64_t blocks) {
  policy.stage = stage;
  policy.blocks = blocks;
  policy.sharedBytes = sharedBytes(shape, policy);
  return policy;
}

/// How tiles of `policy.chunks` by `policy.steps` are staged; no blocks where they do not fit.
Policy stageInShared(const Architecture& arch, const SystemShape& shape, const Policy& policy) {
  for (int64_t blocks : {kBlocks, int64_t{1}})
    for (Staging stage : {Staging::Shared, Staging::SharedSingle}) {
      if (blocks == 1 && stage == Staging::SharedSingle)
        continue; // neither two tiles in flight nor double buffers
      Policy staged = withStaging(shape, policy, stage, blocks);
      if (fits(arch, staged.sharedBytes, blocks))
        return staged;
    }
  return withStaging(shape, policy, Staging::SharedSingle, 0);
}

/// The longest chunks for a number of chunks; no blocks where none fit.
Policy longestChunks(const Architecture& arch, const SystemShape& shape, int64_t chunks) {
  Policy one, policy;
  one.blocks = 0;
  policy.chunks = chunks;
  for (policy.steps = kLongestChunk; policy.steps >= 1; policy.steps /= 2) {
    Policy staged = stageInShared(arch, shape, policy);
    if (staged.blocks == kBlocks)
      return staged.steps >= kShortChunk || one.blocks == 0 ? staged : one;
    if (staged.blocks == 1 && one.blocks == 0)
      one = staged;
  }
  return one;
}

/// One thread a lane, all of time in order. Nothing is staged.
Policy sequentialPolicy(const SystemShape& shape) {
  Policy policy;
  policy.lanes = 2 * kWarp; // as many blocks as there can be then fill all places for warps
  policy.steps = kShortChunk;
  while (policy.steps > 1 && shape.inputRows(policy.steps) * shape.bytes / 4 > 32)
    policy.steps /= 2;
  int64_t numbers = 2 * shape.states + shape.params + shape.inputRows(policy.steps);
  bool small = (numbers + kWorkingNumbers) * shape.bytes / 4 <= 96;
  policy.blocks = Architecture::kRegisters / (policy.lanes * (small ? 128 : 256));
  return policy;
}

llvm::Error refuse(const llvm::Twine& text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Chunks, or steps, or both are fixed by the user.
llvm::Expected<Policy> requestedPolicy(const Architecture& arch, const SystemShape& shape,
                                       const PolicyRequest& request, int64_t chunks) {
  Policy policy;
  policy.chunks = chunks;
  if (request.chunk == 0 && !request.registers) {
    policy = longestChunks(arch, shape, chunks);
    if (policy.blocks)
      return policy;
    return refuse("no tile of " + llvm::Twine(chunks) + " chunks fits into the shared memory of " +
                  arch.name);
  }
  policy.steps = request.chunk ? request.chunk : kShortChunk;
  if (int64_t most = request.registers ? kMostUnrolled : kMostSteps; policy.steps > most)
    return refuse("a chunk has at most " + llvm::Twine(most) + " steps on CUDA" +
                  (request.registers ? " where it is unrolled" : ""));
  policy = request.registers ? withStaging(shape, policy, Staging::Registers, kBlocks)
                             : stageInShared(arch, shape, policy);
  if (policy.blocks == 0) // the user's own choice: one tile without double buffers
    policy.blocks = 1;
  while (policy.blocks > 1 && !fits(arch, policy.sharedBytes, policy.blocks))
    --policy.blocks;
  if (!fits(arch, policy.sharedBytes, policy.blocks))
    return refuse("a tile of " + llvm::Twine(chunks) + " chunks of " + llvm::Twine(policy.steps) +
                  " steps needs " + llvm::Twine(policy.sharedBytes) +
                  " bytes of shared memory; a block of " + arch.name + " has " +
                  llvm::Twine(arch.sharedPerBlock));
  return policy;
}

} // namespace

int64_t SystemShape::inputRows(int64_t steps) const {
  if (back.empty())
    return inputs * steps;
  std::vector<int> head(inputs), row(inputs), span(inputs);
  return rnn::lay_windows(source.data(), back.data(), static_cast<int>(inputs),
                          static_cast<int>(steps), head.data(), row.data(), span.data());
}

int64_t Policy::registers() const {
  return std::min(Architecture::kRegisters / (threads() * blocks) & ~7, kMostRegisters);
}

llvm::Expected<Policy> rnnc::cuda::choosePolicy(const Architecture& arch, const SystemShape& shape,
                                                const PolicyRequest& request) {
  if (request.chunks > kMostChunks)
    return refuse("a block has at most " + llvm::Twine(kMostChunks) + " chunks on CUDA");
  if (request.parallel && request.chunks == 1)
    return refuse("one chunk is the sequential schedule");
  if (request.sequential || request.chunks == 1)
    return sequentialPolicy(shape);
  if (shape.carry == 0) {
    if (request.chunks > 1 || request.parallel)
      return refuse("chunks need a Jacobian, and a block of " + llvm::Twine(shape.states) +
                    " states has none: it runs sequentially");
    return sequentialPolicy(shape);
  }
  int64_t chunks = shape.states <= 2 ? 8 : 4;
  if (request.chunks || request.chunk || request.registers)
    return requestedPolicy(arch, shape, request, request.chunks ? request.chunks : chunks);
  bool spills = registersOfProduct(shape) > kMostRegisters * 7 / 8; // room for ptxas to reorder
  if (spills && !request.parallel)
    return sequentialPolicy(shape);
  Policy best = longestChunks(arch, shape, chunks);
  for (chunks /= 2; best.steps < kShortChunk && chunks > 1; chunks /= 2)
    if (Policy fewer = longestChunks(arch, shape, chunks); fewer.blocks && fewer.steps > best.steps)
      best = fewer;
  if (best.blocks == 0 && request.parallel)
    return refuse(llvm::Twine("no tile fits into the shared memory of ") + arch.name);
  return best.blocks ? best : sequentialPolicy(shape);
}
