// The workspace of a call, and what is done in it.
#pragma once

#include "cpu/packing.hpp"
#include "cpu/sequences.hpp"
#include "cpu/tiles_parallel.hpp"

namespace rnnc::runtime::cpu {

/// [report][tallies][packed params][sums][tensors that no caller gives, in training in the
/// reserve][what tiles in parallel keep, products' weights, or factors of outer products][slices of
/// the threads]
template <class F>
struct Workspace {
  ReportHeader* header;
  ThreadSlices threads;
  F* packed;
  F* sums;
  Sequences<F> sequences;
  char* shared;

  Workspace(const Plan& plan, Carver& carver, Carver& kept);

  /// `stream` null: a whole sequence.
  Call call(const Plan& plan, const rnn_tensor* args, const Stream* stream);
};

/// What follows from the params alone: the stages once a call, and params as kernels want them. Of
/// a step's plan also the weights of products, and all of it stays.
template <class F>
void prepare(const Call& call, const Workspace<F>& workspace);

/// All time steps of the plan, prepared; leaves a report.
template <class F>
void solve(Call& call, Workspace<F>& workspace);

/// Its parts: what comes first; the call's steps from `begin` to `end`, of which there may be
/// several one behind the other; the report.
template <class F>
void beginSolve(Call& call, Workspace<F>& workspace);
/// `systems` false: the stages alone.
template <class F>
void solveSteps(const Call& call, Workspace<F>& workspace, bool systems);
template <class F>
void endSolve(Call& call, Workspace<F>& workspace);

/// Throws RNN_NOT_CONVERGED where the report says so.
rnn_status statusOf(const Plan& plan, const ReportHeader& header);

} // namespace rnnc::runtime::cpu
