// RUN: rnn-opt %s -split-input-file --take-out-minus --cse --hoist | FileCheck %s
// RUN: rnn-opt %s -split-input-file --take-out-minus --cse --hoist --lower-to-newton | FileCheck %s --check-prefix=NEWTON
// RUN: rnn-opt %s -split-input-file --take-out-minus --cse --hoist --lower-to-newton | rnn-opt -split-input-file | FileCheck %s --check-prefix=NEWTON

// A projection with a bias, and a readout. Element-wise terms stay in the step.
// CHECK-LABEL: rnn.cell @Projection
// CHECK: rnn.hoisted before @W_x : !rnn.array<[d]> = "W @ x[t] + b"
// CHECK: rnn.stage before {
// CHECK: rnn.matmul
// CHECK: rnn.binary add
// CHECK: rnn.set_output @W_x
// CHECK: rnn.step {
// CHECK-NOT: rnn.matmul
// CHECK: rnn.input_at @W_x[0]
// CHECK: rnn.set_state @h
// CHECK-NOT: set_output
// CHECK: rnn.stage after {
// CHECK: rnn.input_at @h[0]
// CHECK: rnn.matmul
// CHECK: rnn.set_output @y
// NEWTON-LABEL: newton.cell @Projection
// NEWTON: newton.tensor hoisted @W_x ["d"] [-1] = "W @ x[t] + b"
// NEWTON: newton.product before @x back 0 heads 0 weights [@W] biases [@b] results [@W_x] : f32
// NEWTON: newton.system @Projection_h : f32 lanes ["d"]
// NEWTON: newton.product after @h back 0 heads 0 weights [@C] biases [unit] results [@y] : f32
rnn.cell @Projection {
  rnn.dim_decl @d
  rnn.dim_decl @m
  rnn.dim_decl @p
  rnn.input @x : !rnn.array<[m]>
  rnn.param @W : !rnn.array<[d, m]>
  rnn.param @b : !rnn.array<[d]>
  rnn.param @C : !rnn.array<[p, d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.output @y : !rnn.array<[p]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[m]>
    %W = rnn.param_value @W : !rnn.array<[d, m]>
    %b = rnn.param_value @b : !rnn.array<[d]>
    %C = rnn.param_value @C : !rnn.array<[p, d]>
    %0 = rnn.matmul %W, %x : (!rnn.array<[d, m]>, !rnn.array<[m]>) -> !rnn.array<[d]>
    %1 = rnn.binary add %0, %b : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %2 = rnn.binary mul %b, %1 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %3 = rnn.binary add %h, %2 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %3 : !rnn.array<[d]>
    %4 = rnn.matmul %C, %3 : (!rnn.array<[p, d]>, !rnn.array<[d]>) -> !rnn.array<[p]>
    rnn.set_output @y, %4 : !rnn.array<[p]>
  }
}

// -----

// Nothing here is worth an array: a short sum, cheap params, element-wise terms.
// CHECK-LABEL: rnn.cell @Cheap
// CHECK-NOT: rnn.stage
// CHECK-NOT: rnn.hoisted
rnn.cell @Cheap {
  rnn.dim_decl @d
  rnn.dim_decl @k = 8
  rnn.input @x : !rnn.array<[d, k = 8]>
  rnn.param @a : !rnn.array<[d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[d, k = 8]>
    %a = rnn.param_value @a : !rnn.array<[d]>
    %0 = rnn.reduce sum %x axis 1 : !rnn.array<[d, k = 8]> -> !rnn.array<[d]>
    %1 = rnn.unary neg %a : !rnn.array<[d]> -> !rnn.array<[d]>
    %2 = rnn.binary mul %h, %1 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %3 = rnn.binary add %2, %0 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %3 : !rnn.array<[d]>
  }
}

// -----

// Weights that share what they multiply become one product; a delayed input is another sequence. A
// function of params is computed once a call. What a product multiplies is an array first.
// CHECK-LABEL: rnn.cell @Shared
// NEWTON-LABEL: newton.cell @Shared
// NEWTON: newton.tensor derived @exp_a ["d"] [-1] = "exp(a)"
// NEWTON: newton.system @Shared_exp_a : f32 lanes ["d"] states [] {{.*}}phase call
// NEWTON: newton.system @Shared_tanh_x : f32 lanes ["m"] states [] {{.*}}phase before
// NEWTON: newton.product before @x back 0 heads 0 weights [@V, @W] biases [unit, unit] results [@V_x, @W_x] : f32
// NEWTON: newton.product before @x back 1 heads 0 weights [@V] biases [unit] results [@V_x_2] : f32
// NEWTON: newton.product before @tanh_x back 0 heads 0 weights [@W] biases [unit] results [@W_2] : f32
rnn.cell @Shared {
  rnn.dim_decl @d
  rnn.dim_decl @m
  rnn.input @x : !rnn.array<[m]>
  rnn.param @V : !rnn.array<[d, m]>
  rnn.param @W : !rnn.array<[d, m]>
  rnn.param @a : !rnn.array<[d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[m]>
    %before = rnn.input_at @x[1] : !rnn.array<[m]>
    %V = rnn.param_value @V : !rnn.array<[d, m]>
    %W = rnn.param_value @W : !rnn.array<[d, m]>
    %a = rnn.param_value @a : !rnn.array<[d]>
    %e = rnn.unary exp %a : !rnn.array<[d]> -> !rnn.array<[d]>
    %f = rnn.unary tanh %x : !rnn.array<[m]> -> !rnn.array<[m]>
    %0 = rnn.matmul %V, %x : (!rnn.array<[d, m]>, !rnn.array<[m]>) -> !rnn.array<[d]>
    %1 = rnn.matmul %W, %x : (!rnn.array<[d, m]>, !rnn.array<[m]>) -> !rnn.array<[d]>
    %2 = rnn.matmul %V, %before : (!rnn.array<[d, m]>, !rnn.array<[m]>) -> !rnn.array<[d]>
    %3 = rnn.matmul %W, %f : (!rnn.array<[d, m]>, !rnn.array<[m]>) -> !rnn.array<[d]>
    %4 = rnn.binary mul %0, %1 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %5 = rnn.binary mul %2, %3 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %6 = rnn.binary add %4, %5 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %7 = rnn.binary mul %h, %e : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %8 = rnn.binary add %6, %7 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %8 : !rnn.array<[d]>
  }
}

// -----

// Of params: sin(-a) is -sin(a), cos(-a * r) is cos(a * r); one array each, and no minus in it. What
// two values have in common stays in sight: 1 - e and e are one array, as are s and -s. What stands
// alone, exp(r) * r, is one as a whole.
// CHECK-LABEL: rnn.cell @Signs
// CHECK-DAG: rnn.hoisted call @sin_a : !rnn.array<[d]> = "sin(a)"
// CHECK-DAG: rnn.hoisted call @cos{{.*}} : !rnn.array<[d]> = "cos(a * r)"
// CHECK-DAG: rnn.hoisted call @exp_a : !rnn.array<[d]> = "exp(a)"
// CHECK-DAG: rnn.hoisted call @hoisted : !rnn.array<[d]> = "exp(r) * r"
// CHECK-COUNT-4: rnn.stage call
// CHECK-NOT: rnn.stage
// CHECK: rnn.step {
// CHECK-NOT: rnn.unary {{exp|sin|cos}}
// CHECK: rnn.unary neg
// CHECK-NOT: rnn.unary {{exp|sin|cos}}
// CHECK: rnn.set_state
rnn.cell @Signs {
  rnn.dim_decl @d
  rnn.param @a : !rnn.array<[d]>
  rnn.param @r : !rnn.array<[d]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %a = rnn.param_value @a : !rnn.array<[d]>
    %r = rnn.param_value @r : !rnn.array<[d]>
    %one = rnn.constant 1.0 : !rnn.array<[]>
    %minus = rnn.unary neg %a : !rnn.array<[d]> -> !rnn.array<[d]>
    %ar = rnn.binary mul %a, %r : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %minus_ar = rnn.binary mul %minus, %r : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %s = rnn.unary sin %a : !rnn.array<[d]> -> !rnn.array<[d]>
    %s2 = rnn.unary sin %minus : !rnn.array<[d]> -> !rnn.array<[d]>
    %c = rnn.unary cos %ar : !rnn.array<[d]> -> !rnn.array<[d]>
    %c2 = rnn.unary cos %minus_ar : !rnn.array<[d]> -> !rnn.array<[d]>
    %e = rnn.unary exp %a : !rnn.array<[d]> -> !rnn.array<[d]>
    %rest = rnn.binary sub %one, %e : (!rnn.array<[]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %f = rnn.unary exp %r : !rnn.array<[d]> -> !rnn.array<[d]>
    %whole = rnn.binary mul %f, %r : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %0 = rnn.binary mul %h, %s : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %1 = rnn.binary mul %0, %s2 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %2 = rnn.binary mul %1, %c : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %3 = rnn.binary mul %2, %c2 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %4 = rnn.binary mul %3, %e : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %5 = rnn.binary add %4, %rest : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    %6 = rnn.binary mul %5, %whole : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %6 : !rnn.array<[d]>
  }
}
