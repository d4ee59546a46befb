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

// The whole axis, one array alone, what was joined, and a transpose of a transpose come back.
// CHECK-LABEL: rnn.cell @Moved
rnn.cell @Moved {
  rnn.state @a : !rnn.array<[2, 3]>
  rnn.state @b : !rnn.array<[2, 1]>
  rnn.output @y : !rnn.array<[2, 2]>
  rnn.step {
    // CHECK: %[[A:.*]] = rnn.state_at @a[1]
    %a = rnn.state_at @a[1] : !rnn.array<[2, 3]>
    // CHECK: %[[B:.*]] = rnn.state_at @b[1]
    %b = rnn.state_at @b[1] : !rnn.array<[2, 1]>
    %t = rnn.transpose %a : !rnn.array<[2, 3]> -> !rnn.array<[3, 2]>
    %tt = rnn.transpose %t : !rnn.array<[3, 2]> -> !rnn.array<[2, 3]>
    %whole = rnn.slice %tt axis 1 from 0 : !rnn.array<[2, 3]> -> !rnn.array<[2, 3]>
    %alone = rnn.concat %whole axis 0 : (!rnn.array<[2, 3]>) -> !rnn.array<[2, 3]>
    %all = rnn.concat %alone, %b axis 1 : (!rnn.array<[2, 3]>, !rnn.array<[2, 1]>) -> !rnn.array<[2, 4]>
    %first = rnn.slice %all axis 1 from 0 : !rnn.array<[2, 4]> -> !rnn.array<[2, 3]>
    %second = rnn.slice %all axis 1 from 3 : !rnn.array<[2, 4]> -> !rnn.array<[2, 1]>
    // CHECK-NEXT: %[[ALL:.*]] = rnn.concat %[[A]], %[[B]] axis 1
    // CHECK-NEXT: rnn.set_state @a, %[[A]]
    rnn.set_state @a, %first : !rnn.array<[2, 3]>
    // CHECK-NEXT: rnn.set_state @b, %[[B]]
    rnn.set_state @b, %second : !rnn.array<[2, 1]>
    // CHECK-NEXT: rnn.slice %[[ALL]] axis 1 from 2
    %across = rnn.slice %all axis 1 from 2 : !rnn.array<[2, 4]> -> !rnn.array<[2, 2]>
    rnn.set_output @y, %across : !rnn.array<[2, 2]>
  }
}
