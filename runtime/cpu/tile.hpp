// One tile of one vector of columns: the start and end states of its chunks, and the two ways in
// which chunks lie in vectors.
#pragma once

#include "cpu/columns.hpp"
#include "cpu/scan.hpp"
#include "cpu/sweep.hpp"

namespace rnnc::runtime::cpu {

/// What stays of a tile between two solves of it. `vectors` vectors: the chunks of vectors of
/// lanes, or the vectors of chunks of one lane.
template <class F>
struct TileState {
  F* start;          ///< [vectors][states][width]
  F* end;            ///< [vectors][states][width]
  F* carry;          ///< [vectors][carry][width]
  F* finite;         ///< [vectors][width]
  int64_t* unsolved; ///< [vectors][width] with implicit steps
  F* sums;           ///< [vectors][sums][width]
  BitsOf<F>* agreed; ///< [width], nonzero: the lane's starts are final
  uint8_t* dirty;    ///< [vectors] the start changed since the last shoot
  uint8_t* known;    ///< [vectors] the carry is right whatever the starts are

  TileState(const rnn_system_desc& desc, int64_t vectors, int64_t width, Carver& carver)
      : start(carver.take<F>(vectors * desc.states * width)),
        end(carver.take<F>(vectors * desc.states * width)),
        carry(carver.take<F>(vectors * desc.carry * width)),
        finite(carver.take<F>(vectors * width)),
        unsolved(carver.take<int64_t>(desc.implicit ? vectors * width : 0)),
        sums(carver.take<F>(vectors * desc.sums * width)), agreed(carver.take<BitsOf<F>>(width)),
        dirty(carver.take<uint8_t>(vectors)), known(carver.take<uint8_t>(vectors)) {}
};

/// What a solve needs and leaves nothing in.
template <class F>
struct TileScratch {
  F* worst;        ///< [width]
  F* defect;       ///< [states][width]
  F* product;      ///< [max(states, carry)][width]
  F* walkEnd;      ///< [states] of the last chunk that was run alone
  uint8_t* shot;   ///< [vectors] in this solve
  uint8_t* loaded; ///< [vectors] into the stage in this solve
  // Of a system whose Jacobian is constant in time; [carry][width].
  F* jacobian;
  F* power;               ///< of the Jacobian
  int64_t powerSteps = 0; ///< its exponent; 0: none yet for these columns

  TileScratch(const rnn_system_desc& desc, int64_t vectors, int64_t width, Carver& carver)
      : worst(carver.take<F>(width)), defect(carver.take<F>(desc.states * width)),
        product(carver.take<F>(std::max(desc.states, desc.carry) * width)),
        walkEnd(carver.take<F>(desc.states)), shot(carver.take<uint8_t>(vectors)),
        loaded(carver.take<uint8_t>(vectors)),
        jacobian(carver.take<F>(desc.constant ? desc.carry * width : 0)),
        power(carver.take<F>(desc.constant ? desc.carry * width : 0)) {}
};

/// Where a tile lies in time.
struct TileFrame {
  int64_t time = 0, steps = 0;
  int64_t expectedSweeps = 0; ///< 0: no idea
  bool wantsCarry = false;    ///< the product of the Jacobians over the whole tile is needed
};

/// What both layouts have in common.
template <class F>
class Tile {
public:
  Tile(Columns<F>& columns, const SystemPlan& system, TileState<F>& state, TileScratch<F>& scratch)
      : columns_(columns), system_(system), pattern_(*system.desc), s_(state), scratch_(scratch) {}

  int64_t waiting() const { return waiting_; }

  /// Takes the results of every vector shot in this solve to the caller's arrays.
  void store();

protected:
  int64_t stateSize() const { return columns_.states() * columns_.width(); }
  F* startOf(int64_t vector) { return s_.start + vector * stateSize(); }
  F* endOf(int64_t vector) { return s_.end + vector * stateSize(); }
  F* carryOf(int64_t vector) { return s_.carry + vector * columns_.carry() * columns_.width(); }
  F* finiteOf(int64_t vector) { return s_.finite + vector * columns_.width(); }
  /// Null without implicit steps.
  int64_t* unsolvedOf(int64_t vector) {
    return system_.desc->implicit ? s_.unsolved + vector * columns_.width() : nullptr;
  }
  F* sumsOf(int64_t vector) { return s_.sums + vector * system_.desc->sums * columns_.width(); }
  int64_t rowOf(int64_t vector) const { return vector * chunkSteps_; }
  int64_t stepsOf(int64_t vector) const {
    return std::min(chunkSteps_, rows_ - vector * chunkSteps_);
  }
  ChunkVectors<F> vectors() { return {vectors_, columns_.width(), s_.start, s_.end, s_.carry}; }

  void setRows(const TileFrame& frame, int64_t vectors, int64_t chunkSteps, int64_t rows);
  void load(int64_t vector);
  void shootVector(int64_t vector, bool withCarry);
  bool needsJacobian(int64_t vector);
  void takePower(int64_t vector);
  /// carry = left * carry, with the scratch as room.
  void extendCarry(int64_t columns, const F* left, int64_t leftStride, F* carry) {
    compose(system_.products, pattern_, columns, left, leftStride, carry, scratch_.product);
  }

  Columns<F>& columns_;
  const SystemPlan& system_;
  CarryPattern pattern_;
  TileState<F>& s_;
  TileScratch<F>& scratch_;
  TileFrame frame_;
  int64_t vectors_ = 0, chunkSteps_ = 0, rows_ = 0;
  int64_t waiting_ = 0;
};

/// Columns are lanes; chunks come one after the other.
template <class F>
class LanesTile : public Tile<F> {
public:
  using Tile<F>::Tile;

  /// From `start` ([states][width]), all chunks guessed to start there too.
  void begin(const TileFrame& frame, const F* start);
  /// The same tile from another start: what the last solve knows moves along with it.
  void restart(const TileFrame& frame, const F* start);

  int64_t lanes() const { return this->columns_.valid(); }
  int64_t chunks() const { return this->vectors_; }
  void shoot(int64_t sweep);
  double agree(int64_t sweep, const SweepRules& rules, TileStats& stats);
  Changes correct();
  void walk(int64_t sweep, int64_t firstChunk, TileStats& stats);

  const F* endState() { return this->endOf(this->vectors_ - 1); }
  /// total ([sumRows][width]) += the sums over the tile.
  void addSums(F* total);
  void tileCarry(F* carry);
  void noteNonfinite(TileStats& stats);
  void noteUnsolved(TileStats& stats);

private:
  void countWaiting();
  Changes correctVectorsFrom(int64_t first);
  void takeEnds(int64_t w, F* wrong);

  int64_t first_ = 0; ///< first chunk shot in this sweep
};

/// Columns are the chunks of one lane.
template <class F>
class ChunksTile : public Tile<F> {
public:
  /// `alone` is the same lane for steps that are run one after the other, `aloneSums`
  /// ([sumRows][width of alone]) what they are summed up in.
  ChunksTile(Columns<F>& columns, const SystemPlan& system, TileState<F>& state,
             TileScratch<F>& scratch, Columns<F>& alone, F* aloneState, F* aloneSums)
      : Tile<F>(columns, system, state, scratch), alone_(alone), aloneState_(aloneState),
        aloneSums_(aloneSums) {}

  /// Steps a chunk of a tile of `steps` steps, and with that how many of them fill whole chunks.
  static int64_t chunkStepsFor(const SystemPlan& system, int64_t steps) {
    return std::min(system.chunk, steps / system.chunks);
  }

  /// `start` is [states].
  void begin(const TileFrame& frame, const F* start);
  void restart(const TileFrame& frame, const F* start);

  int64_t lanes() const { return 1; }
  int64_t chunks() const { return system().chunks; }
  void shoot(int64_t sweep);
  double agree(int64_t sweep, const SweepRules& rules, TileStats& stats);
  Changes correct();
  void walk(int64_t sweep, int64_t firstChunk, TileStats& stats);

  /// The state behind the last whole chunk.
  void endState(F* state);
  /// total ([sumRows]) += the sums over the chunks that were not run alone.
  void addSums(F* total);
  void tileCarry(F* carry);
  void noteNonfinite(TileStats& stats);
  void noteUnsolved(TileStats& stats);

  /// Runs `steps` steps from `time` on for this lane alone; `state` ([states]) in and out.
  void runAlone(int64_t time, int64_t steps, F* state, TileStats& stats);

private:
  const SystemPlan& system() const { return this->system_; }
  void open(const TileFrame& frame);

  Columns<F>& alone_;
  F* aloneState_;
  F* aloneSums_;
  int64_t walkedFrom_ = 0; ///< chunks from here on were run one after the other
};

} // namespace rnnc::runtime::cpu
