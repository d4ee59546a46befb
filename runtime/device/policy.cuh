// What a policy says, and what it costs in shared memory. Host and device both compute with it.
//
//     struct policy {
//       static constexpr int lanes = 32;  // threads of a block along x, a lane each
//       static constexpr int chunks = 8;  // W: threads along y, a chunk of every lane each
//       static constexpr int steps = 16;  // C: steps of a chunk
//       static constexpr rnn::staging stage = rnn::staging::registers;
//     };
//
// A tile is chunks x steps of time. With chunks = 1 the kernel is the sequential loop, which reads
// the inputs of `steps` steps ahead of them and needs no shared memory; else lanes must be 32.
#pragma once

namespace rnn {

/// Where a tile's inputs and results are while its sweeps go on.
enum class staging {
  registers, ///< the chunk loop is fully unrolled
  shared,    ///< the chunk loop is rolled; copied asynchronously while the tile before is solved
  shared_single, ///< the same with room for one tile's inputs only
};

/// `left` where that is less than `most`, never below 0.
constexpr int clipped(long long left, int most) {
  return left < 0 ? 0 : left < most ? static_cast<int>(left) : most;
}

/// The block's shared memory, in numbers of the type of computation, [row][chunk][lane] everywhere
/// so that the threads of a warp touch neighbours. Shapes are those of cell and policy.
struct shared_shape {
  int lanes, chunks, steps;
  staging stage;
  int states, carry;
  int input_rows; ///< of a chunk's windows (windows.cuh)
  int results;    ///< stored states and outputs

  constexpr int threads() const { return lanes * chunks; }
  constexpr int input_buffers() const {
    return chunks == 1 || stage == staging::registers ? 0 : stage == staging::shared ? 2 : 1;
  }
  /// Start, end and product of the Jacobians of every chunk, and how far each start is off.
  constexpr int exchange_rows() const { return chunks == 1 ? 0 : 2 * states + carry + 1; }
  constexpr int result_rows() const { return input_buffers() > 0 ? results * steps : 0; }

  /// The block's notes (report.cuh), behind all rows.
  enum { notes_bytes = 112 };

  /// What the launch must ask for.
  constexpr long long bytes(int bytes_per_number) const {
    const long long rows = exchange_rows() + input_buffers() * input_rows + result_rows();
    return chunks == 1 ? 0 : rows * threads() * bytes_per_number + notes_bytes;
  }
};

} // namespace rnn
