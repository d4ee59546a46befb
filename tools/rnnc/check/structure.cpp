// Lanes and pattern against the interpreter: which elements does an element reach?
#include "check.h"
#include "probe.h"

#include "rnnc/Interpreter.h"

#include <fmt/format.h>

#include <cstring>

using namespace rnnc;
using namespace rnnc::check;

namespace {

using Role = Interpreter::Declaration::Role;

constexpr int kDraws = 4;
constexpr size_t kMoves = 64; // elements of a state that are moved, at most
// How far. A long move goes over the jumps of conditions, which have no derivative; a short one
// shows the slope alone.
constexpr double kFar = 0.25, kNear = 0x1p-24;

/// Element `flat` of a tensor as an index.
std::vector<int64_t> unflatten(const std::vector<int64_t>& shape, int64_t flat) {
  std::vector<int64_t> index(shape.size());
  for (size_t a = shape.size(); a-- > 0;) {
    index[a] = flat % shape[a];
    flat /= shape[a];
  }
  return index;
}

/// Which state of which system an element is, and in which lane: -1 for none.
struct Place {
  int64_t system = -1, state = -1;
  std::vector<int64_t> lane;
};

Place placeOf(const rnn_module_table& table, const std::string& tensor,
              const std::vector<int64_t>& index) {
  for (uint32_t s = 0; s < table.systems; ++s) {
    const rnn_system_desc& system = table.system[s];
    for (uint32_t i = 0; i < system.states; ++i) {
      const rnn_slot& slot = system.state_slots[i];
      if (tensor != table.tensor[slot.tensor].name)
        continue;
      Place place{s, i, std::vector<int64_t>(system.lane_rank, 0)};
      bool matches = true;
      for (size_t a = 0; a < index.size(); ++a) {
        if (slot.lane_axis[a] >= 0)
          place.lane[slot.lane_axis[a]] = index[a];
        else
          matches &= slot.at[a] == RNN_EVERY || slot.at[a] == index[a];
      }
      if (matches)
        return place;
    }
  }
  return {};
}

/// Lanes never meet, not even in a condition.
bool isSameLane(const Place& from, const Place& to) {
  return from.system == to.system && from.lane == to.lane;
}

/// Whether the derived Jacobian has a place for d to / d from.
bool mayFollow(newton::CellOp cell, const Place& from, const Place& to) {
  auto system = llvm::dyn_cast<newton::SystemOp>(cell.systems()[from.system]);
  if (!system || !system.getStructure() || system.getDiagonal())
    return true; // dense: nothing was claimed
  llvm::ArrayRef<int64_t> entries = system.getStructure()->getEntries();
  for (size_t i = 0; i < entries.size(); i += 2)
    if (entries[i] == to.state && entries[i + 1] == from.state)
      return true;
  return false;
}

/// One step from drawn states, and from the same with one element moved.
struct Probe {
  const Subject& subject;
  const rnn_module_table& table;
  const Interpreter& interpreter;
  /// Where a search begins shows in the last bits of what it finds.
  double slack = 0;
  int64_t pairs = 0;
  Arrays states{}, inputs{}, params{}, earlier{};

  /// What is wrong; empty where nothing is.
  std::string run(uint64_t seed);

private:
  void drawArrays(uint64_t seed);
  std::string move(const std::string& name, size_t element, double by, const Arrays& base);
};

void Probe::drawArrays(uint64_t seed) {
  for (const auto& decl : interpreter.declarations()) {
    size_t count = 1;
    for (int64_t size : decl.shape)
      count *= size;
    Array array{decl.shape, draw(seed, decl.name, count, 0.5)};
    if (auto it = subject.params.find(decl.name); it != subject.params.end())
      array.data.assign(count, it->second);
    if (decl.role == Role::State)
      states[decl.name] = std::move(array);
    else if (decl.role == Role::Input)
      inputs[decl.name] = std::move(array);
    else if (decl.role == Role::Param)
      params[decl.name] = std::move(array);
  }
  for (const auto& [name, shape] : interpreter.delays()) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    earlier[name] = {shape, draw(seed, name, count, 0.5)};
  }
}

std::string Probe::move(const std::string& name, size_t element, double by, const Arrays& base) {
  Arrays moved = states;
  moved[name].data[element] += by;
  auto after = interpreter.step(moved, inputs, params, earlier);
  if (!after)
    return llvm::toString(after.takeError());
  Place from = placeOf(table, name, unflatten(states[name].shape, element));
  for (const auto& [toName, toArray] : states)
    for (size_t j = 0; j < toArray.data.size(); ++j) {
      ++pairs;
      double a = base.at(toName).data[j], b = after->at(toName).data[j];
      if (std::memcmp(&a, &b, sizeof a) == 0 || distance(b, a) < slack)
        continue;
      Place to = placeOf(table, toName, unflatten(toArray.shape, j));
      if (isSameLane(from, to) && (by == kFar || mayFollow(subject.newton64, from, to)))
        continue;
      return fmt::format("{}[t], element {}, reads {}[t-1], element {}, which was derived to be "
                         "impossible",
                         toName, j, name, element);
    }
  return "";
}

std::string Probe::run(uint64_t seed) {
  drawArrays(seed);
  auto base = interpreter.step(states, inputs, params, earlier);
  if (!base)
    return llvm::toString(base.takeError());
  for (const auto& [name, array] : states) {
    // Each move costs a whole step of the interpreter: of a large block a part must do.
    size_t stride = (array.data.size() + kMoves - 1) / kMoves;
    for (size_t i = 0; i < array.data.size(); i += stride)
      for (double by : {kFar, kNear})
        if (std::string problem = move(name, i, by, *base); !problem.empty())
          return problem;
  }
  return "";
}

} // namespace

Rows rnnc::check::checkStructure(const Subject& subject) {
  const char* name = "structure";
  const rnn_module_table& table = *subject.f64->table();
  std::map<std::string, int64_t> sizes; // free dims get different small sizes
  int64_t next = 2;
  for (auto dim : subject.cell.decls<rnn::DimDeclOp>())
    if (!dim.getSize())
      sizes[dim.getSymName().str()] = next++;
  auto interpreter = Interpreter::create(subject.cell, sizes);
  if (!interpreter)
    return {{name, table.cell, llvm::toString(interpreter.takeError()), false}};

  newton::CellOp cell = subject.newton64;
  bool isImplicit = llvm::any_of(cell.ops<newton::SystemOp>(),
                                 [](newton::SystemOp system) { return system.hasImplicit(); });
  Probe probe{subject, table, *interpreter, isImplicit ? 1e-12 : 0};
  for (int n = 0; n < kDraws; ++n)
    if (std::string problem = probe.run(subject.seed + n); !problem.empty())
      return {{name, table.cell, problem, false}};
  return {{name, table.cell,
           fmt::format("{} pairs of elements probed, none outside the pattern", probe.pairs),
           true}};
}
