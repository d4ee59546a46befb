#include "harness.hpp"

#include "core/elements.hpp"

#include <algorithm>
#include <atomic>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace rnnc::test {

template <class F>
Problem<F>::Problem(const CellInfo& cell, const Options& options, uint64_t seed)
    : table(cell,
            [&] {
              Table::Options t = options.table;
              t.laneRank = options.heads ? 2 : 1;
              return t;
            }()),
      cell_(cell), o_(options), module_(table.get()) {
  if (module_.status != RNN_OK) {
    throw std::runtime_error(rnn_error_text(module_.context));
  }
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal; // float: exact in every storage type
  for (int i = 0; i < cell.inputs; ++i) {
    inputs_.push_back(
        arrayFor({RNN_ARG_INPUT, table.inputs[i].tensor}, o_.time, o_.width, o_.layout));
    for (int64_t b = 0; b < o_.batch; ++b) {
      for (int64_t t = 0; t < o_.time; ++t) {
        for (int64_t lane = 0; lane < lanes(); ++lane) {
          setInput(i, b, t, lane, normal(random) * .5f);
        }
      }
    }
  }
  for (int i = 0; i < cell.params; ++i) {
    params_.push_back(
        arrayFor({RNN_ARG_PARAM, table.params[i].tensor}, o_.time, o_.width, Layout::Contiguous));
    for (int64_t lane = 0; lane < lanes(); ++lane) {
      setParam(i, lane, std::clamp(normal(random) * .4f, -.9f, .9f));
    }
  }
  for (uint32_t i = 0; i < table.tensors.size(); ++i) {
    if (table.tensors[i].role == RNN_ROLE_STATE) {
      initial_.push_back(arrayFor({RNN_ARG_INITIAL, i}, o_.time, o_.width, o_.layout));
    }
  }
  for (int i = 0; i < cell.states; ++i) {
    for (int64_t b = 0; b < sequences(); ++b) {
      for (int64_t lane = 0; lane < lanes(); ++lane) {
        setInitial(i, b, lane, o_.initial ? double(normal(random)) * .25 : .25);
      }
    }
  }
}

template <class F>
std::vector<int64_t> Problem<F>::laneShape(int64_t width) const {
  return o_.heads ? std::vector<int64_t>{o_.heads, width} : std::vector<int64_t>{width};
}

template <class F>
std::vector<int64_t> Problem<F>::laneIndex(int64_t lane, int64_t width) const {
  return o_.heads ? std::vector<int64_t>{lane / width, lane % width} : std::vector<int64_t>{lane};
}

template <class F>
Array Problem<F>::arrayFor(const rnn_arg_desc& arg, int64_t time, int64_t width,
                           Layout layout) const {
  std::vector<int64_t> shape;
  int timeAxis = -1;
  if (arg.kind == RNN_ARG_INPUT || arg.kind == RNN_ARG_SEQUENCE) {
    timeAxis = 1;
    shape = {o_.batch, time};
  } else if (arg.kind != RNN_ARG_PARAM) {
    shape = {sequences()};
  }
  const rnn_tensor_desc& desc = table.tensors[arg.tensor];
  for (uint32_t a = 0; a < desc.rank; ++a) {
    shape.push_back(desc.sizes[a] != -1                   ? desc.sizes[a]
                    : std::strcmp(desc.dims[a], "h") == 0 ? o_.heads
                                                          : width);
  }
  return Array(shape, timeAxis, layout,
               runtime::isResult(arg.kind) ? o_.resultStorage.value_or(o_.storage) : o_.storage);
}

template <class F>
void Problem<F>::setInput(int i, int64_t b, int64_t t, int64_t lane, double value) {
  if (o_.heads) {
    const int64_t index[] = {b, t, lane / o_.width, lane % o_.width};
    inputs_[i].set(index, value);
  } else {
    const int64_t index[] = {b, t, lane};
    inputs_[i].set(index, value);
  }
}

template <class F>
void Problem<F>::setParam(int i, int64_t lane, double value) {
  std::vector<int64_t> index = laneIndex(lane, o_.width);
  index.resize(table.tensors[table.params[i].tensor].rank);
  params_[i].set(index, value);
}

template <class F>
void Problem<F>::setInitial(int i, int64_t b, int64_t lane, double value) {
  std::vector<int64_t> index = {b};
  for (int64_t l : laneIndex(lane, o_.width)) {
    index.push_back(l);
  }
  if (o_.table.blockState) {
    index.push_back(i);
    initial_[0].set(index, value);
  } else {
    initial_[i].set(index, value);
  }
}

/// What slot i reads at (batch, time, lane...), in a sequence that begins at `begin`.
template <class F>
F Problem<F>::inputAt(int i, std::vector<int64_t> index, int64_t begin) const {
  const int64_t back = table.inputs[i].back;
  index[1] -= o_.reversed ? -back : back;
  const bool isBefore = o_.reversed ? index[1] > begin : index[1] < begin;
  return isBefore ? static_cast<F>(o_.table.before)
                  : static_cast<F>(inputs_[o_.table.oneInput ? 0 : i].get(index));
}

template <class F>
void Problem<F>::initialOf(int64_t sequence, int64_t lane, F* state) const {
  for (int i = 0; i < cell_.states; ++i) {
    std::vector<int64_t> index = {sequence};
    for (int64_t l : laneIndex(lane, o_.width)) {
      index.push_back(l);
    }
    if (o_.table.blockState) {
      index.push_back(i);
    }
    state[i] = static_cast<F>(initial_[o_.table.blockState ? 0 : i].get(index));
  }
}

template <class F>
void Problem<F>::runSequence(int64_t sequence, int64_t lane) {
  const int K = cell_.states, O = cell_.outputs;
  const int64_t n = lanes(), b = o_.offsets.empty() ? sequence : 0;
  const int64_t first = o_.offsets.empty() ? 0 : o_.offsets[sequence];
  const int64_t end = o_.offsets.empty() ? o_.time : o_.offsets[sequence + 1];
  F s[8], x[8] = {}, p[8] = {}, next[8], y[8];
  for (int i = 0; i < cell_.params; ++i) {
    std::vector<int64_t> index = laneIndex(lane, o_.width);
    index.resize(table.tensors[table.params[i].tensor].rank);
    p[i] = static_cast<F>(params_[i].get(index));
  }
  initialOf(sequence, lane, s);
  for (int i = 0; i < K && first == 0; ++i) { // what a run of no steps ends with
    states_[(i * o_.batch + b) * (1 + o_.time) * n + lane] = s[i];
  }
  int64_t begin = o_.reversed ? end - 1 : first;
  std::vector<int64_t> index = {b, 0};
  for (int64_t l : laneIndex(lane, o_.width)) {
    index.push_back(l);
  }
  for (int64_t step = first; step < end; ++step) {
    const int64_t t = o_.reversed ? first + end - 1 - step : step;
    if (!o_.resets.empty() && o_.resets[b * o_.time + t]) {
      begin = t;
      for (int i = 0; i < K; ++i) {
        s[i] = static_cast<F>(table.tensors[table.states[i].tensor].fill);
      }
    }
    index[1] = t;
    for (int i = 0; i < cell_.inputs; ++i) {
      x[i] = inputAt(i, index, begin);
    }
    if constexpr (sizeof(F) == 4) {
      cell_.step32(s, x, p, next, y);
    } else {
      cell_.step64(s, x, p, next, y);
    }
    for (int i = 0; i < K; ++i) {
      s[i] = next[i];
      states_[((i * o_.batch + b) * (1 + o_.time) + 1 + t) * n + lane] = s[i];
    }
    for (int i = 0; i < O; ++i) {
      outputs_[((i * o_.batch + b) * o_.time + t) * n + lane] = y[i];
    }
  }
  for (int i = 0; i < K; ++i) {
    finals_[(i * sequences() + sequence) * n + lane] = s[i];
  }
}

template <class F>
void Problem<F>::reference() {
  const int K = cell_.states, O = cell_.outputs;
  states_.assign(K * o_.batch * (1 + o_.time) * lanes(), 0);
  outputs_.assign(O * o_.batch * o_.time * lanes(), 0);
  finals_.assign(K * sequences() * lanes(), 0);
  for (int64_t sequence = 0; sequence < sequences(); ++sequence) {
    for (int64_t lane = 0; lane < lanes(); ++lane) {
      runSequence(sequence, lane);
    }
  }
}

template <class F>
F Problem<F>::state(int i, int64_t b, int64_t t, int64_t lane) const {
  return states_[((i * o_.batch + b) * (1 + o_.time) + 1 + t) * lanes() + lane];
}

template <class F>
void Problem<F>::zeroStride(int i, int axis) {
  inputs_[i].tensor.strides[axis] = 0;
}

template <class F>
rnn_status Problem<F>::makePlan(rnn_plan_options options, int64_t time, int64_t width,
                                rnn_plan** plan) {
  const rnn_dim_value dims[] = {{"d", width}, {"h", o_.heads}};
  options.dims = o_.heads ? 2 : 1;
  options.dim = dims;
  options.batch = o_.batch;
  options.time = time;
  options.compute = sizeof(F) == 4 ? RNN_F32 : RNN_F64;
  options.reversed = o_.reversed;
  options.reset = !o_.resets.empty();
  if (!o_.offsets.empty()) {
    options.segments = sequences();
    options.segment_offsets = o_.offsets.data();
    options.offset_bits = 64;
  }
  return rnn_plan_create(module_.module, &options, plan);
}

template <class F>
std::vector<rnn_tensor> Problem<F>::makeArgs(int64_t time, int64_t width,
                                             std::vector<Array>& results) {
  const rnn_signature* signature;
  rnn_module_describe(module_.module, &signature);
  std::vector<rnn_tensor> args(signature->args);
  results.clear();
  results.resize(signature->args);
  int input = 0, param = 0, initial = 0;
  for (uint32_t i = 0; i < signature->args; ++i) {
    const rnn_arg_desc& arg = signature->arg[i];
    if (runtime::isResult(arg.kind)) {
      if (arg.kind == RNN_ARG_FINAL ? o_.final : o_.sequences) {
        results[i] = arrayFor(arg, time, width, o_.layout);
        args[i] = results[i].tensor;
      }
      continue;
    }
    args[i] = arg.kind == RNN_ARG_INPUT   ? inputs_[input++].tensor
              : arg.kind == RNN_ARG_PARAM ? params_[param++].tensor
                                          : initial_[initial++].tensor;
    if (arg.kind == RNN_ARG_INPUT) {
      args[i].shape[1] = time;
    }
    const rnn_tensor_desc& desc = table.tensors[arg.tensor];
    for (uint32_t a = 0; a < desc.rank; ++a) {
      if (std::strcmp(desc.dims[a], "d") == 0) {
        args[i].shape[args[i].rank - desc.rank + a] = width;
      }
    }
    if (arg.kind == RNN_ARG_INITIAL && !o_.initial) {
      args[i].data = nullptr;
    }
  }
  if (!o_.resets.empty()) {
    rnn_tensor mask{o_.resets.data(), RNN_U8, 2, {o_.batch, time}, {o_.time, 1}};
    args.push_back(mask);
  }
  return args;
}

template <class F>
Outcome Problem<F>::run(rnn_plan_options options, int64_t time, int64_t width, bool compare) {
  lastTime_ = time = time < 0 ? o_.time : time;
  lastWidth_ = width = width < 0 ? o_.width : width;
  Outcome out;
  rnn_plan* plan = nullptr;
  out.status = makePlan(options, time, width, &plan);
  if (out.status != RNN_OK) {
    out.error = rnn_error_text(module_.context);
    return out;
  }
  const std::vector<rnn_tensor> args = makeArgs(time, width, results);
  size_t bytes;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  out.info.size = sizeof(out.info);
  rnn_plan_describe(plan, &out.info);
  Workspace workspace(bytes);
  shotSteps = jacobianSteps = 0;
  out.status = rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr);
  out.steps = shotSteps;
  out.jacobianSteps = jacobianSteps;
  out.error = out.status == RNN_OK ? "" : rnn_error_text(module_.context);
  out.report.size = sizeof(out.report);
  if (out.status == RNN_OK || out.status == RNN_NOT_CONVERGED) {
    rnn_report_read(plan, workspace.data, &out.report);
  }
  rnn_plan_destroy(plan);
  if (compare && out.status == RNN_OK) {
    out.difference = difference();
  }
  return out;
}

template <class F>
rnn_status Problem<F>::runPiece(const Piece& piece, const std::vector<rnn_tensor>& args,
                                int64_t first, std::vector<unsigned char>& saved) {
  rnn_plan_options options = piece.options;
  options.streaming = 1;
  rnn_plan* plan = nullptr;
  rnn_status status = makePlan(options, piece.time, o_.width, &plan);
  if (status != RNN_OK) {
    return status;
  }
  size_t workspaceBytes, stateBytes, savedBytes = saved.size();
  rnn_plan_sizes(plan, &workspaceBytes, nullptr, &stateBytes);
  Workspace workspace(workspaceBytes), state(stateBytes);
  status = saved.empty()
               ? rnn_state_init(plan, state.data, args.data())
               : rnn_state_restore(plan, state.data, args.data(), saved.data(), savedBytes);
  if (piece.isSingle) {
    for (int64_t t = first; status == RNN_OK && t < first + piece.time; ++t) {
      status = rnn_step(plan, state.data, partOf(module_.module, args, t, 1).data(), nullptr);
    }
  } else if (status == RNN_OK) {
    status = rnn_steps(plan, state.data, partOf(module_.module, args, first, piece.time).data(),
                       workspace.data, nullptr, nullptr);
  }
  if (status == RNN_OK) {
    status = rnn_state_save(plan, state.data, nullptr, &savedBytes);
    saved.resize(savedBytes);
  }
  if (status == RNN_OK) {
    status = rnn_state_save(plan, state.data, saved.data(), &savedBytes);
  }
  rnn_plan_destroy(plan);
  return status;
}

template <class F>
Outcome Problem<F>::runPieces(const std::vector<Piece>& pieces) {
  lastTime_ = o_.time;
  lastWidth_ = o_.width;
  const std::vector<rnn_tensor> args = makeArgs(o_.time, o_.width, results);
  std::vector<unsigned char> saved;
  Outcome out;
  int64_t time = 0;
  for (const Piece& piece : pieces) {
    out.status = runPiece(piece, args, time, saved);
    if (out.status != RNN_OK) {
      out.error = rnn_error_text(module_.context);
      return out;
    }
    time += piece.time;
  }
  out.difference = difference();
  return out;
}

template <class F>
int64_t Problem<F>::forwardAllocations(const rnn_plan_options& options,
                                       const std::function<int64_t()>& count) {
  rnn_plan* plan = nullptr;
  if (makePlan(options, o_.time, o_.width, &plan) != RNN_OK) {
    return -1;
  }
  size_t bytes;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  Workspace workspace(bytes);
  const std::vector<rnn_tensor> args = makeArgs(o_.time, o_.width, results);
  const int64_t before = count();
  const rnn_status status = rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr);
  const int64_t after = count();
  rnn_plan_destroy(plan);
  return status == RNN_OK ? after - before : -1;
}

template <class F>
std::vector<double> Problem<F>::progress(const rnn_plan_options& options) {
  rnn_plan* plan = nullptr;
  if (makePlan(options, o_.time, o_.width, &plan) != RNN_OK) {
    return {};
  }
  size_t bytes;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  Workspace workspace(bytes);
  std::memset(workspace.data, 0, bytes);
  const std::vector<rnn_tensor> args = makeArgs(o_.time, o_.width, results);
  std::vector<double> told;
  auto ask = [&] {
    double fraction = -1;
    rnn_progress_read(plan, workspace.data, &fraction);
    told.push_back(fraction);
  };
  ask();
  std::atomic<bool> done = false;
  std::thread other;
  if (options.threads == 1) {
    onShot = ask;
  } else {
    other = std::thread([&] {
      while (!done) {
        ask();
        std::this_thread::yield();
      }
    });
  }
  rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr);
  onShot = nullptr;
  done = true;
  if (other.joinable()) {
    other.join();
  }
  ask();
  rnn_plan_destroy(plan);
  return told;
}

template <class F>
std::string Problem<F>::runFromThreads(const rnn_plan_options& options, int threads) {
  rnn_plan* plan = nullptr;
  if (makePlan(options, o_.time, o_.width, &plan) != RNN_OK) {
    return rnn_error_text(module_.context);
  }
  size_t bytes;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  std::vector<std::string> differences(threads);
  std::vector<std::thread> callers;
  for (int i = 0; i < threads; ++i) {
    callers.emplace_back([&, i] {
      std::vector<Array> mine;
      const std::vector<rnn_tensor> args = makeArgs(o_.time, o_.width, mine);
      Workspace workspace(bytes);
      for (int repeat = 0; repeat < 3 && differences[i].empty(); ++repeat) {
        if (rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr) != RNN_OK) {
          differences[i] = rnn_error_text(module_.context);
        } else {
          differences[i] = compareResults(o_.time, o_.width, mine);
        }
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  rnn_plan_destroy(plan);
  return *std::max_element(differences.begin(), differences.end());
}

template <class F>
template <class Look>
void Problem<F>::forResults(int64_t time, int64_t width, const std::vector<Array>& results,
                            const Look& look) const {
  const rnn_signature* signature;
  rnn_module_describe(module_.module, &signature);
  const int64_t n = lanes();
  for (uint32_t i = 0; i < signature->args; ++i) {
    const rnn_arg_desc& arg = signature->arg[i];
    if (results[i].bytes.empty()) {
      continue;
    }
    const bool isOutput = table.tensors[arg.tensor].role == RNN_ROLE_OUTPUT;
    const bool final = arg.kind == RNN_ARG_FINAL;
    const auto& slots = isOutput ? table.outputs : table.states;
    for (size_t s = 0; s < slots.size(); ++s) {
      if (slots[s].tensor != arg.tensor) {
        continue;
      }
      for (int64_t b = 0; b < (final ? sequences() : o_.batch); ++b) {
        for (int64_t lane = 0; lane < std::max<int64_t>(o_.heads, 1) * width; ++lane) {
          const std::vector<int64_t> li = laneIndex(lane, width);
          const int64_t whole = o_.heads ? li[0] * o_.width + li[1] : lane;
          std::vector<int64_t> index = {b};
          if (!final) {
            index.push_back(0);
          }
          index.insert(index.end(), li.begin(), li.end());
          if (o_.table.blockState && !isOutput) {
            index.push_back(static_cast<int64_t>(s));
          }
          const int64_t last = final ? 1 : time;
          for (int64_t t = 0; t < last; ++t) {
            if (!final) {
              index[1] = t;
            }
            const int64_t at = final ? time - 1 : t;
            const F expected =
                isOutput ? outputs_[((s * o_.batch + b) * o_.time + at) * n + whole]
                : final && time == o_.time
                    ? finals_[(s * sequences() + b) * n + whole]
                    : states_[((s * o_.batch + b) * (1 + o_.time) + 1 + at) * n + whole];
            if (!look(i, s, b, at, lane, results[i].get(index), expected)) {
              return;
            }
          }
        }
      }
    }
  }
}

template <class F>
double Problem<F>::error() const {
  double worst = 0;
  forResults(lastTime_, lastWidth_, results,
             [&](uint32_t, size_t, int64_t, int64_t, int64_t, double got, double expected) {
               worst = std::max(worst, std::fabs(got - expected) / (1 + std::fabs(expected)));
               return true;
             });
  return worst;
}

template <class F>
std::string Problem<F>::compareResults(int64_t time, int64_t width,
                                       const std::vector<Array>& results) const {
  const rnn_dtype storage = o_.resultStorage.value_or(o_.storage);
  std::ostringstream text;
  text.precision(17);
  forResults(time, width, results,
             [&](uint32_t arg, size_t slot, int64_t b, int64_t t, int64_t lane, double result,
                 F expected) {
               char room[8];
               runtime::storeElement(room, storage, expected);
               const F stored = runtime::loadElement<F>(room, storage);
               const F got = static_cast<F>(result);
               if (sameBits(stored, got)) {
                 return true;
               }
               text << "arg " << arg << " slot " << slot << " batch " << b << " t " << t << " lane "
                    << lane << ": " << got << ", expected " << stored;
               return false;
             });
  return text.str();
}

template class Problem<float>;
template class Problem<double>;

} // namespace rnnc::test
