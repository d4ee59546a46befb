// One vector of columns: the caller's arrays as a kernel sees them.
//
// A column holds a lane (all columns at the same time), or a chunk of one lane (column j is j
// chunks later). Either way the kernels see rows [row][column]: row r of lanes is r steps after the
// frame's start; row v * C + s of chunks is step s of the v-th vector of chunks. Times count from
// the first step of the column's own sequence, which in a packed batch lies somewhere on the axis
// of time, a place for each column. Arrays whose columns are neighbours in memory are used in
// place; the others are staged, once a tile. A delayed input, x[t-n], is an array that starts n
// rows early; the rows before time 0 exist in the stage only.
// What an adjoint reads of the step before, h[t-1], is n rows ahead, since its time runs backwards;
// those behind the end are staged.
#pragma once

#include "cpu/call.hpp"
#include "cpu/carver.hpp"

namespace rnnc::runtime::cpu {

template <class F>
class Columns {
public:
  /// Room for `rows` rows of at most `maxWidth` columns.
  Columns(const SystemPlan& system, int64_t maxWidth, int64_t rows, Carver& carver);

  /// Takes `valid` lanes from `firstLane` on. Columns beyond them repeat the last one: what a
  /// kernel computes there is a copy, never garbage.
  void bind(const Call& call, const Kernel& kernel, int64_t firstLane, int64_t valid);

  int64_t width() const { return width_; }
  int64_t valid() const { return valid_; }
  uint32_t states() const { return desc_.states; }
  uint32_t carry() const { return desc_.carry; }

  /// Steps of a column's sequence. They do not grow with the column.
  int64_t stepsOf(int64_t column) const {
    return call_->plan.stepsOf(system_, firstLane_ + column);
  }
  /// Goes on with the first `valid` columns alone: the others have ended. Those of `state` that
  /// ended become copies, too.
  void narrow(int64_t valid, F* state);

  /// [states][width] Before the call's `begin`.
  void startState(F* state);
  /// Columns `first`, ..., valid() - 1. Of an adjoint's, what is owed to params goes to `total`.
  void finalState(const F* state, int64_t first, F* total);

  /// Does the sequence of any column begin anew before step `time`?
  bool restartsAt(int64_t time) const;
  /// The first step after `time` before which one does; `end` where there is none until then.
  int64_t nextRestart(int64_t time, int64_t end) const;
  /// The states of those columns. Of an adjoint's, what is owed to params goes to `total`.
  void restart(int64_t time, F* state, F* total);

  /// Row 0 is time step `time` of every lane.
  void frameLanes(int64_t time);
  /// The lane's `chunks` chunks of `chunkSteps` steps from `time` on.
  void frameChunks(int64_t time, int64_t chunkSteps, int64_t chunks);

  /// Brings staged inputs of rows row..row+steps-1 in; with chunks all rows of one vector.
  void load(int64_t row, int64_t steps);
  /// Takes staged results of those rows to their arrays.
  void store(int64_t row, int64_t steps);

  /// Runs a kernel over rows row..row+steps-1, in place on `state`. Without `carry` the one without
  /// a Jacobian. `unsolved` ([width]) is written by systems with implicit steps alone, `sums`
  /// ([sums][width]) by those that have some.
  void shoot(int64_t row, int64_t steps, F* state, F* carry, F* finite, int64_t* unsolved, F* sums);
  /// The same of a system without states. Adds to `total`, as addSums.
  void map(int64_t row, int64_t steps, F* total);
  /// total ([sumRows][width]) += sums ([sums][width]), of valid columns.
  void addSums(const F* sums, F* total) const;

  /// The Jacobians of the step at `row` from `start`, as a carry. Leaves all results alone.
  void jacobian(int64_t row, const F* start, F* carry);

  /// Lowers `nonfinite` to the first place in the arrays where columns `first`..`last`-1 have a
  /// state that is not finite, given what a shoot of rows row..row+steps-1 from `start` said of
  /// them. Leaves all results alone.
  void noteNonfinite(const F* flags, int64_t row, int64_t steps, const F* start, int64_t first,
                     int64_t last, int64_t& nonfinite);

  /// The sequential schedule: `steps` steps from `time` on, in pieces that the stage can hold.
  /// Notes what is not finite, and adds to `unsolved` and, where there are sums, to `total`.
  void walk(int64_t time, int64_t steps, F* state, int64_t& nonfinite, Unsolved& unsolved,
            F* total);

  /// Adds the implicit steps of columns `first`..`last`-1 that found no solution, as a shoot from
  /// `row` on counted them; nothing in a system without implicit steps.
  void noteUnsolved(const int64_t* flags, int64_t row, int64_t first, int64_t last,
                    Unsolved& unsolved) const;

private:
  struct Sequence {
    char* data = nullptr; ///< null: nobody wants this result
    rnn_dtype dtype = RNN_F32;
    int64_t back = 0;   ///< of an input: row r is the element of so many steps earlier, or later
    F before = 0;       ///< what a delayed input reads before time 0
    History<F> history; ///< where there is one, instead
    int64_t* historyOffset = nullptr; ///< [width] elements, in it; of a delayed input alone
    F* behind = nullptr; ///< [width] what an input that is read ahead is behind the end
    F* anew = nullptr;   ///< [width] the same where a sequence ends because another begins
    int64_t* given =
        nullptr; ///< [width] elements, of a column's lane in what the caller gave of them
    const rnn_tensor* initial = nullptr; ///< which may be nothing
    int64_t timeStride = 0;
    int64_t* offset = nullptr; ///< [width] elements, of a column's lane at time 0
    bool inPlace = false;
    F* rows = nullptr;
  };

  void indexLanes(int64_t firstLane);
  void indexSegments();
  void offsets(const rnn_slot& slot, const int64_t* strides, int64_t batchStride, int64_t* out);
  void bindSequence(const Call& call, const rnn_slot& slot, Sequence& sequence, int64_t ahead);
  void bindBehind(const rnn_slot& slot, Sequence& input);
  void bindParams(const Call& call);
  void loadColumns(const rnn_tensor& tensor, F* to) const;
  void initialState(F* state);
  void stateBefore(int64_t time, F* state);
  void ownStart(uint32_t state, F* to);
  int64_t columnTime(int64_t row, int64_t column) const;
  /// The same on the arrays' axis.
  int64_t arrayTime(int64_t row, int64_t column) const {
    return columnTime(row, column) + begin_[column];
  }
  /// Of the arrays. (Of initial and final states it is index_.)
  int64_t batchOf(int64_t column) const { return isPacked_ ? 0 : index_[column]; }
  bool restartsAt(int64_t time, int64_t column) const {
    return time >= call_->reset.behind && call_->reset.at(batchOf(column), time + begin_[column]);
  }
  int64_t locateNonfinite(int64_t row, int64_t steps, const F* start, int64_t first, int64_t last);
  /// Whether the kernel may read the input where it lies, from `row` on.
  bool isInPlace(const Sequence& input, int64_t row, int64_t steps) const {
    if (input.back == 0) {
      return input.inPlace;
    }
    return input.inPlace && !forgets_ && time_ + row >= input.back &&
           (input.back > 0 || time_ + row + steps - input.back <= stepsOf(valid_ - 1));
  }
  void stage(const Sequence& input, int64_t row, int64_t steps);
  void gatherRows(const Sequence& input, int64_t row, int64_t steps);
  void gatherAhead(const Sequence& input, int64_t row, int64_t steps);
  F inFront(const Sequence& input, int64_t column, int64_t time) const;
  void forget(const Sequence& input, int64_t row, int64_t steps);
  /// Does the cell's sequence of an adjoint's column begin anew before its first step, which is the
  /// adjoint's last one?
  bool endsAnew(int64_t column) const {
    return call_->reset.data && restartsAt(stepsOf(column), column);
  }
  void addStarts(const F* state, int64_t column, F* total) const;
  F earlier(const Sequence& input, int64_t column, int64_t time) const {
    return input.history.data ? input.history.at(time)[input.historyOffset[column]] : input.before;
  }
  F* streamed(uint32_t state) const;
  void run(rnn_shoot_fn kernel, int64_t row, int64_t steps, F* state, F* carry, F* finite,
           int64_t* unsolved, F* sums, bool keepResults);

  const SystemPlan& system_;
  const rnn_system_desc& desc_;
  const Call* call_ = nullptr;
  Kernel kernel_;
  int64_t width_ = 0, valid_ = 0, rows_ = 0, firstLane_ = 0;
  int64_t time_ = 0, chunkSteps_ = 0, chunks_ = 0; ///< the frame; chunkSteps_ 0: lanes
  bool staged_ = false;
  bool isPacked_ = false; ///< columns are lanes of segments
  bool forgets_ = false;  ///< what delayed inputs read may lie before a begin, after time 0

  Sequence* inputs_;
  Sequence* results_; ///< states, then outputs
  F* params_;
  F* scratch_;      ///< one vector for results that nobody wants
  F* nothing_;      ///< a vector of zeros, for inputs that nobody gives
  F* sums_;         ///< [sums][width]
  int64_t* index_;  ///< [1 + lane rank][width] batch element or segment, and lane index
  int64_t* begin_;  ///< [width] of its segment, in the arrays
  int64_t* offset_; ///< [width]
  void** column_;   ///< [width]
  const void** inputPointers_;
  int64_t* inputStrides_;
  void** resultPointers_;
  int64_t* resultStrides_;
  const void** shared_; ///< of a dense system
  F* denseScratch_;     ///< likewise
  F* pieceStart_;       ///< [states][width]
  F* searchStart_;      ///< [states][width]
  F* probe_;            ///< [states][width]
  F* finite_;           ///< [width]
  int64_t* unsolved_;   ///< [width] with implicit steps
};

} // namespace rnnc::runtime::cpu
