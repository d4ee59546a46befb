// RUN: rnn-opt %s --split-input-file --pass-pipeline='builtin.module(newton.cell(derive-trial),canonicalize,cse)' | FileCheck %s

// u = cos(u) + x: one division is Newton's update, and the verdict is the last of seven results.
newton.cell @Scalar {
  newton.tensor state @h [] []
  newton.tensor input @x [] []
  newton.system @scalar : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [#newton.slot<@x, lanes = [], at = [], back = 0>] params [] outputs [] step {
  ^bb0(%h: f32, %x: f32):
    // CHECK: newton.implicit 0 ["h"] from(%[[H:.*]] : f32) given(%[[X:.*]] : f32) : f32 residual
    %0 = newton.implicit 0 ["h"] from (%h : f32) given (%x : f32) : f32 residual {
    ^bb0(%u: f32, %c: f32):
      %1 = math.cos %u : f32
      %2 = arith.addf %1, %c : f32
      %3 = arith.subf %2, %u : f32
      newton.yield %3 : f32
    }
    // CHECK: trial
    // CHECK: ^bb0(%[[U:[^:]*]]: f32, %[[O:[^:]*]]: f32, %{{[^:]*}}: f32, %{{[^:]*}}: f32, %[[ABOVE:[^:]*]]: f32, %[[BELOW:[^:]*]]: f32, %{{[^:]*}}: f32)
    // CHECK: %[[V:.*]] = arith.addf %[[U]], %[[O]]
    // CHECK: math.cos %[[V]]
    // CHECK: math.sin %[[V]]
    // CHECK-COUNT-1: arith.divf
    // CHECK-NOT: arith.divf
    // CHECK-DAG: %[[SEEN_ABOVE:.*]] = arith.select %{{.*}}, %[[V]], %[[ABOVE]]
    // CHECK-DAG: %[[SEEN_BELOW:.*]] = arith.select %{{.*}}, %[[V]], %[[BELOW]]
    // CHECK: arith.cmpf ord, %[[SEEN_ABOVE]], %[[SEEN_BELOW]]
    // CHECK-NOT: arith.divf
    // CHECK: newton.yield {{.*}} : f32, f32, f32, f32, f32, f32, f32{{$}}
    newton.yield %0 : f32
  }
}

// -----

// An upper triangular pair needs no exchange of rows: the only selects are those of the search.
newton.cell @Triangular {
  newton.tensor state @p [] []
  newton.tensor state @q [] []
  // CHECK-LABEL: newton.system @triangular
  newton.system @triangular : f64 lanes [] states [#newton.slot<@p, lanes = [], at = [], back = 0>,
      #newton.slot<@q, lanes = [], at = [], back = 0>] inputs [] params [] outputs [] step {
  ^bb0(%p: f64, %q: f64):
    %0:2 = newton.implicit 0 ["p", "q"] from (%p, %q : f64, f64) given () : f64, f64 residual {
    ^bb0(%u: f64, %w: f64):
      %1 = math.sin %u : f64
      %2 = math.sin %w : f64
      %3 = arith.addf %1, %2 : f64
      newton.yield %3, %2 : f64, f64
    }
    // CHECK: trial
    // CHECK-NOT: cmpf ogt
    // CHECK: newton.yield
    newton.yield %0#0, %0#1 : f64, f64
  }
}
