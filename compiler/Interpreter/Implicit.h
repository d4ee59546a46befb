//===- Implicit.h - states that are defined through themselves -------------------------------===//
#pragma once

#include "Program.h"

namespace rnnc {

using Numbers = std::vector<double>;
using Matrix = std::vector<Numbers>; // by rows

/// Solves a * x = b by elimination with pivoting; not finite where `a` is singular.
Numbers eliminate(Matrix a, Numbers b);

/// Sorts the elements that `program.unknowns` lists into `program.levels`: groups of one level do
/// not meet, and need nothing but the levels before.
void orderUnknowns(Interpreter::Program& program);

/// Solves the equations of a step whose inputs, params and previous states are in `memory`, with
/// differences for a Jacobian and Gaussian elimination: the new values are where the step reads
/// them then. Where the equations are not finite to begin with the values are NaN. False where a
/// search found no solution.
bool solveImplicit(const Interpreter::Program& program, Numbers& memory);

} // namespace rnnc
