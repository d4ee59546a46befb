// A loop's accumulators change one after the other; what reads another one is taken before any does.
// RUN: rnnc build %s --emit=cuda | FileCheck %s

newton.cell @Pair {
  newton.tensor input @x ["d"] [-1]
  newton.tensor state @h ["d"] [-1]
  newton.dense_system @Pair_h : f32 lanes [] block ["d"] [-1]
    states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
    inputs [#newton.slot<@x, lanes = [-1], at = [-1], back = 0>]
    params [] outputs [] temporaries [] step {
  ^bb0(%d: index, %old: memref<?xf32>, %x: memref<?xf32>, %new: memref<?xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    // CHECK: real sum = real(0), sum_2 = real(0), sum_3 = real(0), sum_4 = real(0);
    %r:4 = scf.for %i = %c0 to %d step %c1 iter_args(%a = %zero, %b = %zero, %c = %zero, %e = %zero) -> (f32, f32, f32, f32) {
      %y = memref.load %x[%i] : memref<?xf32>
      %a1 = arith.addf %a, %y : f32
      %twice = arith.addf %a, %a : f32
      %b1 = arith.mulf %b, %twice : f32
      %e1 = arith.subf %e, %y : f32
      // CHECK: const real sum_2_taken = sum_2 * (sum + sum), sum_3_taken = sum_2;
      // CHECK-SAME: sum = sum + v1;
      // CHECK: sum_2 = sum_2_taken; sum_3 = sum_3_taken; sum_4 = sum_4 - v1;
      scf.yield %a1, %b1, %b, %e1 : f32, f32, f32, f32
    }
    %s0 = arith.addf %r#0, %r#1 : f32
    %s1 = arith.addf %r#2, %r#3 : f32
    %s = arith.addf %s0, %s1 : f32
    scf.for %i = %c0 to %d step %c1 {
      %o = memref.load %old[%i] : memref<?xf32>
      %n = arith.addf %o, %s : f32
      memref.store %n, %new[%i] : memref<?xf32>
    }
    newton.yield
  }
}
