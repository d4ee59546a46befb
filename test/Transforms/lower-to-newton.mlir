// RUN: rnn-opt %s --split-input-file --lower-to-newton | FileCheck %s
// RUN: rnn-opt %s --split-input-file --lower-to-newton=compute=f64 | FileCheck %s --check-prefix=F64

// An element-wise cell: the axis is a lane axis, one scalar state.
// CHECK-LABEL: newton.cell @Ema
// CHECK: newton.system @Ema_h : f32 lanes ["d"] states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
// CHECK-SAME: inputs [#newton.slot<@x, lanes = [0], at = [0], back = 0>] params [#newton.slot<@a, lanes = [0], at = [0], back = 0>]
// CHECK: ^bb0(%[[H:.*]]: f32, %[[X:.*]]: f32, %[[A:.*]]: f32)
// CHECK: %[[AH:.*]] = arith.mulf %[[A]], %[[H]] : f32
// CHECK: arith.addf %[[AH]], %[[X]] : f32
// F64: newton.system @Ema_h : f64
rnn.cell @Ema {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.param @a : !rnn.array<[d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %a = rnn.param_value @a : !rnn.array<[d]>
    %0 = rnn.binary mul %a, %h : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %1 = rnn.binary add %0, %x : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %1 : !rnn.array<[d]>
  }
}

// -----

// A contraction over k couples it: heads are lanes, k is the block.
// CHECK-LABEL: newton.cell @Heads
// CHECK: lanes ["heads"] states [#newton.slot<@h, lanes = [0, -1], at = [0, 0], back = 0>, #newton.slot<@h, lanes = [0, -1], at = [0, 1], back = 0>]
// CHECK-SAME: params [#newton.slot<@R, lanes = [0, -1, -1], at = [0, 0, 0], back = 0>, #newton.slot<@R, lanes = [0, -1, -1], at = [0, 0, 1], back = 0>, #newton.slot<@R, lanes = [0, -1, -1], at = [0, 1, 0], back = 0>, #newton.slot<@R, lanes = [0, -1, -1], at = [0, 1, 1], back = 0>]
// CHECK: newton.yield %{{.*}}, %{{.*}} : f32, f32
rnn.cell @Heads {
  rnn.dim_decl @heads
  rnn.dim_decl @k = 2
  rnn.param @R : !rnn.array<[heads, k = 2, k = 2]>
  rnn.state @h : !rnn.array<[heads, k = 2]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[heads, k = 2]>
    %R = rnn.param_value @R : !rnn.array<[heads, k = 2, k = 2]>
    %0 = rnn.matmul %R, %h : (!rnn.array<[heads, k = 2, k = 2]>, !rnn.array<[heads, k = 2]>) -> !rnn.array<[heads, k = 2]>
    rnn.set_state @h, %0 : !rnn.array<[heads, k = 2]>
  }
}

// -----

// States that never meet become systems of their own, each with its own lanes.
// CHECK-LABEL: newton.cell @Two
// CHECK: newton.system @Two_u : f32 lanes ["d"]
// CHECK: newton.system @Two_v : f32 lanes ["m"]
rnn.cell @Two {
  rnn.dim_decl @d
  rnn.dim_decl @m
  rnn.state @u : !rnn.array<[d]>
  rnn.state @v : !rnn.array<[m]>
  rnn.step {
    %u = rnn.state_at @u[1] : !rnn.array<[d]>
    %v = rnn.state_at @v[1] : !rnn.array<[m]>
    rnn.set_state @u, %u : !rnn.array<[d]>
    rnn.set_state @v, %v : !rnn.array<[m]>
  }
}

// -----

// A sum over an input's fixed axis is of no concern to the states: d stays a lane axis.
// CHECK-LABEL: newton.cell @InputSum
// CHECK: newton.system @InputSum_h : f32 lanes ["d"] states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
// CHECK-SAME: inputs [#newton.slot<@x, lanes = [-1], at = [0], back = 0>, #newton.slot<@x, lanes = [-1], at = [1], back = 0>]
rnn.cell @InputSum {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[2]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[2]>
    %s = rnn.reduce sum %x axis 0 : !rnn.array<[2]> -> !rnn.array<[]>
    %0 = rnn.binary add %h, %s : (!rnn.array<[d]>, !rnn.array<[]>) -> !rnn.array<[d]>
    rnn.set_state @h, %0 : !rnn.array<[d]>
  }
}

// -----

// A lane axis may have size 1; an input's axis of size 1 that is stretched is element 0 for all lanes.
// CHECK-LABEL: newton.cell @One
// CHECK: lanes ["d"] states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
// CHECK-SAME: inputs [#newton.slot<@x, lanes = [0], at = [0], back = 0>]
// CHECK-LABEL: newton.cell @Stretched
// CHECK: lanes ["d"] states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
// CHECK-SAME: inputs [#newton.slot<@x, lanes = [-1], at = [0], back = 0>]
rnn.cell @One {
  rnn.dim_decl @d = 1
  rnn.input @x : !rnn.array<[d = 1]>
  rnn.state @h : !rnn.array<[d = 1]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d = 1]>
    %x = rnn.input_at @x[0] : !rnn.array<[d = 1]>
    %0 = rnn.binary add %h, %x : (!rnn.array<[d = 1]>, !rnn.array<[d = 1]>) -> !rnn.array<[d = 1]>
    rnn.set_state @h, %0 : !rnn.array<[d = 1]>
  }
}
rnn.cell @Stretched {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[1]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[1]>
    %0 = rnn.binary add %h, %x : (!rnn.array<[d]>, !rnn.array<[1]>) -> !rnn.array<[d]>
    rnn.set_state @h, %0 : !rnn.array<[d]>
  }
}

// -----

// Reductions of a block: elements two at a time, the left one on ties; a mean divides at the end; with
// `keep` every place of the axis reads the one result.
// CHECK-LABEL: newton.cell @Reductions
// CHECK: newton.system @Reductions_h : f32 lanes ["d"]
// CHECK: ^bb0(%[[H0:.*]]: f32, %[[H1:.*]]: f32, %[[H2:.*]]: f32):
// CHECK: %[[GE:.*]] = arith.cmpf oge, %[[H0]], %[[H1]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[H0]], %[[H0]]
// CHECK: %[[LEFT:.*]] = arith.ori %[[GE]], %[[NAN]]
// CHECK: %[[M01:.*]] = arith.select %[[LEFT]], %[[H0]], %[[H1]]
// CHECK: arith.cmpf oge, %[[M01]], %[[H2]]
// CHECK: %[[MAX:.*]] = arith.select %{{.*}}, %[[M01]], %[[H2]]
// CHECK: %[[S:.*]] = arith.addf %[[H0]], %[[H1]]
// CHECK: %[[SUM:.*]] = arith.addf %[[S]], %[[H2]]
// CHECK: %[[THREE:.*]] = arith.constant 3.000000e+00
// CHECK: %[[MEAN:.*]] = arith.divf %[[SUM]], %[[THREE]]
// CHECK: arith.subf %[[H0]], %[[MAX]]
// CHECK: arith.subf %[[H1]], %[[MAX]]
// CHECK: arith.subf %[[H2]], %[[MAX]]
// CHECK-COUNT-3: arith.mulf %{{.*}}, %[[MEAN]]
rnn.cell @Reductions {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d, 3]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d, 3]>
    %0 = rnn.reduce max %h axis 1 keep : !rnn.array<[d, 3]> -> !rnn.array<[d, 1]>
    %1 = rnn.reduce mean %h axis 1 keep : !rnn.array<[d, 3]> -> !rnn.array<[d, 1]>
    %2 = rnn.binary sub %h, %0 : (!rnn.array<[d, 3]>, !rnn.array<[d, 1]>) -> !rnn.array<[d, 3]>
    %3 = rnn.binary mul %2, %1 : (!rnn.array<[d, 3]>, !rnn.array<[d, 1]>) -> !rnn.array<[d, 3]>
    rnn.set_state @h, %3 : !rnn.array<[d, 3]>
  }
}
