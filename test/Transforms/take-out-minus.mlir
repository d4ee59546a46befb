// RUN: rnn-opt %s -split-input-file --take-out-minus | FileCheck %s

// An odd function gives the minus on, an even one drops it; through a product and a quotient with
// one negative side. Two minuses meet, an input is none of the params, exp is neither: all as it was.
// CHECK-LABEL: rnn.cell @Minus
// CHECK: %[[A:.*]] = rnn.param_value @a
// CHECK: %[[R:.*]] = rnn.param_value @r
// CHECK: %[[X:.*]] = rnn.input_at @x[0]
// CHECK: %[[NA:.*]] = rnn.unary neg %[[A]]
// CHECK: %[[SIN:.*]] = rnn.unary sin %[[A]]
// CHECK: %[[NSIN:.*]] = rnn.unary neg %[[SIN]]
// CHECK: %[[AR:.*]] = rnn.binary mul %[[A]], %[[R]]
// CHECK: %[[NAR:.*]] = rnn.binary mul %[[NA]], %[[R]]
// CHECK: %[[QUOTIENT:.*]] = rnn.binary div %[[AR]], %[[R]]
// CHECK: %[[BOTH:.*]] = rnn.binary mul %[[NA]], %[[NAR]]
// CHECK: %[[NX:.*]] = rnn.unary neg %[[X]]
// CHECK: rnn.unary cos %[[QUOTIENT]]
// CHECK: rnn.unary tanh %[[BOTH]]
// CHECK: rnn.unary sin %[[NX]]
// CHECK: rnn.unary exp %[[NA]]
// CHECK: rnn.binary add %[[NSIN]],
rnn.cell @Minus {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.param @a : !rnn.array<[d]>
  rnn.param @r : !rnn.array<[d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %a = rnn.param_value @a : !rnn.array<[d]>
    %r = rnn.param_value @r : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %minus = rnn.unary neg %a : !rnn.array<[d]> -> !rnn.array<[d]>
    %s = rnn.unary sin %minus : !rnn.array<[d]> -> !rnn.array<[d]>
    %ar = rnn.binary mul %minus, %r : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %q = rnn.binary div %ar, %r : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %both = rnn.binary mul %minus, %ar : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %nx = rnn.unary neg %x : !rnn.array<[d]> -> !rnn.array<[d]>
    %c = rnn.unary cos %q : !rnn.array<[d]> -> !rnn.array<[d]>
    %t = rnn.unary tanh %both : !rnn.array<[d]> -> !rnn.array<[d]>
    %sx = rnn.unary sin %nx : !rnn.array<[d]> -> !rnn.array<[d]>
    %e = rnn.unary exp %minus : !rnn.array<[d]> -> !rnn.array<[d]>
    %0 = rnn.binary add %s, %c : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %1 = rnn.binary add %0, %t : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %2 = rnn.binary add %1, %sx : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %3 = rnn.binary add %2, %e : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %3 : !rnn.array<[d]>
  }
}
