// RUN: rnn-opt %s --lower-to-newton --canonicalize --cse -verify-diagnostics | FileCheck %s

// A free block axis: the product is a loop over groups of eight rows and one over the rest; what is
// contracted has a temporary, what is element-wise does not.
rnn.cell @Dense {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.param @W : !rnn.array<[d, d]>
  rnn.param @a : !rnn.array<[d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %W = rnn.param_value @W : !rnn.array<[d, d]>
    %a = rnn.param_value @a : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %ah = rnn.binary mul %a, %h : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    // expected-warning @+2 {{this term couples the axis 'd' of the state 'h': the Jacobian is a dense block of free size, so the cell runs sequentially [RNN0401]}}
    // expected-note @+1 {{recurrent weights that are element-wise}}
    %Wah = rnn.matmul %W, %ah : (!rnn.array<[d, d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %s = rnn.binary add %Wah, %x : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %t = rnn.unary tanh %s : !rnn.array<[d]> -> !rnn.array<[d]>
    rnn.set_state @h, %t : !rnn.array<[d]>
  }
}
// CHECK-LABEL: newton.cell @Dense
// CHECK: newton.dense_system @Dense_h : f32 lanes [] block ["d"] [-1]
// CHECK-SAME: states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
// CHECK-SAME: temporaries [array<i64: 0>, array<i64: 0>] step
// CHECK: ^bb0(%[[D:.*]]: index, %[[H:.*]]: memref<?xf32>, %[[X:.*]]: memref<?xf32>, %[[W:.*]]: memref<?x?xf32>, %{{.*}}: memref<?xf32>, %[[NEXT:.*]]: memref<?xf32>, %[[AH:.*]]: memref<?xf32>, %[[WAH:.*]]: memref<?xf32>):
// CHECK: scf.for %{{.*}} = %c0 to %[[D]] step %c1
// CHECK: memref.store %{{.*}}, %[[AH]][
// CHECK: %[[REST:.*]] = arith.remui %[[D]], %c8
// CHECK: %[[WHOLE:.*]] = arith.subi %[[D]], %[[REST]]
// CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c8
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %[[D]] step %c1 iter_args
// CHECK: memref.load %[[AH]]
// CHECK-COUNT-8: memref.load %[[W]]
// CHECK-COUNT-8: memref.store %{{.*}}, %[[WAH]]
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to %[[D]] step %c1
// CHECK: scf.for
// CHECK-NOT: memref.store %{{.*}}, %[[WAH]]
// CHECK: memref.store %{{.*}}, %[[WAH]]
// CHECK: scf.for %[[I:.*]] = %c0 to %[[D]] step %c1
// CHECK: memref.load %[[WAH]][%[[I]]]
// CHECK: memref.load %[[X]][%[[I]]]
// CHECK: math.tanh
// CHECK: memref.store %{{.*}}, %[[NEXT]][%[[I]]]
// CHECK: newton.yield

// Heads are a lane axis: no loop, no dimension of a memref.
rnn.cell @Heads {
  rnn.dim_decl @heads
  rnn.dim_decl @k = 20
  rnn.param @R : !rnn.array<[heads, k = 20, k = 20]>
  rnn.state @h : !rnn.array<[heads, k = 20]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[heads, k = 20]>
    %R = rnn.param_value @R : !rnn.array<[heads, k = 20, k = 20]>
    // expected-warning @+2 {{this term couples the axis 'k' of the state 'h': the Jacobian is a dense block of 20 states, so the cell runs sequentially [RNN0401]}}
    // expected-note @+1 {{recurrent weights that are element-wise}}
    %0 = rnn.matmul %R, %h : (!rnn.array<[heads, k = 20, k = 20]>, !rnn.array<[heads, k = 20]>) -> !rnn.array<[heads, k = 20]>
    rnn.set_state @h, %0 : !rnn.array<[heads, k = 20]>
  }
}
// CHECK-LABEL: newton.cell @Heads
// CHECK: newton.dense_system @Heads_h : f32 lanes ["heads"] block ["k"] [20]
// CHECK-SAME: states [#newton.slot<@h, lanes = [0, -1], at = [0, -1], back = 0>]
// CHECK-SAME: params [#newton.slot<@R, lanes = [0, -1, -1], at = [0, -1, -1], back = 0>]
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: memref<20xf32>, %{{.*}}: memref<20x20xf32>, %{{.*}}: memref<20xf32>, %{{.*}}: memref<20xf32>):

// Reductions are loops that begin with what changes nothing; a free size is counted for a mean.
rnn.cell @Reductions {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d]>
  rnn.output @y : !rnn.array<[]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    // expected-warning @+2 {{this term couples the axis 'd' of the state 'h'}}
    // expected-note @+1 {{recurrent weights that are element-wise}}
    %0 = rnn.reduce max %h axis 0 keep : !rnn.array<[d]> -> !rnn.array<[1]>
    %1 = rnn.binary sub %h, %0 : (!rnn.array<[d]>, !rnn.array<[1]>) -> !rnn.array<[d]>
    rnn.set_state @h, %1 : !rnn.array<[d]>
    %2 = rnn.reduce mean %1 axis 0 : !rnn.array<[d]> -> !rnn.array<[]>
    rnn.set_output @y, %2 : !rnn.array<[]>
  }
}
// CHECK-LABEL: newton.cell @Reductions
// CHECK: ^bb0(%[[D:.*]]: index, %{{.*}}: index, %[[H:.*]]: memref<?xf32>, %[[NEXT:.*]]: memref<?xf32>, %[[Y:.*]]: memref<f32>, %[[MAX:.*]]: memref<1xf32>,
// CHECK: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK: scf.for %{{.*}} = %c0 to %[[D]] step %c1 iter_args(%[[SO_FAR:.*]] = %[[LOW]])
// CHECK: %[[TERM:.*]] = memref.load %[[H]]
// CHECK: arith.cmpf oge, %[[SO_FAR]], %[[TERM]]
// CHECK: memref.store %{{.*}}, %[[MAX]][%
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %[[D]]
// CHECK: arith.addf
// CHECK: %[[COUNT:.*]] = scf.for %{{.*}} = %c0 to %[[D]]
// CHECK: arith.addf %{{.*}}, %cst
// CHECK: arith.divf %[[SUM]], %[[COUNT]]
