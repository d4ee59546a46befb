//===- Passes.td - one pass, one verb, one file ---------------------------------------------------===//

#ifndef RNNC_PASSES
#define RNNC_PASSES

include "mlir/Pass/PassBase.td"

def LowerComplex : Pass<"lower-complex", "::mlir::ModuleOp"> {
  let summary = "Turn complex arrays into pairs of real ones";
  let description = [{
    A complex tensor becomes a real one with one more axis, the last, of size 2 and named `complex`:
    real and imaginary part, as torch.view_as_real lays them out. Inside the step a complex value is
    two values of its shape. Afterwards every array is real.

    `state s : complex [n]` becomes a state of [n, 2].
  }];
  let dependentDialects = ["::rnnc::rnn::RnnDialect"];
}

def LiftOrder : Pass<"lift-order", "::mlir::ModuleOp"> {
  let summary = "Turn states of order n into blocks of order one";
  let description = [{
    Afterwards a step reads the previous one alone: hidden states carry a state to later steps.

    `h[t-2]` becomes `h_back1[t-1]`, with `h_back1[t] = h[t-1]`.
  }];
  let dependentDialects = ["::rnnc::rnn::RnnDialect"];
}

def TakeOutMinus : Pass<"take-out-minus", "::mlir::ModuleOp"> {
  let summary = "Take minus signs out of odd and even functions of params";
  let description = [{
    Afterwards values that differ by a sign are made of one function, which CSE makes one op.

    `sin(-a) * cos(-a * r)` becomes `-sin(a) * cos(a * r)`.
  }];
  let dependentDialects = ["::rnnc::rnn::RnnDialect"];
}

def Hoist : Pass<"hoist", "::mlir::ModuleOp"> {
  let summary = "Move out of the step what depends on no state, and what no state depends on";
  let description = [{
    Products with params, and contractions over a free axis or more than eight elements, become
    stages over all steps, before the solve or after it; what depends on params alone and holds a
    function is computed once a call. A readout that would couple lane axes, or an output that has
    other axes than its states, is a stage after the solve. Cheap element-wise ops stay where they
    are used.

    `z = sigmoid(W @ x[t] + b + a * h[t-1])` becomes `z = sigmoid(W_x[t] + a * h[t-1])`, with a stage
    before the step that sets `W_x[t] = W @ x[t] + b`.
  }];
  let dependentDialects = ["::rnnc::rnn::RnnDialect"];
}

def DeriveAdjoint : Pass<"derive-adjoint", "::mlir::ModuleOp"> {
  let summary = "Add to every cell the cell of its gradients";
  let description = [{
    The gradients of a cell are those of another cell, its adjoint, whose time runs backwards: a
    recurrence again, and linear in its states. Reverse mode over the equations of a step and of the
    stages around it, all of them in one step, for hoist to take apart. Each tensor says with
    `rnn.of` what it is to the cell's own.

    `h[t] = a * h[t-1] + x[t]` gets, for the adjoint l of h[t],
    `l = c.h[t-1] + d.h[t]`, `c.h[t] = a * l`, `d.x[t] = l`, `d.a[t] = h.back1[t] * l`.
  }];
  let dependentDialects = ["::rnnc::rnn::RnnDialect"];
}

def GatherDelayed : Pass<"gather-delayed", "::mlir::ModuleOp"> {
  let summary = "Add up what steps owe to one element of an input that later steps read too";
  let description = [{
    Of an adjoint, behind hoist: the parts that an input's gradient has become hoisted arrays, and a
    stage behind the solve adds them. In an adjoint's time, which runs backwards, the part for x[t-1]
    is one step old when the gradient at x[t] is made.

    `d.x` and `d.x.back1` become `d.x[t] = d.x.back0[t] + d.x.back1[t-1]`.
  }];
  let dependentDialects = ["::rnnc::rnn::RnnDialect"];
}

def LowerToNewton : Pass<"lower-to-newton", "::mlir::ModuleOp"> {
  let summary = "Turn cells over arrays into systems of scalars a lane";
  let description = [{
    Lane axes disappear, block axes are unrolled, every group of coupled states becomes one
    newton.system whose slots say where its scalars live. After it no pass knows about arrays.
    A block of more than `unroll` states, or of a size that the caller binds, becomes loops in a
    newton.dense_system instead; that it will run sequentially, and why, is a warning. Of an unrolled
    block of more than `max-block` states the system keeps the reason, until its Jacobian is known.
    Of the stages a matrix product with a sequence becomes a newton.product, what is summed over all
    steps and made of products of two sequences newton.outers, everything else a system without states.

    `h[t] = a * h[t-1]` over [d] becomes a system of one state with lane axis d.
  }];
  let options = [
    Option<"compute", "compute", "std::string", "\"f32\"", "f32 or f64">,
    Option<"operations", "operations", "int64_t", "100000", "scalar operations a cell may unroll to">,
    Option<"unroll", "unroll", "int64_t", "16", "states a lane up to which a block is unrolled">,
    Option<"maxBlock", "max-block", "int64_t", "8", "largest block that surely gets a Jacobian">,
  ];
  let dependentDialects = ["::rnnc::newton::NewtonDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def DeriveTrial : Pass<"derive-trial", "::rnnc::newton::CellOp"> {
  let summary = "Derive the guarded Newton search of every implicit step";
  let description = [{
    Fills the trial region of newton.implicit: the residual at the tried point, its exact derivative
    by the unknowns, Newton's update, and what the search does next. Before the other passes, so that
    the search rounds alike in every schedule.

    `residual` yielding `G(u) - u` gets a `trial` that yields `u`, the next offset, and a verdict.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def FormFma : Pass<"form-fma", "::rnnc::newton::CellOp"> {
  let summary = "Turn a product used once by a sum into a fused multiply-add";
  let description = [{
    Done once, here, so that every schedule of a target rounds alike; the back ends are told not to
    contract on their own. `a * b + c` becomes `fma a, b, c`.
  }];
  let dependentDialects = ["::mlir::math::MathDialect"];
}

def DeriveJacobian : Pass<"derive-jacobian", "::rnnc::newton::CellOp"> {
  let summary = "Differentiate each system's step by its states and prove the structure";
  let description = [{
    Fills the jacobian region in forward mode, one tangent a state, simplifies it, drops the entries
    that are identically zero, and states the structure. A block of more than `max-block` states keeps
    its Jacobian where the carry and a composition cost no more than those of a full block of that
    size. Of any other the diagonal alone is derived: it runs sequentially, which is a warning, or,
    where the parallel schedule is asked for, with the diagonal in place of the Jacobian.
  }];
  let options = [
    Option<"maxBlock", "max-block", "int64_t", "8", "largest block that surely gets a Jacobian">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def DeriveDiagonal : Pass<"derive-diagonal", "::rnnc::newton::CellOp"> {
  let summary = "Differentiate each element of a dense state by itself, approximately";
  let description = [{
    Fills the diagonal region of every dense system: loops over the block in which each state's
    element has a tangent of 1 and all others have none. A contraction passes on the term of that
    element alone. So the diagonal is exact where no contraction follows another one; otherwise what
    goes out of an element into the others and back is left out. In `W @ h[t-1]` the element i keeps
    `W[i, i]`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif
