// RUN: rnn-opt %s | rnn-opt | FileCheck %s
// RUN: rnn-opt %s --mlir-print-op-generic | rnn-opt | FileCheck %s

// CHECK-LABEL: rnn.cell @Heads
rnn.cell @Heads {
  // CHECK-NEXT: rnn.dim_decl @heads
  rnn.dim_decl @heads
  // CHECK-NEXT: rnn.dim_decl @k = 4
  rnn.dim_decl @k = 4
  // CHECK-NEXT: rnn.input @x : !rnn.array<[heads, k = 4]> before 5.000000e-01
  rnn.input @x : !rnn.array<[heads, k = 4]> before 5.0e-1
  // CHECK-NEXT: rnn.param @R : !rnn.array<[heads, k = 4, k = 4]>
  rnn.param @R : !rnn.array<[heads, k = 4, k = 4]>
  // CHECK-NEXT: rnn.state hidden @h : !rnn.array<[heads, k = 4]> init 1.000000e+00
  rnn.state hidden @h : !rnn.array<[heads, k = 4]> init 1.0
  // CHECK-NEXT: rnn.output @y : !rnn.array<[heads]>
  rnn.output @y : !rnn.array<[heads]>
  // CHECK-NEXT: rnn.step
  rnn.step {
    // CHECK-NEXT: rnn.state_at @h[1] : <[heads, k = 4]>
    %h = rnn.state_at @h[1] : !rnn.array<[heads, k = 4]>
    // CHECK-NEXT: rnn.input_at @x[0] : <[heads, k = 4]>
    %x = rnn.input_at @x[0] : !rnn.array<[heads, k = 4]>
    // CHECK-NEXT: rnn.param_value @R
    %R = rnn.param_value @R : !rnn.array<[heads, k = 4, k = 4]>
    // CHECK-NEXT: rnn.matmul %{{.*}}, %{{.*}} : (<[heads, k = 4, k = 4]>, <[heads, k = 4]>) -> <[heads, k = 4]>
    %0 = rnn.matmul %R, %h : (!rnn.array<[heads, k = 4, k = 4]>, !rnn.array<[heads, k = 4]>) -> !rnn.array<[heads, k = 4]>
    // CHECK-NEXT: rnn.binary add
    %1 = rnn.binary add %0, %x : (!rnn.array<[heads, k = 4]>, !rnn.array<[heads, k = 4]>) -> !rnn.array<[heads, k = 4]>
    // CHECK-NEXT: rnn.unary tanh
    %2 = rnn.unary tanh %1 : !rnn.array<[heads, k = 4]> -> !rnn.array<[heads, k = 4]>
    // CHECK-NEXT: rnn.constant 0.000000e+00 : <[]>
    %zero = rnn.constant 0.0 : !rnn.array<[]>
    // CHECK-NEXT: rnn.compare lt {{.*}} -> <[heads, k = 4], bool>
    %c = rnn.compare lt %2, %zero : (!rnn.array<[heads, k = 4]>, !rnn.array<[]>) -> !rnn.array<[heads, k = 4], bool>
    // CHECK-NEXT: rnn.not
    %n = rnn.not %c : !rnn.array<[heads, k = 4], bool> -> !rnn.array<[heads, k = 4], bool>
    // CHECK-NEXT: rnn.logic or
    %l = rnn.logic or %c, %n : (!rnn.array<[heads, k = 4], bool>, !rnn.array<[heads, k = 4], bool>) -> !rnn.array<[heads, k = 4], bool>
    // CHECK-NEXT: rnn.where
    %w = rnn.where %l, %2, %zero : (!rnn.array<[heads, k = 4], bool>, !rnn.array<[heads, k = 4]>, !rnn.array<[]>) -> !rnn.array<[heads, k = 4]>
    // CHECK-NEXT: rnn.set_state @h
    rnn.set_state @h, %w : !rnn.array<[heads, k = 4]>
    // CHECK-NEXT: rnn.reduce sum %{{.*}} axis 1
    %s = rnn.reduce sum %w axis 1 : !rnn.array<[heads, k = 4]> -> !rnn.array<[heads]>
    // CHECK-NEXT: rnn.reduce mean %{{.*}} axis 1 : <[heads, k = 4]> -> <[heads]>
    %m = rnn.reduce mean %w axis 1 : !rnn.array<[heads, k = 4]> -> !rnn.array<[heads]>
    // CHECK-NEXT: rnn.reduce max %{{.*}} axis 0 keep : <[heads, k = 4]> -> <[1, k = 4]>
    %a = rnn.reduce max %w axis 0 keep : !rnn.array<[heads, k = 4]> -> !rnn.array<[1, k = 4]>
    // CHECK-NEXT: rnn.reduce min %{{.*}} axis 1 keep : <[heads, k = 4]> -> <[heads, 1]>
    %b = rnn.reduce min %w axis 1 keep : !rnn.array<[heads, k = 4]> -> !rnn.array<[heads, 1]>
    // CHECK-NEXT: rnn.set_output @y
    rnn.set_output @y, %s : !rnn.array<[heads]>
  }
}

// CHECK-LABEL: rnn.cell @Arrays
rnn.cell @Arrays {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d, 4]>
  rnn.state @S : !rnn.array<[d, 4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d, 4]>
    // CHECK: rnn.slice %{{.*}} axis 1 from 2 : <[d, 4]> -> <[d, 2]>
    %half = rnn.slice %x axis 1 from 2 : !rnn.array<[d, 4]> -> !rnn.array<[d, 2]>
    // CHECK-NEXT: rnn.slice %{{.*}} axis 1 from 3 drop : <[d, 4]> -> <[d]>
    %one = rnn.slice %x axis 1 from 3 drop : !rnn.array<[d, 4]> -> !rnn.array<[d]>
    // CHECK-NEXT: rnn.expand %{{.*}} axis 0 : <[d]> -> <[1, d]>
    %row = rnn.expand %one axis 0 : !rnn.array<[d]> -> !rnn.array<[1, d]>
    // CHECK-NEXT: rnn.transpose %{{.*}} : <[1, d]> -> <[d, 1]>
    %column = rnn.transpose %row : !rnn.array<[1, d]> -> !rnn.array<[d, 1]>
    // CHECK-NEXT: rnn.concat %{{.*}}, %{{.*}}, %{{.*}} axis 1 : (!rnn.array<[d, 2]>, !rnn.array<[d, 1]>, !rnn.array<[d, 1]>) -> <[d, 4]>
    %all = rnn.concat %half, %column, %column axis 1 : (!rnn.array<[d, 2]>, !rnn.array<[d, 1]>, !rnn.array<[d, 1]>) -> !rnn.array<[d, 4]>
    rnn.set_state @S, %all : !rnn.array<[d, 4]>
  }
}

// CHECK-LABEL: rnn.cell @Complex
rnn.cell @Complex {
  rnn.dim_decl @d
  // CHECK: rnn.input @x : !rnn.array<[d], complex>
  rnn.input @x : !rnn.array<[d], complex>
  rnn.state @s : !rnn.array<[d], complex>
  rnn.output @y : !rnn.array<[d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d], complex>
    // CHECK: rnn.part re %{{.*}} : <[d], complex> -> <[d]>
    %re = rnn.part re %x : !rnn.array<[d], complex> -> !rnn.array<[d]>
    // CHECK-NEXT: rnn.part im %{{.*}} : <[d], complex> -> <[d]>
    %im = rnn.part im %x : !rnn.array<[d], complex> -> !rnn.array<[d]>
    // CHECK-NEXT: rnn.complex %{{.*}}, %{{.*}} : (<[d]>, <[d]>) -> <[d], complex>
    %z = rnn.complex %im, %re : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d], complex>
    // CHECK-NEXT: rnn.binary mul %{{.*}}, %{{.*}} : (<[d], complex>, <[d]>) -> <[d], complex>
    %0 = rnn.binary mul %z, %re : (!rnn.array<[d], complex>, !rnn.array<[d]>) -> !rnn.array<[d], complex>
    rnn.set_state @s, %0 : !rnn.array<[d], complex>
    rnn.set_output @y, %im : !rnn.array<[d]>
  }
}
