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

// -----

// A part of an input runs with the lanes from its first element on.
// CHECK-LABEL: newton.cell @Packed
// CHECK: lanes ["2"] states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
// CHECK-SAME: inputs [#newton.slot<@x, lanes = [0], at = [1], back = 0>, #newton.slot<@x, lanes = [0], at = [3], back = 0>]
rnn.cell @Packed {
  rnn.input @x : !rnn.array<[5]>
  rnn.state @h : !rnn.array<[2]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[2]>
    %x = rnn.input_at @x[0] : !rnn.array<[5]>
    %tail = rnn.slice %x axis 0 from 1 : !rnn.array<[5]> -> !rnn.array<[4]>
    %a = rnn.slice %tail axis 0 from 0 : !rnn.array<[4]> -> !rnn.array<[2]>
    %b = rnn.slice %tail axis 0 from 2 : !rnn.array<[4]> -> !rnn.array<[2]>
    %0 = rnn.binary mul %a, %h : (!rnn.array<[2]>, !rnn.array<[2]>) -> !rnn.array<[2]>
    %1 = rnn.binary add %0, %b : (!rnn.array<[2]>, !rnn.array<[2]>) -> !rnn.array<[2]>
    rnn.set_state @h, %1 : !rnn.array<[2]>
  }
}

// -----

// A cut of a state makes its axis part of the block; so does joining, whatever is joined.
// CHECK-LABEL: newton.cell @Rotated
// CHECK: lanes ["d"] states [#newton.slot<@h, lanes = [0, -1], at = [0, 0], back = 0>, #newton.slot<@h, lanes = [0, -1], at = [0, 1], back = 0>]
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: newton.yield %[[B]], %[[A]] : f32, f32
rnn.cell @Rotated {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d, 2]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d, 2]>
    %a = rnn.slice %h axis 1 from 0 : !rnn.array<[d, 2]> -> !rnn.array<[d, 1]>
    %b = rnn.slice %h axis 1 from 1 : !rnn.array<[d, 2]> -> !rnn.array<[d, 1]>
    %0 = rnn.concat %b, %a axis 1 : (!rnn.array<[d, 1]>, !rnn.array<[d, 1]>) -> !rnn.array<[d, 2]>
    rnn.set_state @h, %0 : !rnn.array<[d, 2]>
  }
}

// -----

// CHECK-LABEL: newton.cell @Joined
// CHECK: newton.system @Joined_h : f32 lanes [] states [#newton.slot<@h, lanes = [-1], at = [0], back = 0>, #newton.slot<@h, lanes = [-1], at = [1], back = 0>]
// CHECK-SAME: inputs [#newton.slot<@x, lanes = [-1], at = [0], back = 0>, #newton.slot<@y, lanes = [-1], at = [0], back = 0>]
rnn.cell @Joined {
  rnn.input @x : !rnn.array<[1]>
  rnn.input @y : !rnn.array<[1]>
  rnn.state @h : !rnn.array<[2]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[2]>
    %x = rnn.input_at @x[0] : !rnn.array<[1]>
    %y = rnn.input_at @y[0] : !rnn.array<[1]>
    %both = rnn.concat %x, %y axis 0 : (!rnn.array<[1]>, !rnn.array<[1]>) -> !rnn.array<[2]>
    %0 = rnn.binary add %h, %both : (!rnn.array<[2]>, !rnn.array<[2]>) -> !rnn.array<[2]>
    rnn.set_state @h, %0 : !rnn.array<[2]>
  }
}

// -----

// An outer product keeps the axes of both sides apart: all of a matrix-valued state is lanes.
// CHECK-LABEL: newton.cell @Outer
// CHECK: lanes ["d", "n"] states [#newton.slot<@S, lanes = [0, 1], at = [0, 0], back = 0>]
// CHECK-SAME: inputs [#newton.slot<@u, lanes = [0], at = [0], back = 0>, #newton.slot<@v, lanes = [1], at = [0], back = 0>]
rnn.cell @Outer {
  rnn.dim_decl @d
  rnn.dim_decl @n
  rnn.input @u : !rnn.array<[d]>
  rnn.input @v : !rnn.array<[n]>
  rnn.state @S : !rnn.array<[d, n]>
  rnn.step {
    %S = rnn.state_at @S[1] : !rnn.array<[d, n]>
    %u = rnn.input_at @u[0] : !rnn.array<[d]>
    %v = rnn.input_at @v[0] : !rnn.array<[n]>
    %column = rnn.expand %u axis 1 : !rnn.array<[d]> -> !rnn.array<[d, 1]>
    %row = rnn.expand %v axis 0 : !rnn.array<[n]> -> !rnn.array<[1, n]>
    %uv = rnn.binary mul %column, %row : (!rnn.array<[d, 1]>, !rnn.array<[1, n]>) -> !rnn.array<[d, n]>
    %0 = rnn.binary add %S, %uv : (!rnn.array<[d, n]>, !rnn.array<[d, n]>) -> !rnn.array<[d, n]>
    rnn.set_state @S, %0 : !rnn.array<[d, n]>
  }
}

// -----

// What a state is multiplied with itself by couples its axis: off the diagonal two places meet.
// CHECK-LABEL: newton.cell @Square
// CHECK: newton.system @Square_h : f32 lanes [] states [#newton.slot<@h, lanes = [-1], at = [0], back = 0>, #newton.slot<@h, lanes = [-1], at = [1], back = 0>]
// CHECK-SAME: outputs [#newton.slot<@y, lanes = [-1, -1], at = [0, 0], back = 0>, #newton.slot<@y, lanes = [-1, -1], at = [0, 1], back = 0>,
rnn.cell @Square {
  rnn.state @h : !rnn.array<[2]>
  rnn.output @y : !rnn.array<[2, 2]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[2]>
    %column = rnn.expand %h axis 1 : !rnn.array<[2]> -> !rnn.array<[2, 1]>
    %row = rnn.expand %h axis 0 : !rnn.array<[2]> -> !rnn.array<[1, 2]>
    %hh = rnn.binary mul %column, %row : (!rnn.array<[2, 1]>, !rnn.array<[1, 2]>) -> !rnn.array<[2, 2]>
    rnn.set_state @h, %h : !rnn.array<[2]>
    rnn.set_output @y, %hh : !rnn.array<[2, 2]>
  }
}

// -----

// A transpose lets two axes of a state meet.
// CHECK-LABEL: newton.cell @Swapped
// CHECK: lanes ["heads"] states [#newton.slot<@S, lanes = [0, -1, -1], at = [0, 0, 0], back = 0>
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f32):
// CHECK-NEXT: newton.yield %[[A]], %[[C]], %[[B]], %[[D]]
rnn.cell @Swapped {
  rnn.dim_decl @heads
  rnn.state @S : !rnn.array<[heads, 2, 2]>
  rnn.step {
    %S = rnn.state_at @S[1] : !rnn.array<[heads, 2, 2]>
    %T = rnn.transpose %S : !rnn.array<[heads, 2, 2]> -> !rnn.array<[heads, 2, 2]>
    rnn.set_state @S, %T : !rnn.array<[heads, 2, 2]>
  }
}
