// A compiled cell in the runtime: plans, and calls of rnn_forward with arrays of their own.
#pragma once

#include "check/handles.h"
#include "cuda_cell.h"
#include "data.h"
#include "source.h"

#include "cuda/session.hpp"
#include "rnnc/Compiler.h"

#include <memory>

namespace rnnc::tool {

/// One plan and everything that a call of it needs. Holds the results of the last call.
class Call {
public:
  /// Binds the arrays of `data`, which must outlive the call, and makes room for every sequence
  /// and final state.
  int prepare(const Console& console, const rnn_signature& signature, PlanPtr plan,
              const CallData& data, data::DType storage);
  /// Then, for a plan on a CUDA device: makes room there too, and copies what is given. Both must
  /// outlive the call.
  int moveTo(const Console& console, runtime::cuda::Session& session);

  /// One rnn_forward, timed; on a CUDA device until it has ended, without the copies.
  rnn_status run();
  /// What went wrong on the device; empty where rnn_error_text says it.
  const std::string& deviceError() const { return deviceText; }

  const rnn_plan_info& info() const { return planInfo; }
  const rnn_report& report() const { return lastReport; }
  double seconds() const { return lastSeconds; }
  /// How far run() is, for another thread; 0 before the first.
  double progress() const;
  /// The result of that kind for a tensor; null where there is none.
  const data::HostArray* result(rnn_arg_kind kind, uint32_t tensor) const;
  /// In place of run(): results from somewhere else, which took so long.
  void take(std::vector<data::HostArray> others, double seconds);
  const rnn_signature& signature() const { return *sig; }

private:
  rnn_status runOnDevice();
  rnn_status copyBack();

  const rnn_signature* sig = nullptr;
  PlanPtr plan;
  rnn_plan_info planInfo{};
  rnn_report lastReport{};
  double lastSeconds = 0;
  std::vector<rnn_tensor> args;
  std::vector<data::HostArray> results; ///< by arg; empty for what the caller gives
  data::HostArray workspace, reserve;
  runtime::cuda::Session* session = nullptr; ///< null: on the CPU
  std::vector<rnn_tensor> deviceArgs;
  void* deviceWorkspace = nullptr;
  std::string deviceText;
};

class Solver {
public:
  explicit Solver(const Console& console) : console(console) {}

  /// From the file that the options name to a module of the runtime: load, compile, create.
  int open(const Options& options, Source& source);
  int create(std::unique_ptr<CompiledCell> compiled);
  /// A plan for these sizes; kernels that it needs and nobody had yet are compiled here.
  int plan(const rnn_plan_options& fixed, const CallSizes& sizes, PlanPtr& plan) const;
  /// A plan for the sizes of `data` with what the options fix, ready to run.
  int prepare(const rnn_plan_options& options, const CallData& data, data::DType storage,
              Call& call) const;

  const rnn_module_table& table() const { return *cell->table(); }
  /// The arrays of a call.
  const rnn_signature& arguments() const { return *signature; }
  const CompiledCell& compiled() const { return *cell; }
  rnn_module* handle() const { return module.get(); }
  std::string errorText() const { return rnn_error_text(context.get()); }
  /// "CUDA device 0 (NVIDIA H200, sm_90)"; empty on the CPU.
  std::string deviceText() const;

private:
  int openDevice(const Options& options);

  const Console& console;
  std::unique_ptr<runtime::cuda::Session> session; ///< of a CUDA device; null: on the CPU
  int32_t ordinal = 0;
  std::unique_ptr<CompiledCell> cell;
  CudaCell* cudaCell = nullptr; ///< `cell`, where it is for CUDA
  ContextPtr context;
  ModulePtr module;
  const rnn_signature* signature = nullptr;
};

/// What the command line fixes of a plan; sizes come with the data.
rnn_plan_options planOptions(const Options& options);
/// The same call by the plain loop over time.
rnn_plan_options sequentialOptions(const Options& options);

/// Largest |a - b| / (1 + |b|) over all sequences and final states of two calls of one module;
/// `same` tells whether they agree bit for bit (any NaN equals any NaN).
struct Difference {
  double largest = 0;
  bool same = true;
};
Difference compareResults(const Call& a, const Call& b);

} // namespace rnnc::tool
