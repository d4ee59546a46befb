// RUN: rnn-opt %s --canonicalize | FileCheck %s

// Products by one, which derivatives make in number, vanish; a step is never reassociated.
newton.cell @One {
  newton.tensor state @h [] []
  // CHECK-LABEL: newton.system @s
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] step {
  // CHECK: ^bb0(%[[H:.*]]: f32)
  ^bb0(%h: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.mulf %h, %one : f32
    %1 = arith.addf %0, %one : f32
    // CHECK: %[[A:.*]] = arith.addf %[[H]], %
    // CHECK-NEXT: %[[B:.*]] = arith.addf %[[A]], %
    %2 = arith.addf %1, %one : f32
    // CHECK-NEXT: newton.yield %[[B]]
    newton.yield %2 : f32
  }
}
