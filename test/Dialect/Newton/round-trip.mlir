// RUN: rnn-opt %s | rnn-opt | FileCheck %s
// RUN: rnn-opt %s --mlir-print-op-generic | rnn-opt | FileCheck %s

// CHECK-LABEL: newton.cell @Ema
newton.cell @Ema {
  // CHECK-NEXT: newton.tensor input @x ["d"] [-1]
  newton.tensor input @x ["d"] [-1]
  // CHECK-NEXT: newton.tensor state hidden @h ["d"] [-1] fill 5.000000e-01
  newton.tensor state hidden @h ["d"] [-1] fill 5.0e-1
  // CHECK-NEXT: newton.system @Ema_h : f32 lanes ["d"]
  // CHECK-SAME: states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
  // CHECK-SAME: structure <entries = [0, 0], values = [1], carry = [0, 0], numbers = [1], blocks = [0], linear = true, constant = true>
  newton.system @Ema_h : f32 lanes ["d"] states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
      inputs [#newton.slot<@x, lanes = [0], at = [0], back = 0>] params [] outputs []
      structure <entries = [0, 0], values = [1], carry = [0, 0], numbers = [1], blocks = [0], linear = true, constant = true> step {
  ^bb0(%h: f32, %x: f32):
    // CHECK: newton.softplus
    %0 = newton.softplus %x : f32
    // CHECK: newton.sign
    %1 = newton.sign %0 : f32
    // CHECK: newton.sigmoid
    %2 = newton.sigmoid %1 : f32
    %3 = arith.addf %2, %h : f32
    // CHECK: newton.yield %{{.*}} : f32
    newton.yield %3 : f32
  } jacobian {
  ^bb0(%h: f32, %x: f32):
    %one = arith.constant 1.0 : f32
    newton.yield %one : f32
  }
}

// CHECK-LABEL: newton.cell @Sum
newton.cell @Sum {
  newton.tensor input @x [] []
  newton.tensor state @h ["d"] [-1]
  // CHECK: newton.dense_system @Sum_h : f32 lanes [] block ["d"] [-1]
  // CHECK-SAME: states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
  // CHECK-SAME: temporaries [array<i64>]
  newton.dense_system @Sum_h : f32 lanes [] block ["d"] [-1]
      states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
      inputs [#newton.slot<@x, lanes = [], at = [], back = 0>] params [] outputs []
      temporaries [array<i64>] step {
  ^bb0(%d: index, %h: memref<?xf32>, %x: memref<f32>, %next: memref<?xf32>, %sum: memref<f32>):
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %number = memref.load %x[] : memref<f32>
    // CHECK: scf.for
    scf.for %i = %zero to %d step %one {
      memref.store %number, %next[%i] : memref<?xf32>
    }
    // CHECK: newton.yield
    newton.yield
  }
}

newton.cell @Implicit {
  newton.tensor state @h [] []
  newton.tensor input @x [] []
  newton.system @implicit : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [#newton.slot<@x, lanes = [], at = [], back = 0>] params [] outputs [] step {
  ^bb0(%h: f32, %x: f32):
    // CHECK: newton.implicit 0 ["h"] from(%{{.*}} : f32) given(%{{.*}} : f32) : f32 residual
    // CHECK: trial
    %0 = newton.implicit 0 ["h"] from (%h : f32) given (%x : f32) : f32 residual {
    ^bb0(%u: f32, %c: f32):
      %1 = arith.subf %c, %u : f32
      newton.yield %1 : f32
    } trial {
    ^bb0(%u: f32, %offset: f32, %norm: f32, %count: f32, %above: f32, %below: f32, %c: f32):
      newton.yield %u, %offset, %norm, %count, %above, %below, %c : f32, f32, f32, f32, f32, f32, f32
    }
    newton.yield %0 : f32
  }
}

// CHECK-LABEL: newton.cell @Outer
newton.cell @Outer {
  newton.tensor input @l ["d"] [-1]
  newton.tensor input @x ["m"] [-1]
  newton.tensor state @h ["d"] [-1]
  newton.tensor gradient @W ["d", "m"] [-1, -1]
  // CHECK: newton.outer before <@l, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f32
  newton.outer before <@l, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f32
  // CHECK: newton.outer after guarded negative <@h, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f64
  newton.outer after guarded negative <@h, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f64
}
