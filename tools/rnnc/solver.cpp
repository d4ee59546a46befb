#include "solver.h"

#include "bug.h"
#include "core/elements.hpp"
#include "progress.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>

using namespace rnnc;
using namespace rnnc::tool;

int Solver::open(const Options& options, Source& source) {
  if (int status = checkSupported(options, console))
    return status;
  if (options.device == Device::Cuda)
    if (int status = openDevice(options))
      return status;
  if (int status = source.load())
    return status;
  std::unique_ptr<CompiledCell> compiled;
  if (session) {
    std::unique_ptr<CudaCell> made;
    if (int status = CudaCell::make(options, source, made))
      return status;
    cudaCell = made.get();
    return create(std::move(made));
  }
  // The interpreter needs a plan's arrays alone.
  bool isRun = options.device != Device::Interpreter || options.verify;
  if (int status = source.compile(computeType(options), compiled, isRun))
    return status;
  return create(std::move(compiled));
}

/// The driver and the device are there; what is asked of them now may still fail.
int Solver::openDevice(const Options& options) {
  session = std::make_unique<runtime::cuda::Session>();
  ordinal = options.ordinal;
  if (rnn_status status = session->open(ordinal))
    return console.error(session->error(), "", status == RNN_MISSING ? kMissing : kFailure);
  std::string arch = fmt::format("sm_{}", session->architecture());
  if (llvm::Error unknown = checkCudaArchitecture(arch)) {
    llvm::consumeError(std::move(unknown));
    return console.error(fmt::format("{}: this rnnc has no kernels for {}", deviceText(), arch),
                         "it has for " + cudaArchitectureNames(), kMissing);
  }
  return kFine;
}

std::string Solver::deviceText() const {
  return session ? fmt::format("CUDA device {} ({}, sm_{})", ordinal, session->deviceName(),
                               session->architecture())
                 : "";
}

int Solver::create(std::unique_ptr<CompiledCell> compiled) {
  cell = std::move(compiled);
  rnn_context* newContext = nullptr;
  if (rnn_context_create(&newContext) != RNN_OK)
    return console.error("the runtime could not start");
  context.reset(newContext);
  rnn_module* newModule = nullptr;
  if (rnn_module_from_table(context.get(), cell->table(), &newModule) != RNN_OK)
    return reportBug(console, "the runtime refused the compiled cell: " + errorText());
  module.reset(newModule);
  if (rnn_module_describe(module.get(), &signature) != RNN_OK)
    return reportBug(console, "the compiled cell has no signature: " + errorText());
  return kFine;
}

int Solver::plan(const rnn_plan_options& fixed, const CallSizes& sizes, PlanPtr& plan) const {
  rnn_plan_options options = fixed;
  std::vector<rnn_dim_value> dims;
  for (auto& [name, size] : sizes.dims)
    dims.push_back({name.c_str(), size});
  options.dims = dims.size();
  options.dim = dims.data();
  options.batch = sizes.batch;
  options.time = sizes.time;
  Stopwatch clock(console);
  rnn_plan* made = nullptr;
  rnn_status status;
  auto start = std::chrono::steady_clock::now();
  {
    Progress progress("compiling kernels");
    status = rnn_plan_create(module.get(), &options, &made);
  }
  plan.reset(made);
  clock.lap("planned; kernels compiled where they were new");
  std::string text = errorText();
  if (std::string warning = rnn_warning_text(context.get()); !warning.empty())
    console.warning(warning);
  if (cudaCell) {
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    cudaCell->planned(taken.count());
    if (int told = cudaCell->printStatus())
      return told;
  }
  if (status == RNN_OK)
    return kFine;
  if (status != RNN_INTERNAL)
    return console.error(text, "", status == RNN_MISSING ? kMissing : kFailure);
  if (cell->isTooLong())
    return console.error(cell->lastError(), "states that do not need each other can be cells of "
                                            "their own; `--emit=newton` shows the step");
  return reportBug(console, cell->lastError().empty() ? text : text + ": " + cell->lastError());
}

int Solver::prepare(const rnn_plan_options& options, const CallData& data, data::DType storage,
                    Call& call) const {
  PlanPtr made;
  if (int status = plan(options, data.sizes, made))
    return status;
  if (int status = call.prepare(console, *signature, std::move(made), data, storage))
    return status;
  return session ? call.moveTo(console, *session) : kFine;
}

static rnn_tensor describe(const data::HostArray& array) {
  rnn_tensor tensor{};
  tensor.data = const_cast<std::byte*>(array.bytes.data());
  constexpr rnn_dtype types[] = {RNN_F32, RNN_F64, RNN_BF16, RNN_F16}; // as data::DType has them
  tensor.dtype = types[static_cast<int>(array.dtype)];
  tensor.rank = array.shape.size();
  int64_t stride = 1;
  for (uint32_t axis = tensor.rank; axis-- > 0;) {
    tensor.shape[axis] = array.shape[axis];
    tensor.strides[axis] = stride;
    stride *= std::max<int64_t>(array.shape[axis], 1);
  }
  return tensor;
}

/// The system gives memory when it is first written: that belongs to getting it, not to the solve.
static void touch(data::HostArray& array) {
  constexpr size_t kPage = 4096;
  volatile std::byte* bytes = array.bytes.data();
  for (size_t i = 0; i < array.bytes.size(); i += kPage)
    bytes[i] = std::byte{0};
}

int Call::prepare(const Console& console, const rnn_signature& signature, PlanPtr newPlan,
                  const CallData& data, data::DType storage) {
  sig = &signature;
  plan = std::move(newPlan);
  planInfo.size = sizeof(planInfo);
  if (rnn_plan_describe(plan.get(), &planInfo) != RNN_OK)
    return reportBug(console, "the plan cannot be described");
  args.assign(signature.args, rnn_tensor{});
  std::vector<rnn_tensor> shapes(signature.args);
  if (rnn_plan_args(plan.get(), shapes.data()) != RNN_OK)
    return reportBug(console, "the arrays of the plan cannot be described");
  results.resize(signature.args);
  for (uint32_t i = 0; i < signature.args; ++i) {
    const rnn_arg_desc& arg = signature.arg[i];
    const rnn_tensor_desc& tensor = signature.table->tensor[arg.tensor];
    if (!runtime::isResult(arg.kind)) {
      if (data.tensors[arg.tensor].array)
        args[i] = describe(*data.tensors[arg.tensor].array);
      continue;
    }
    auto array = data::allocate(storage, {shapes[i].shape, shapes[i].shape + shapes[i].rank});
    if (!array)
      return console.error(fmt::format("'{}': {}", tensor.name, array.error().text));
    results[i] = std::move(*array);
    results[i].complex = isComplex(tensor);
    touch(results[i]);
    args[i] = describe(results[i]);
  }
  size_t workspaceBytes = 0, reserveBytes = 0;
  rnn_plan_sizes(plan.get(), &workspaceBytes, &reserveBytes, nullptr);
  for (auto [bytes, room] :
       {std::pair(workspaceBytes, &workspace), std::pair(reserveBytes, &reserve)}) {
    auto array = data::allocate(data::DType::F64, {static_cast<int64_t>((bytes + 7) / 8)});
    if (!array)
      return console.error("the workspace: " + array.error().text);
    *room = std::move(*array);
    touch(*room);
  }
  return kFine;
}

rnn_status Call::run() {
  if (session)
    return runOnDevice();
  auto start = std::chrono::steady_clock::now();
  rnn_status status =
      rnn_forward(plan.get(), args.data(), workspace.bytes.data(), reserve.bytes.data(), nullptr);
  lastSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  lastReport = {};
  lastReport.size = sizeof(lastReport);
  if (status == RNN_OK || status == RNN_NOT_CONVERGED)
    rnn_report_read(plan.get(), workspace.bytes.data(), &lastReport);
  return status;
}

double Call::progress() const {
  double fraction = 0; // prepare() zeroed the workspace
  if (!session)
    rnn_progress_read(plan.get(), workspace.bytes.data(), &fraction);
  return fraction;
}

const data::HostArray* Call::result(rnn_arg_kind kind, uint32_t tensor) const {
  for (uint32_t i = 0; i < sig->args; ++i)
    if (sig->arg[i].kind == kind && sig->arg[i].tensor == tensor)
      return &results[i];
  return nullptr;
}

void Call::take(std::vector<data::HostArray> others, double seconds) {
  results = std::move(others);
  lastReport = {};
  lastReport.size = sizeof(lastReport);
  lastReport.first_nonfinite = lastReport.unconverged_tile = lastReport.unsolved_step =
      lastReport.unsolved_system = lastReport.unsolved_lane = -1;
  lastSeconds = seconds;
}

rnn_plan_options rnnc::tool::planOptions(const Options& o) {
  rnn_plan_options plan{};
  plan.size = sizeof(plan);
  plan.compute = o.compute ? *o.compute : o.dtype == Storage::F64 ? RNN_F64 : RNN_F32;
  plan.schedule = o.schedule;
  plan.vector = o.vector;
  plan.tiles = o.tiles;
  plan.chunk = o.chunk;
  plan.chunks = o.chunks;
  plan.tolerance = o.tolerance;
  plan.max_sweeps = o.maxSweeps;
  plan.threads = o.threads;
  if (o.device == Device::Cuda) {
    plan.device = RNN_DEVICE_CUDA;
    plan.ordinal = o.ordinal;
  }
  return plan;
}

rnn_plan_options rnnc::tool::sequentialOptions(const Options& options) {
  rnn_plan_options plan = planOptions(options);
  plan.schedule = RNN_SCHEDULE_SEQUENTIAL;
  plan.vector = RNN_VECTOR_AUTO;
  plan.tiles = RNN_TILES_AUTO;
  plan.chunk = plan.chunks = plan.max_sweeps = 0;
  return plan;
}

template <typename T>
static void compareArrays(const data::HostArray& a, const data::HostArray& b, Difference& result) {
  auto x = a.values<T>(), y = b.values<T>();
  for (size_t i = 0; i < x.size(); ++i) {
    auto left = static_cast<double>(x[i]), right = static_cast<double>(y[i]); // exact
    bool nan = std::isnan(left) && std::isnan(right);
    if (nan || std::bit_cast<uint64_t>(left) == std::bit_cast<uint64_t>(right))
      continue;
    result.same = false;
    double difference = std::fabs(left - right) / (1 + std::fabs(right));
    result.largest = std::isnan(difference) ? INFINITY : std::max(result.largest, difference);
  }
}

Difference rnnc::tool::compareResults(const Call& a, const Call& b) {
  Difference result;
  for (uint32_t i = 0; i < a.signature().args; ++i) {
    const rnn_arg_desc& arg = a.signature().arg[i];
    const data::HostArray *x = a.result(arg.kind, arg.tensor), *y = b.result(arg.kind, arg.tensor);
    if (!runtime::isResult(arg.kind))
      continue;
    data::withElement(x->dtype, [&]<class T>() { compareArrays<T>(*x, *y, result); });
  }
  return result;
}
