// RUN: rnn-opt %s --derive-adjoint --cse --split-input-file | FileCheck %s

// The adjoint l of h[t] is what later steps carry back, what the caller gives, and what y owes to it.
// CHECK-LABEL: rnn.cell @Leaky.adjoint
// CHECK-DAG: rnn.input @h.back1 : !rnn.array<[d]> {rnn.of = #rnn.of<value "h" back 1>}
// CHECK-DAG: rnn.input @x.back1 : !rnn.array<[d]> {rnn.of = #rnn.of<value "x" back 1>}
// CHECK-DAG: rnn.input @x : !rnn.array<[d]> {rnn.of = #rnn.of<value "x">}
// CHECK-DAG: rnn.param @a : !rnn.array<[d]> {rnn.of = #rnn.of<value "a">}
// CHECK-DAG: rnn.input @d.y : !rnn.array<[d]> {rnn.of = #rnn.of<upstream "y">}
// CHECK-DAG: rnn.input @d.h : !rnn.array<[d]> {rnn.of = #rnn.of<upstream "h">}
// CHECK-DAG: rnn.state hidden @c.h : !rnn.array<[d]> {rnn.of = #rnn.of<carried "h">}
// CHECK-DAG: rnn.output @d.x : !rnn.array<[d]> {rnn.of = #rnn.of<gradient "x">}
// CHECK-DAG: rnn.output @d.x.back1 : !rnn.array<[d]> {rnn.of = #rnn.of<gradient "x" back 1>}
// CHECK-DAG: rnn.output @d.a : !rnn.array<[d]> {rnn.of = #rnn.of<sum "a">}
// CHECK: rnn.step
// CHECK-DAG: %[[H:.*]] = rnn.input_at @h.back1[0]
// CHECK-DAG: %[[X1:.*]] = rnn.input_at @x.back1[0]
// CHECK-DAG: %[[A:.*]] = rnn.param_value @a
// CHECK-DAG: %[[NEW:.*]] = rnn.binary add
// CHECK: %[[Y:.*]] = rnn.input_at @d.y[0]
// CHECK: %[[BYY:.*]] = rnn.binary mul %[[Y]], %[[X1]]
// CHECK: %[[EARLIER:.*]] = rnn.binary mul %[[Y]], %[[NEW]]
// CHECK: %[[CARRIED:.*]] = rnn.state_at @c.h[1]
// CHECK: %[[GIVEN:.*]] = rnn.input_at @d.h[0]
// CHECK: %[[OWN:.*]] = rnn.binary add %[[CARRIED]], %[[GIVEN]]
// CHECK: %[[L:.*]] = rnn.binary add %[[BYY]], %[[OWN]]
// CHECK: %[[BYA:.*]] = rnn.binary mul %[[L]], %[[H]]
// CHECK: %[[BYH:.*]] = rnn.binary mul %[[L]], %[[A]]
// CHECK: rnn.set_state @c.h, %[[BYH]]
// CHECK: rnn.set_output @d.x.back1, %[[EARLIER]]
// CHECK: rnn.set_output @d.x, %[[L]]
// CHECK: rnn.set_output @d.a, %[[BYA]]
rnn.cell @Leaky {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.param @a : !rnn.array<[d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.output @y : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %e = rnn.input_at @x[1] : !rnn.array<[d]>
    %a = rnn.param_value @a : !rnn.array<[d]>
    %p = rnn.binary mul %a, %h : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %n = rnn.binary add %p, %x : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %n : !rnn.array<[d]>
    %q = rnn.binary mul %n, %e : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_output @y, %q : !rnn.array<[d]>
  }
}

// -----

// What an implicit step owes to itself is an implicit equation again. Its solution is read, not
// searched for.
// CHECK-LABEL: rnn.cell @Implicit.adjoint
// CHECK: rnn.input @h : !rnn.array<[d]> {rnn.of = #rnn.of<value "h">}
// CHECK: rnn.state hidden @i.h : !rnn.array<[d]>{{$}}
// CHECK: rnn.step
// CHECK: %[[H:.*]] = rnn.input_at @h[0]
// CHECK: %[[SELF:.*]] = rnn.state_at @i.h[0]
// CHECK: %[[MINUS:.*]] = rnn.unary neg %[[SELF]]
// CHECK: %[[SLOPE:.*]] = rnn.unary cos %[[H]]
// CHECK: rnn.binary mul %[[MINUS]], %[[SLOPE]]
// CHECK: %[[SUM:.*]] = rnn.binary add
// CHECK: rnn.set_state @i.h, %[[SUM]]
// CHECK: rnn.set_state @c.h, %[[SELF]]
rnn.cell @Implicit {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %new = rnn.state_at @h[0] : !rnn.array<[d]>
    %s = rnn.unary sin %new : !rnn.array<[d]> -> !rnn.array<[d]>
    %d = rnn.binary sub %h, %s : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %d : !rnn.array<[d]>
  }
}
