// RUN: rnn-opt %s --canonicalize | FileCheck %s

// Scalars that are constants fold in float64; arrays do not.
// CHECK-LABEL: rnn.cell @Fold
rnn.cell @Fold {
  rnn.state @h : !rnn.array<[]>
  rnn.step {
    %a = rnn.constant 2.0 : !rnn.array<[]>
    %b = rnn.constant 3.0 : !rnn.array<[]>
    %0 = rnn.binary pow %a, %b : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[]>
    // CHECK: %[[C:.*]] = rnn.constant -8.000000e+00
    %1 = rnn.unary neg %0 : !rnn.array<[]> -> !rnn.array<[]>
    // CHECK: rnn.set_state @h, %[[C]]
    rnn.set_state @h, %1 : !rnn.array<[]>
  }
}

// One element is every reduction of itself, where its axis stays; a longer axis is reduced.
// CHECK-LABEL: rnn.cell @OneElement
rnn.cell @OneElement {
  rnn.state @h : !rnn.array<[2, 1]>
  rnn.output @y : !rnn.array<[2]>
  rnn.step {
    // CHECK: %[[H:.*]] = rnn.state_at @h[1]
    %h = rnn.state_at @h[1] : !rnn.array<[2, 1]>
    // CHECK-NEXT: rnn.set_state @h, %[[H]]
    %0 = rnn.reduce mean %h axis 1 keep : !rnn.array<[2, 1]> -> !rnn.array<[2, 1]>
    %1 = rnn.reduce max %0 axis 1 keep : !rnn.array<[2, 1]> -> !rnn.array<[2, 1]>
    rnn.set_state @h, %1 : !rnn.array<[2, 1]>
    // CHECK-NEXT: rnn.reduce max %[[H]] axis 1 : <[2, 1]> -> <[2]>
    %2 = rnn.reduce max %1 axis 1 : !rnn.array<[2, 1]> -> !rnn.array<[2]>
    // CHECK-NEXT: rnn.set_output
    rnn.set_output @y, %2 : !rnn.array<[2]>
  }
}
