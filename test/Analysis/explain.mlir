// RUN: rnn-opt %s --pass-pipeline='builtin.module(newton.cell(form-fma,derive-jacobian,form-fma,print-explain))' | FileCheck %s

// CHECK:      lanes       batch x d
// CHECK-NEXT: block       2 states: c, h
// CHECK-NEXT: step        f = sigmoid(a * h[t-1] + x[t])
// CHECK-NEXT:             c[t] = f * c[t-1]
// CHECK-NEXT:             h[t] = tanh(f)
// CHECK-NEXT: structure   2x2 triangular block (3 numbers a lane)
// CHECK-NEXT: pattern     c  x x
// CHECK-NEXT:             h  . x
// CHECK-NEXT: Jacobian    d c / d c[t-1] = f
// CHECK-NEXT:             d c / d h[t-1] = c[t-1] * f * (1 - f) * a
// CHECK-NEXT:             d h / d h[t-1] = (1 - tanh(f) * tanh(f)) * f * (1 - f) * a
// CHECK-NEXT: linear      no
// CHECK-NEXT: cost        step: 4 operations, 2 of them functions;
newton.cell @C {
  newton.tensor input @x ["d"] [-1]
  newton.tensor param @a ["d"] [-1]
  newton.tensor state @c ["d"] [-1]
  newton.tensor state @h ["d"] [-1]
  newton.system @s : f32 lanes ["d"] states [#newton.slot<@c, lanes = [0], at = [0], back = 0>,
      #newton.slot<@h, lanes = [0], at = [0], back = 0>]
      inputs [#newton.slot<@x, lanes = [0], at = [0], back = 0>]
      params [#newton.slot<@a, lanes = [0], at = [0], back = 0>] outputs [] step {
  ^bb0(%c: f32, %h: f32, %x: f32, %a: f32):
    %0 = arith.mulf %a, %h : f32
    %1 = arith.addf %0, %x : f32
    %f = newton.sigmoid %1 : f32 loc("f"("cell.rnn":3:7))
    %2 = arith.mulf %f, %c : f32
    %3 = math.tanh %f : f32
    newton.yield %2, %3 : f32, f32
  }
}
