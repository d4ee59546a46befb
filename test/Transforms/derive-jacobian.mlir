// RUN: rnn-opt %s --split-input-file --pass-pipeline='builtin.module(newton.cell(derive-jacobian))' | FileCheck %s

// tanh(a h + x): (1 - y^2) a.
newton.cell @Tanh {
  newton.tensor state @h [] []
  newton.tensor param @a [] []
  // CHECK-LABEL: newton.system @tanh
  // CHECK-SAME: structure <entries = [0, 0], values = [1], carry = [0, 0], numbers = [1], blocks = [0], linear = false, constant = false>
  newton.system @tanh : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>] inputs []
      params [#newton.slot<@a, lanes = [], at = [], back = 0>] outputs [] step {
  ^bb0(%h: f32, %a: f32):
    %0 = arith.mulf %a, %h : f32
    %1 = math.tanh %0 : f32
    newton.yield %1 : f32
  }
  // CHECK: jacobian
  // CHECK: ^bb0(%[[H:.*]]: f32, %[[A:.*]]: f32)
  // CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[H]]
  // CHECK: %[[Y:.*]] = math.tanh %[[P]]
  // CHECK: %[[YY:.*]] = arith.mulf %[[Y]], %[[Y]]
  // CHECK: %[[D:.*]] = arith.subf %{{.*}}, %[[YY]]
  // CHECK: %[[J:.*]] = arith.mulf %[[D]], %[[A]]
  // CHECK: newton.yield %[[J]]
}

// -----

// v reads u, u reads nothing of v: triangular, linear and constant; the closure keeps the diagonal.
newton.cell @Triangle {
  newton.tensor state @u [] []
  newton.tensor state @v [] []
  // CHECK-LABEL: newton.system @triangle
  // CHECK-SAME: structure <entries = [0, 0, 1, 0], values = [1, 2], carry = [0, 0, 1, 0, 1, 1], numbers = [1, 2, 3], blocks = [0, 0], linear = true, constant = true>
  newton.system @triangle : f32 lanes [] states [#newton.slot<@u, lanes = [], at = [], back = 0>,
      #newton.slot<@v, lanes = [], at = [], back = 0>] inputs [] params [] outputs [] step {
  ^bb0(%u: f32, %v: f32):
    %half = arith.constant 0.5 : f32
    %0 = arith.mulf %u, %half : f32
    newton.yield %0, %u : f32, f32
  }
}

// -----

// What cancels is no entry; a product of states is not linear.
newton.cell @Cancel {
  newton.tensor state @u [] []
  newton.tensor state @v [] []
  // CHECK-LABEL: newton.system @cancel
  // CHECK-SAME: structure <entries = [0, 0, 0, 1], values = [1, 2], carry = [0, 0, 0, 1, 1, 1], numbers = [1, 2, 3], blocks = [0, 0], linear = false, constant = false>
  newton.system @cancel : f32 lanes [] states [#newton.slot<@u, lanes = [], at = [], back = 0>,
      #newton.slot<@v, lanes = [], at = [], back = 0>] inputs [] params [] outputs [] step {
  ^bb0(%u: f32, %v: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = arith.subf %u, %u : f32
    newton.yield %0, %1 : f32, f32
  }
}

// -----

// The branch not taken has an infinite slope at 0; its tangent is not multiplied by 0 but left out.
newton.cell @Branch {
  newton.tensor state @h [] []
  // CHECK-LABEL: newton.system @branch
  // CHECK: jacobian
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
  // CHECK-NEXT: newton.yield
  newton.system @branch : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>] inputs []
      params [] outputs [] step {
  ^bb0(%h: f32):
    %zero = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %h, %zero : f32
    %r = math.sqrt %h : f32
    %0 = arith.select %c, %r, %h : f32
    newton.yield %0 : f32
  }
}

// -----

// Opposite and equal by the order of factors, signs through odd functions, and a quotient of two
// quotients: two values in four places.
newton.cell @Turn {
  newton.tensor state @u [] []
  newton.tensor state @v [] []
  newton.tensor param @a [] []
  newton.tensor param @b [] []
  // CHECK-LABEL: newton.system @turn
  // CHECK-SAME: structure <entries = [0, 0, 0, 1, 1, 0, 1, 1], values = [1, 2, -2, 1], carry = [0, 0, 0, 1, 1, 0, 1, 1], numbers = [1, 2, -2, 1], blocks = [0, 0], linear = true, constant = true>
  newton.system @turn : f32 lanes [] states [#newton.slot<@u, lanes = [], at = [], back = 0>,
      #newton.slot<@v, lanes = [], at = [], back = 0>] inputs []
      params [#newton.slot<@a, lanes = [], at = [], back = 0>, #newton.slot<@b, lanes = [], at = [], back = 0>]
      outputs [] step {
  ^bb0(%u: f32, %v: f32, %a: f32, %b: f32):
    %s = math.sin %b : f32
    %minus = arith.negf %b : f32
    %t = math.sin %minus : f32
    %0 = arith.mulf %a, %u : f32
    %1 = arith.mulf %0, %s : f32
    %2 = arith.mulf %t, %v : f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.mulf %s, %a : f32
    %5 = arith.mulf %4, %v : f32
    %6 = arith.divf %u, %s : f32
    %7 = arith.mulf %s, %s : f32
    %8 = math.fma %6, %7, %5 : f32
    newton.yield %3, %8 : f32, f32
  }
  // CHECK: jacobian
  // CHECK: newton.yield %{{[0-9a-z]+}}, %{{[0-9a-z]+}} : f32, f32
}
