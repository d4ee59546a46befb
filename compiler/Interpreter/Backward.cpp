//===- Backward.cpp - gradients, by reverse mode over the steps ------------------------------===//

#include "Reverse.h"
#include "Run.h"

#include <algorithm>

using namespace rnnc;
using llvm::Error;
using llvm::Expected;
using Role = Interpreter::Declaration::Role;

namespace {

/// Of every step the states before it are kept; the step itself is taken again on the way back.
class Backward {
public:
  Backward(Run& run, const Interpreter::Result& upstream) : run(run), upstream(upstream) {}
  /// Checks the shapes of what is given, makes room for what is computed.
  Error bind(Interpreter::Gradients& gradients);
  Error execute();

private:
  /// What is known, and what is wanted, of one declared array.
  struct Flow {
    const double* sequence = nullptr; ///< upstream, null where it is 0
    const double* last = nullptr;
    double* gradient = nullptr; ///< of an input, a param or an initial state
  };

  Error reverseElement(int64_t b);
  void giveToStarts(int64_t b);
  Numbers statesNow() const;
  void restore(const Numbers& states);

  Run& run;
  const Interpreter::Result& upstream;
  std::vector<Flow> flows; // by declaration
};

} // namespace

Error Backward::bind(Interpreter::Gradients& gradients) {
  if (Error error = rejectUnknown(run.program, upstream.sequences, {Role::State, Role::Output},
                                  "a state or an output"))
    return error;
  if (Error error = rejectUnknown(run.program, upstream.finals, {Role::State}, "a state"))
    return error;
  for (const Run::Binding& x : run.bound()) {
    Flow flow;
    std::vector<int64_t> front;
    Arrays* to = nullptr;
    if (x.decl.role == Role::Input)
      front = {run.batch, run.time}, to = &gradients.inputs;
    else if (x.decl.role == Role::Param)
      to = &gradients.params;
    else if (x.decl.role == Role::State)
      front = {run.batch}, to = &gradients.initial;
    if (to) {
      Array& array = (*to)[x.decl.name];
      array.shape = prepend(front, x.decl.shape);
      array.data.assign(countOf(array.shape), 0);
      flow.gradient = array.data.data();
    }
    if (x.decl.role == Role::State || x.decl.role == Role::Output) {
      auto given = findArray(upstream.sequences, x.decl, {run.batch, run.time}, true);
      if (!given)
        return given.takeError();
      flow.sequence = *given ? (*given)->data.data() : nullptr;
    }
    if (x.decl.role == Role::State) {
      auto given = findArray(upstream.finals, x.decl, {run.batch}, true);
      if (!given)
        return given.takeError();
      flow.last = *given ? (*given)->data.data() : nullptr;
    }
    flows.push_back(flow);
  }
  return Error::success();
}

Numbers Backward::statesNow() const {
  Numbers states;
  for (const Run::Binding& x : run.bound())
    if (x.decl.role == Role::State)
      states.insert(states.end(), &run.memory[x.place.now],
                    &run.memory[x.place.now] + x.place.count);
  return states;
}

void Backward::restore(const Numbers& states) {
  const double* from = states.data();
  for (const Run::Binding& x : run.bound())
    if (x.decl.role == Role::State) {
      std::copy_n(from, x.place.count, &run.memory[x.place.now]);
      from += x.place.count;
    }
}

static void add(size_t count, const double* from, double* to) {
  std::transform(from, from + count, to, to, std::plus<>());
}

Error Backward::reverseElement(int64_t b) {
  std::vector<Numbers> trail;
  run.begin(b);
  for (int64_t t = 0; t < run.time; ++t) {
    trail.push_back(statesNow());
    if (Error error = run.step(b, t))
      return error;
    run.advance();
  }
  std::vector<Numbers> carried; // by declaration: adjoints of the states after a step
  for (auto [x, flow] : llvm::zip_equal(run.bound(), flows)) {
    Numbers& after = carried.emplace_back(x.place.count);
    if (flow.last)
      add(x.place.count, flow.last + b * x.place.count, after.data());
  }
  for (int64_t t = run.time; t-- > 0;) {
    restore(trail[t]);
    if (Error error = run.step(b, t))
      return error;
    Numbers adjoint(run.memory.size());
    const int64_t row = b * run.time + t;
    for (auto [x, flow, after] : llvm::zip_equal(run.bound(), flows, carried)) {
      if (x.decl.role == Role::State)
        add(x.place.count, after.data(), &adjoint[x.place.next]);
      if (flow.sequence)
        add(x.place.count, flow.sequence + row * x.place.count, &adjoint[x.place.next]);
    }
    reverseStep(run.program, run.memory, adjoint);
    for (auto [x, flow, after] : llvm::zip_equal(run.bound(), flows, carried)) {
      const double* now = &adjoint[x.place.now];
      if (x.decl.role == Role::State)
        after.assign(now, now + x.place.count);
      else if (x.decl.role == Role::Input)
        add(x.place.count, now, flow.gradient + row * x.place.count);
      else if (x.decl.role == Role::Param)
        add(x.place.count, now, flow.gradient);
    }
    for (const Interpreter::Program::Delayed& delayed : run.program.delayed) {
      const size_t count = run.program.places[delayed.input].count;
      if (t >= delayed.back)
        add(count, &adjoint[delayed.base],
            flows[delayed.input].gradient + (row - delayed.back) * count);
    }
  }
  for (auto [x, flow, before] : llvm::zip_equal(run.bound(), flows, carried))
    if (x.decl.role == Role::State)
      std::ranges::copy(before, flow.gradient + b * x.place.count);
  return Error::success();
}

/// What a state that begins as a param owes to it.
void Backward::giveToStarts(int64_t b) {
  for (const Interpreter::Program::Start& start : run.program.starts) {
    const size_t count = start.index.size();
    if (!run.bound()[start.state].from)
      for (size_t i = 0; i < count; ++i)
        flows[start.param].gradient[start.index[i]] += flows[start.state].gradient[b * count + i];
  }
}

Error Backward::execute() {
  for (int64_t b = 0; b < run.batch; ++b) {
    if (Error error = reverseElement(b))
      return error;
    giveToStarts(b);
  }
  return Error::success();
}

Expected<Interpreter::Gradients> Interpreter::backward(int64_t batch, int64_t time,
                                                       const Arrays& inputs, const Arrays& params,
                                                       const Arrays& initial,
                                                       const Result& upstream) const {
  Run run(*program, batch, time, 0, 0);
  if (Error error = run.bind(inputs, params, initial, nullptr))
    return error;
  Gradients gradients;
  Backward backward(run, upstream);
  if (Error error = backward.bind(gradients))
    return error;
  if (Error error = backward.execute())
    return error;
  return gradients;
}
