// What `rnnc check` proves about a cell, each proof in a file of its own.
#pragma once

#include "Newton/Newton.h"
#include "Rnn/Rnn.h"
#include "rnn/rnn.h"
#include "rnnc/Compiler.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rnnc::check {

/// One line of the table.
struct Row {
  std::string check, subject, result;
  bool passed = true;
  bool unmeasured = false; // failed because too few points could be measured
};
using Rows = std::vector<Row>;

/// A cell in every form that the proofs need. Borrowed.
struct Subject {
  mutable rnn::CellOp cell;        // what the interpreter runs
  mutable newton::CellOp newton64; // the systems, computed in float64
  const CompiledCell* f32 = nullptr;
  const CompiledCell* f64 = nullptr;
  uint64_t seed = 0;
  std::map<std::string, double> params; // --param NAME=VALUE; others are drawn
  int32_t threads = 0;                  // 0: all
  int draws = 8;                        // vectors of random points a kernel and length
  bool isQuick = false;                 // short sequences, few shapes
  uint32_t kernels = UINT32_MAX;        // of a system: the first of them
};

/// The derivative rule of every op of the step, by itself, against differences (float64).
Rows checkRules(const Subject& subject);
/// Derived Jacobian of one step against differences, and which entries really are zero (float64).
Rows checkDerivatives(const Subject& subject);
/// The carry of a chunk of steps against differences of its end by its start (float64).
Rows checkCarries(const Subject& subject);
/// The same carry against the product of the steps' Jacobians as whole matrices: the carry's
/// structure leaves nothing out (float64).
Rows checkProducts(const Subject& subject);
/// Which elements of the new states an element of the old ones reaches, in the interpreter, against
/// the derived lanes and pattern.
Rows checkStructure(const Subject& subject);
/// Every schedule against the sequential loop, bit for bit.
Rows checkSchedules(const Subject& subject);
/// A stream, in pieces and step by step, against one call, bit for bit.
Rows checkStreaming(const Subject& subject);
/// Packed batches, reset masks and reversed time against each sequence by itself, bit for bit. For
/// the compute types that the subject has.
Rows checkSegments(const Subject& subject);
/// Contraction, measured, and both compute types against the interpreter.
Rows checkOracle(const Subject& subject);

/// Gradients: of every schedule against the sequential one, bit for bit but for those of params;
/// against the interpreter's own, and against differences of what it runs (float64).
Rows checkGradients(const Subject& subject);

struct Contraction {
  double rate;        // below 0 where the cell forgets its state
  bool isOfJacobians; // else of runs
};

/// The mean of log |A| a step along a drawn trajectory, over the worst lane. Where there is no
/// Jacobian, or a stage makes what it depends on, the rate at which two runs part. Float64.
Contraction contraction(const Subject& subject, uint32_t system);

} // namespace rnnc::check
