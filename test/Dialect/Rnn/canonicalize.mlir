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
