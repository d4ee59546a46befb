// Whether a cell forgets its state, measured.
#include "check.h"
#include "handles.h"
#include "probe.h"

#include <algorithm>
#include <cmath>

using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr int64_t kLength = 64; // steps; longer products of a chaotic cell overflow
constexpr uint32_t kPoints = 16;

/// Whether a system reads what stages make: it means something only as made from the arguments of
/// the call, and a product of Jacobians at drawn points is not the cell's.
bool readsStages(const rnn_module_table& table, const rnn_system_desc& system) {
  auto isMade = [&](const rnn_slot& slot) {
    rnn_role role = table.tensor[slot.tensor].role;
    return role == RNN_ROLE_HOISTED || role == RNN_ROLE_DERIVED;
  };
  return std::any_of(system.input_slots, system.input_slots + system.inputs, isMade) ||
         std::any_of(system.param_slots, system.param_slots + system.params, isMade);
}

/// The points `first`, `first` + 1, ...: the same on every machine, however wide its vectors are.
void drawPoints(const Subject& subject, Shooter& shooter, uint32_t first) {
  const rnn_module_table& table = *subject.f64->table();
  shooter.drawColumns(subject.seed, first);
  for (uint32_t i = 0; i < shooter.system().states; ++i) {
    const rnn_tensor_desc& state = table.tensor[shooter.system().state_slots[i].tensor];
    std::vector<double> near =
        drawAround(state.fill, subject.seed, state.name, first + shooter.width());
    std::copy_n(near.begin() + first, shooter.width(), shooter.start.begin() + i * shooter.width());
  }
}

/// How far two runs of the whole cell are apart at their end that were
/// a little apart at the start.
double rateOfTrajectories(const Subject& subject) {
  constexpr int64_t kLanes = 16;
  constexpr double kApart = 1e-6;
  ContextPtr context = makeContext();
  if (!context)
    return NAN;
  CallBuffers one(*subject.f64, subject, kLanes, kLength), other = one;
  for (auto& argument : other.arguments)
    if (argument.desc.kind == RNN_ARG_INITIAL)
      for (double& value : argument.values)
        value += kApart;
  double far = 0;
  bool failed = false;
  for (CallBuffers* call : {&one, &other})
    failed |= call->run(context.get(), call->options(RNN_F64)).has_value();
  for (size_t n = 0; n < one.arguments.size(); ++n)
    if (one.arguments[n].desc.kind == RNN_ARG_FINAL)
      for (size_t i = 0; i < one.arguments[n].values.size(); ++i) {
        double difference = std::fabs(one.arguments[n].values[i] - other.arguments[n].values[i]);
        far = std::isnan(difference) ? INFINITY : std::max(far, difference);
      }
  return failed ? NAN : std::log(far / kApart) / kLength;
}

} // namespace

Contraction rnnc::check::contraction(const Subject& subject, uint32_t system) {
  const rnn_system_desc& desc = subject.f64->table()->system[system];
  if (desc.carry == 0 || desc.diagonal || readsStages(*subject.f64->table(), desc))
    return {rateOfTrajectories(subject), false};
  Shooter shooter(*subject.f64, system, 0, kLength, subject.seed, subject.params);
  if (!shooter.ok())
    return {NAN, true};
  double worst = -INFINITY;
  for (uint32_t first = 0; first < kPoints; first += shooter.width()) {
    drawPoints(subject, shooter, first);
    std::vector<double> carry = shooter.carry();
    for (uint32_t i = 0; i < std::min(shooter.width(), kPoints - first); ++i) {
      double norm = 0;
      for (uint32_t p = 0; p < desc.carry_places; ++p)
        norm = std::hypot(norm, carry[desc.carry_place[p].number * shooter.width() + i]);
      worst = std::max(worst, std::isnan(norm) ? INFINITY : std::log(norm) / kLength);
    }
  }
  return {worst, true};
}
