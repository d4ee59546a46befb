// RUN: rnn-opt %s --lower-to-newton | FileCheck %s

// What is summed over all steps and is a product of two sequences, each with axes of its own.
// CHECK-LABEL: newton.cell @Outer.adjoint
// CHECK: newton.tensor gradient @d.W ["d", "m"] [-1, -1]
rnn.cell @Outer.adjoint {
  rnn.dim_decl @d
  rnn.dim_decl @m
  rnn.dim_decl @g
  rnn.input @l : !rnn.array<[d]> {rnn.of = #rnn.of<upstream "h">}
  rnn.input @r : !rnn.array<[d, 1]> {rnn.of = #rnn.of<value "r">}
  rnn.input @x : !rnn.array<[m]> {rnn.of = #rnn.of<value "x">}
  rnn.input @lg : !rnn.array<[g, d]> {rnn.of = #rnn.of<value "lg">}
  rnn.input @xg : !rnn.array<[g, m]> {rnn.of = #rnn.of<value "xg">}
  rnn.state hidden @c.h : !rnn.array<[d]> {rnn.of = #rnn.of<carried "h">}
  rnn.output @d.W : !rnn.array<[d, m]> {rnn.of = #rnn.of<sum "W">}
  rnn.output @d.V : !rnn.array<[m, d]> {rnn.of = #rnn.of<sum "V">}
  rnn.output @d.H : !rnn.array<[g, d, m]> {rnn.of = #rnn.of<sum "H">}
  rnn.output @d.G : !rnn.array<[d, m]> {rnn.of = #rnn.of<sum "G">}
  rnn.output @d.A : !rnn.array<[d, d]> {rnn.of = #rnn.of<sum "A">}
  rnn.output @d.C : !rnn.array<[d, m, 2]> {rnn.of = #rnn.of<sum "C">}
  rnn.output @d.a : !rnn.array<[d]> {rnn.of = #rnn.of<sum "a">}
  rnn.output @d.E : !rnn.array<[d, m]> {rnn.of = #rnn.of<sum "E">}
  rnn.output @d.B : !rnn.array<[g, 2, 3]> {rnn.of = #rnn.of<sum "B">}
  rnn.input @l2 : !rnn.array<[g, 2]> {rnn.of = #rnn.of<value "l2">}
  rnn.input @x3 : !rnn.array<[g, 3]> {rnn.of = #rnn.of<value "x3">}

  rnn.step {
    %0 = rnn.state_at @c.h[1] : <[d]>
    rnn.set_state @c.h, %0 : <[d]>
  }

  // CHECK: newton.outer after <@l, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@d.W, lanes = [0, 1], at = [0, 0], back = 0> : f32
  rnn.stage after {
    %0 = rnn.input_at @l[0] : <[d]>
    %1 = rnn.input_at @x[0] : <[m]>
    %2 = rnn.expand %0 axis 1 : <[d]> -> <[d, 1]>
    %3 = rnn.binary mul %2, %1 : (<[d, 1]>, <[m]>) -> <[d, m]>
    rnn.set_output @d.W, %3 : <[d, m]>
  }
  // The result's axes in the other order.
  // CHECK-NEXT: newton.outer after <@l, lanes = [1], at = [0], back = 0> times <@x, lanes = [0], at = [0], back = 0> into <@d.V, lanes = [0, 1], at = [0, 0], back = 0> : f32
  rnn.stage after {
    %0 = rnn.input_at @l[0] : <[d]>
    %1 = rnn.input_at @x[0] : <[m]>
    %2 = rnn.expand %0 axis 1 : <[d]> -> <[d, 1]>
    %3 = rnn.binary mul %2, %1 : (<[d, 1]>, <[m]>) -> <[d, m]>
    %4 = rnn.transpose %3 : <[d, m]> -> <[m, d]>
    rnn.set_output @d.V, %4 : <[m, d]>
  }
  // An axis that both have: a batch of matrices.
  // CHECK-NEXT: newton.outer after <@lg, lanes = [0, 1], at = [0, 0], back = 0> times <@xg, lanes = [0, 2], at = [0, 0], back = 0> into <@d.H, lanes = [0, 1, 2], at = [0, 0, 0], back = 0> : f32
  rnn.stage after {
    %0 = rnn.input_at @lg[0] : <[g, d]>
    %1 = rnn.input_at @xg[0] : <[g, m]>
    %2 = rnn.expand %0 axis 2 : <[g, d]> -> <[g, d, 1]>
    %3 = rnn.expand %1 axis 1 : <[g, m]> -> <[g, 1, m]>
    %4 = rnn.binary mul %2, %3 : (<[g, d, 1]>, <[g, 1, m]>) -> <[g, d, m]>
    rnn.set_output @d.H, %4 : <[g, d, m]>
  }
  // A branch that was not taken owes nothing.
  // CHECK-NEXT: newton.outer after guarded <@r, lanes = [0, -1], at = [0, 0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@d.G, lanes = [0, 1], at = [0, 0], back = 0> : f32
  rnn.stage after {
    %0 = rnn.input_at @r[0] : <[d, 1]>
    %1 = rnn.input_at @x[0] : <[m]>
    %2 = rnn.constant 0.0 : <[]>
    %3 = rnn.binary mul %1, %0 : (<[m]>, <[d, 1]>) -> <[d, m]>
    %4 = rnn.compare eq %0, %2 : (<[d, 1]>, <[]>) -> <[d, 1], bool>
    %5 = rnn.where %4, %2, %3 : (<[d, 1], bool>, <[]>, <[d, m]>) -> <[d, m]>
    rnn.set_output @d.G, %5 : <[d, m]>
  }
  // Of W - W^T: a sum of two.
  // CHECK-NEXT: newton.outer after <@l, lanes = [0], at = [0], back = 0> times <@r, lanes = [1, -1], at = [0, 0], back = 0> into <@d.A, lanes = [0, 1], at = [0, 0], back = 0> : f32
  // CHECK-NEXT: newton.outer after negative <@l, lanes = [1], at = [0], back = 0> times <@r, lanes = [0, -1], at = [0, 0], back = 0> into <@d.A, lanes = [0, 1], at = [0, 0], back = 0> : f32
  rnn.stage after {
    %0 = rnn.input_at @l[0] : <[d]>
    %1 = rnn.input_at @r[0] : <[d, 1]>
    %2 = rnn.expand %0 axis 1 : <[d]> -> <[d, 1]>
    %3 = rnn.slice %1 axis 1 from 0 drop : <[d, 1]> -> <[d]>
    %4 = rnn.binary mul %2, %3 : (<[d, 1]>, <[d]>) -> <[d, d]>
    %5 = rnn.unary neg %4 : <[d, d]> -> <[d, d]>
    %6 = rnn.transpose %5 : <[d, d]> -> <[d, d]>
    %7 = rnn.binary add %4, %6 : (<[d, d]>, <[d, d]>) -> <[d, d]>
    rnn.set_output @d.A, %7 : <[d, d]>
  }
  // Real and imaginary part.
  // CHECK-NEXT: newton.outer after <@l, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@d.C, lanes = [0, 1, -1], at = [0, 0, 0], back = 0> : f32
  // CHECK-NEXT: newton.outer after <@r, lanes = [0, -1], at = [0, 0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@d.C, lanes = [0, 1, -1], at = [0, 0, 1], back = 0> : f32
  rnn.stage after {
    %0 = rnn.input_at @l[0] : <[d]>
    %1 = rnn.input_at @r[0] : <[d, 1]>
    %2 = rnn.input_at @x[0] : <[m]>
    %3 = rnn.expand %0 axis 1 : <[d]> -> <[d, 1]>
    %4 = rnn.binary mul %3, %2 : (<[d, 1]>, <[m]>) -> <[d, m]>
    %5 = rnn.binary mul %1, %2 : (<[d, 1]>, <[m]>) -> <[d, m]>
    %6 = rnn.expand %4 axis 2 : <[d, m]> -> <[d, m, 1]>
    %7 = rnn.constant 0.0 : <[d, m, 1]>
    %8 = rnn.concat %6, %7 axis 2 : (!rnn.array<[d, m, 1]>, !rnn.array<[d, m, 1]>) -> <[d, m, 2]>
    %9 = rnn.expand %5 axis 2 : <[d, m]> -> <[d, m, 1]>
    %10 = rnn.concat %7, %9 axis 2 : (!rnn.array<[d, m, 1]>, !rnn.array<[d, m, 1]>) -> <[d, m, 2]>
    %11 = rnn.binary add %8, %10 : (<[d, m, 2]>, <[d, m, 2]>) -> <[d, m, 2]>
    rnn.set_output @d.C, %11 : <[d, m, 2]>
  }
  // No matrix: both have every axis.
  // CHECK-NOT: newton.outer
  // CHECK: newton.system {{.*}} sums [#newton.slot<@d.a
  rnn.stage after {
    %0 = rnn.input_at @l[0] : <[d]>
    %1 = rnn.binary mul %0, %0 : (<[d]>, <[d]>) -> <[d]>
    rnn.set_output @d.a, %1 : <[d]>
  }
  // More than a product of sequences.
  // CHECK: newton.system {{.*}} sums [#newton.slot<@d.E
  rnn.stage after {
    %0 = rnn.input_at @l[0] : <[d]>
    %1 = rnn.input_at @x[0] : <[m]>
    %2 = rnn.expand %0 axis 1 : <[d]> -> <[d, 1]>
    %3 = rnn.binary mul %2, %1 : (<[d, 1]>, <[m]>) -> <[d, m]>
    %4 = rnn.unary tanh %3 : <[d, m]> -> <[d, m]>
    rnn.set_output @d.E, %4 : <[d, m]>
  }
  // A batch of small matrices, whose kernel would be mostly empty.
  // CHECK: newton.system {{.*}} sums [#newton.slot<@d.B
  rnn.stage after {
    %0 = rnn.input_at @l2[0] : <[g, 2]>
    %1 = rnn.input_at @x3[0] : <[g, 3]>
    %2 = rnn.expand %0 axis 2 : <[g, 2]> -> <[g, 2, 1]>
    %3 = rnn.expand %1 axis 1 : <[g, 3]> -> <[g, 1, 3]>
    %4 = rnn.binary mul %2, %3 : (<[g, 2, 1]>, <[g, 1, 3]>) -> <[g, 2, 3]>
    rnn.set_output @d.B, %4 : <[g, 2, 3]>
  }
}
