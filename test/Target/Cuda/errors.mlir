// What cannot be printed is an error at its place, all of them at once, before anything is written.
// RUN: rm -f %t.cu && %{status} 1 rnnc build %s -o %t.cu > %t.log 2>&1
// RUN: FileCheck %s < %t.log
// RUN: not ls %t.cu

newton.cell @Bad {
  newton.tensor input @x ["d"] [-1]
  newton.tensor state @h ["d"] [-1]
  newton.system @Bad_h : f32 lanes ["d"]
    states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
    inputs [#newton.slot<@x, lanes = [0], at = [0], back = 0>]
    params [] outputs [] step {
  ^bb0(%h: f32, %x: f32):
    // CHECK: errors.mlir:[[# @LINE + 1]]:10: error: 'math.cbrt' cannot be printed as CUDA: it is no function of a step on CUDA [RNN0501]
    %0 = math.cbrt %x : f32
    // CHECK: errors.mlir:[[# @LINE + 1]]:10: error: 'arith.extf' cannot be printed
    %1 = arith.extf %0 : f32 to f64
    // CHECK: errors.mlir:[[# @LINE + 1]]:10: error: 'arith.mulf' cannot be printed as CUDA: it is of a type that the step does not compute in
    %2 = arith.mulf %1, %1 : f64
    // CHECK: errors.mlir:[[# @LINE + 1]]:10: error: 'arith.truncf' cannot be printed
    %3 = arith.truncf %2 : f64 to f32
    // CHECK: errors.mlir:[[# @LINE + 1]]:10: error: 'arith.addf' cannot be printed as CUDA: it is allowed to change its rounding (fastmath)
    %4 = arith.addf %3, %h fastmath<reassoc> : f32
    newton.yield %4 : f32
  }
}
