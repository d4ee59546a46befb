// RUN: rnn-opt %s --pass-pipeline='builtin.module(newton.cell(form-fma))' | FileCheck %s

newton.cell @Fma {
  newton.tensor state @h [] []
  newton.tensor param @a [] []
  // CHECK-LABEL: newton.system @s
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>] inputs []
      params [#newton.slot<@a, lanes = [], at = [], back = 0>] outputs [] step {
  // CHECK: ^bb0(%[[H:.*]]: f32, %[[A:.*]]: f32)
  ^bb0(%h: f32, %a: f32):
    // A product used twice stays a product: its other use needs it rounded.
    // CHECK-NEXT: %[[TWICE:.*]] = arith.mulf %[[A]], %[[A]]
    %twice = arith.mulf %a, %a : f32
    // CHECK-NEXT: %[[S0:.*]] = arith.addf %[[TWICE]], %[[TWICE]]
    %0 = arith.addf %twice, %twice : f32
    // CHECK-NEXT: %[[S1:.*]] = math.fma %[[A]], %[[H]], %[[S0]]
    %1 = arith.mulf %a, %h : f32
    %2 = arith.addf %0, %1 : f32
    // c - a * b is fma(-a, b, c).
    // CHECK-NEXT: %[[N:.*]] = arith.negf %[[H]]
    // CHECK-NEXT: %[[S2:.*]] = math.fma %[[N]], %[[S1]], %[[A]]
    %3 = arith.mulf %h, %2 : f32
    %4 = arith.subf %a, %3 : f32
    // Of two products the left one is fused.
    // CHECK-NEXT: %[[R:.*]] = arith.mulf %[[S2]], %[[A]]
    // CHECK-NEXT: math.fma %[[S2]], %[[H]], %[[R]]
    %5 = arith.mulf %4, %h : f32
    %6 = arith.mulf %4, %a : f32
    %7 = arith.addf %5, %6 : f32
    newton.yield %7 : f32
  }
}
