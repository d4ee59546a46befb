// Builds module tables from hand-written cells, makes data, runs plans, and compares bit for bit
// with a plain loop over the steps of each lane.
#pragma once

#include "cells.hpp"
#include "rnn/rnn.h"

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>

namespace rnnc::test {

enum class Layout {
  Contiguous, ///< (batch, time, lanes), lanes contiguous
  TimeMajor,  ///< (time, batch, lanes)
  Padded,     ///< rows longer than the lanes
  Reversed,   ///< time runs backwards in memory
  Strided,    ///< every third number
  LaneMajor,  ///< (batch, lanes, time)
};

/// The descriptors of one cell; lanes have the dims "d", or "h" and "d".
class Table {
public:
  struct Options {
    int laneRank = 1;
    bool blockState = false; ///< one state tensor [lanes..., K] instead of K tensors [lanes...]
    bool hideFirst = false;  ///< the first state tensor is hidden
    rnn_cost cost{};
    std::vector<uint32_t> back; ///< of each input; those not named are not delayed
    double before = 0;          ///< what they read before time 0
    bool oneInput = false;      ///< all input slots read x0
  };

  explicit Table(const CellInfo& cell) : Table(cell, Options{}) {}
  Table(const CellInfo& cell, const Options& options);
  Table(const Table&) = delete;

  const rnn_module_table* get() const { return &table; }

  // All of it can be changed by a test before it is used.
  std::vector<rnn_tensor_desc> tensors;
  std::vector<rnn_slot> states, inputs, params, outputs;
  std::vector<const char*> axes;
  std::vector<int64_t> axisSizes;
  std::vector<rnn_cpu_kernel> kernels;
  std::vector<rnn_carry_place> carry;
  rnn_system_desc system{};
  rnn_module_table table{};

private:
  const char* keep(std::string text);
  const char** names(std::vector<const char*> list);
  int64_t* sizes(std::vector<int64_t> list);

  std::vector<std::unique_ptr<std::string>> texts_;
  std::vector<std::unique_ptr<std::vector<const char*>>> lists_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> sizes_;
};

struct ModuleHandle {
  explicit ModuleHandle(const rnn_module_table* table);
  ~ModuleHandle();
  ModuleHandle(const ModuleHandle&) = delete;

  rnn_context* context = nullptr;
  rnn_module* module = nullptr;
  rnn_status status = RNN_OK;
};

/// An array of the caller's in some layout.
struct Array {
  std::vector<unsigned char> bytes;
  rnn_tensor tensor{};

  /// `timeAxis` -1: none. Exactly as long as the layout needs.
  Array() = default;
  Array(Array&&) = default; ///< `tensor` points into `bytes`
  Array& operator=(Array&&) = default;
  Array(const std::vector<int64_t>& shape, int timeAxis, Layout layout, rnn_dtype dtype);
  double get(std::span<const int64_t> index) const;
  void set(std::span<const int64_t> index, double value);
  char* at(std::span<const int64_t> index) const;
};

/// Memory aligned as a workspace must be.
struct Workspace {
  explicit Workspace(size_t bytes) : data(::operator new(bytes + 1, std::align_val_t(64))) {
    std::memset(data, 0xa5, bytes);
  }
  ~Workspace() { ::operator delete(data, std::align_val_t(64)); }
  Workspace(const Workspace&) = delete;
  void* data;
};

struct Outcome {
  rnn_status status = RNN_OK;
  std::string error;
  rnn_report report{};
  rnn_plan_info info{};
  int64_t steps = 0;         ///< vector steps that kernels ran
  int64_t jacobianSteps = 0; ///< those of them with the Jacobian
  std::string difference;    ///< from the reference; empty: none
};

inline rnn_plan_options planOptions() {
  rnn_plan_options options{};
  options.size = sizeof(options);
  return options;
}

/// Every way to go through time.
struct Schedule {
  rnn_schedule schedule;
  rnn_vector vector = RNN_VECTOR_AUTO;
  rnn_tiles tiles = RNN_TILES_AUTO;
};

inline const std::vector<Schedule> schedules = {
    {RNN_SCHEDULE_SEQUENTIAL},
    {RNN_SCHEDULE_PARALLEL, RNN_VECTOR_LANES, RNN_TILES_SEQUENCE},
    {RNN_SCHEDULE_PARALLEL, RNN_VECTOR_LANES, RNN_TILES_PARALLEL},
    {RNN_SCHEDULE_PARALLEL, RNN_VECTOR_CHUNKS, RNN_TILES_SEQUENCE},
    {RNN_SCHEDULE_PARALLEL, RNN_VECTOR_CHUNKS, RNN_TILES_PARALLEL},
};

inline rnn_plan_options optionsFor(const Schedule& schedule, int64_t chunk = 0,
                                   int64_t chunks = 0) {
  rnn_plan_options o = planOptions();
  o.schedule = schedule.schedule;
  o.vector = schedule.vector;
  o.tiles = schedule.tiles;
  if (o.schedule == RNN_SCHEDULE_PARALLEL) {
    o.chunk = chunk;
    o.chunks = chunks;
  }
  return o;
}

/// `steps` steps from `first` on of a call's arguments, without initial states: a part of a stream.
std::vector<rnn_tensor> partOf(const rnn_module* module, std::vector<rnn_tensor> args,
                               int64_t first, int64_t steps);

/// Part of a stream.
struct Piece {
  rnn_plan_options options;
  int64_t time;
  bool isSingle; ///< step by step; else by the options' schedule
};

/// Data for one cell, and the answer of the plain loop. Shorter and narrower problems are its
/// parts.
template <class F>
class Problem {
public:
  struct Options {
    int64_t batch = 1, heads = 0, width = 1, time = 0; ///< heads 0: lanes [d], otherwise [h, d]
    Layout layout = Layout::Contiguous;
    rnn_dtype storage = sizeof(F) == 4 ? RNN_F32 : RNN_F64;
    std::optional<rnn_dtype> resultStorage; ///< of sequences and final states; else `storage`
    bool initial = true, final = true, sequences = true;
    std::vector<int64_t> offsets; ///< of a packed batch's segments, the last one `time`; else empty
    std::vector<uint8_t> resets;  ///< [batch][time]: where sequences begin anew; empty: nowhere
    bool reversed = false;
    Table::Options table;
  };

  Problem(const CellInfo& cell, const Options& options, uint64_t seed = 1);

  /// The value of input `i` at (batch, time, lane); changes need a new reference().
  void setInput(int i, int64_t b, int64_t t, int64_t lane, double value);
  void setParam(int i, int64_t lane, double value);
  void setInitial(int i, int64_t b, int64_t lane, double value);
  /// Runs the plain loop.
  void reference();
  /// What the plain loop gave for another problem of the same shape.
  void takeReference(const Problem& other) {
    states_ = other.states_;
    outputs_ = other.outputs_;
    finals_ = other.finals_;
  }

  /// Plans and runs; the first `time` steps of the first `width` lanes (-1: all) are compared with
  /// the reference where `compare`.
  Outcome run(rnn_plan_options options, int64_t time = -1, int64_t width = -1, bool compare = true);

  /// The same as a stream of pieces, which add up to the problem's time. The state is saved behind
  /// each and restored elsewhere.
  Outcome runPieces(const std::vector<Piece>& pieces);

  /// Lets input `i` repeat its first element along `axis` (0: batch, 1: time, 2: the last).
  void zeroStride(int i, int axis);
  /// Of the last run from the reference; empty: none.
  std::string difference() const { return compareResults(lastTime_, lastWidth_, results); }
  /// The same plan run from several threads at once, with a workspace and results each.
  std::string runFromThreads(const rnn_plan_options& options, int threads);

  /// How often `count` counted during rnn_forward.
  int64_t forwardAllocations(const rnn_plan_options& options,
                             const std::function<int64_t()>& count);

  /// What rnn_progress_read told before a call, while it ran, and behind it. Meanwhile it is asked
  /// at every shot, or, where the call may use several threads, over and over by one of its own.
  std::vector<double> progress(const rnn_plan_options& options);

  F state(int i, int64_t b, int64_t t, int64_t lane) const;
  /// Largest |a - b| / (1 + |b|) of the last run's results, a, and the reference's, b.
  double error() const;
  /// The results of the last run, as bytes.
  std::vector<Array> results;

  const CellInfo& cell() const { return cell_; }
  Table table;

private:
  int64_t lanes() const { return std::max<int64_t>(o_.heads, 1) * o_.width; }
  std::vector<int64_t> laneShape(int64_t width) const;
  std::vector<int64_t> laneIndex(int64_t lane, int64_t width) const;
  /// Calls look(arg, slot, batch or segment, time, lane, result, reference) for every number of the
  /// results, until it is false.
  template <class Look>
  void forResults(int64_t time, int64_t width, const std::vector<Array>& results,
                  const Look& look) const;
  std::string compareResults(int64_t time, int64_t width, const std::vector<Array>& results) const;
  std::vector<rnn_tensor> makeArgs(int64_t time, int64_t width, std::vector<Array>& results);
  rnn_status makePlan(rnn_plan_options options, int64_t time, int64_t width, rnn_plan** plan);
  rnn_status runPiece(const Piece& piece, const std::vector<rnn_tensor>& args, int64_t first,
                      std::vector<unsigned char>& saved);
  F inputAt(int i, std::vector<int64_t> index, int64_t begin) const;
  int64_t sequences() const {
    return o_.offsets.empty() ? o_.batch : int64_t(o_.offsets.size()) - 1;
  }
  void initialOf(int64_t sequence, int64_t lane, F* state) const;
  void runSequence(int64_t sequence, int64_t lane);
  Array arrayFor(const rnn_arg_desc& arg, int64_t time, int64_t width, Layout layout) const;

  int64_t lastTime_ = 0, lastWidth_ = 0;
  CellInfo cell_;
  Options o_;
  ModuleHandle module_;
  std::vector<Array> inputs_, params_, initial_;
  std::vector<F> states_;  ///< [K][batch][1 + time][lanes]: reference, with the initial state
  std::vector<F> outputs_; ///< [O][batch][time][lanes]
  std::vector<F> finals_;  ///< [K][sequences][lanes]
};

extern template class Problem<float>;
extern template class Problem<double>;

template <class F>
bool sameBits(F a, F b) {
  return std::memcmp(&a, &b, sizeof(F)) == 0 || (std::isnan(a) && std::isnan(b));
}

} // namespace rnnc::test
