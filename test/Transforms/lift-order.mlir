// RUN: rnn-opt %s --lift-order --split-input-file --verify-diagnostics | FileCheck %s

// A state of order 3 carries itself twice; a state of order 1 stays as it is.
// CHECK-LABEL: rnn.cell @Third
// CHECK: rnn.state @h : !rnn.array<[d]> init 5.0
// CHECK-NEXT: rnn.state hidden @h_back1 : !rnn.array<[d]> init 5.0
// CHECK-NEXT: rnn.state hidden @h_back2 : !rnn.array<[d]> init 5.0
// CHECK-NEXT: rnn.state @g : !rnn.array<[d]>
// CHECK: %[[ONE:.*]] = rnn.state_at @h[1]
// CHECK: %[[THREE:.*]] = rnn.state_at @h_back2[1]
// CHECK: rnn.set_state @h, %[[ONE]]
// CHECK: rnn.set_state @g, %[[THREE]]
// CHECK: %[[H:.*]] = rnn.state_at @h[1]
// CHECK: rnn.set_state @h_back1, %[[H]]
// CHECK: %[[BACK:.*]] = rnn.state_at @h_back1[1]
// CHECK: rnn.set_state @h_back2, %[[BACK]]
rnn.cell @Third {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d]> init 5.0
  rnn.state @g : !rnn.array<[d]>
  rnn.step {
    %1 = rnn.state_at @h[1] : !rnn.array<[d]>
    %3 = rnn.state_at @h[3] : !rnn.array<[d]>
    rnn.set_state @h, %1 : !rnn.array<[d]>
    rnn.set_state @g, %3 : !rnn.array<[d]>
  }
}

// -----

rnn.cell @Taken {
  // expected-error @+1 {{'h_back1' is the name of a state that carries 'h' to later steps}}
  rnn.state @h : !rnn.array<[]>
  rnn.param @h_back1 : !rnn.array<[]>
  rnn.step {
    %h = rnn.state_at @h[2] : !rnn.array<[]>
    rnn.set_state @h, %h : !rnn.array<[]>
  }
}
