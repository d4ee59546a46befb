// RUN: rnn-opt %s --split-input-file --lower-complex | FileCheck %s

// A complex tensor has one more axis: the parts. A product is the textbook's.
// CHECK-LABEL: rnn.cell @Product
// CHECK-NEXT: rnn.dim_decl @complex = 2
// CHECK: rnn.param @w : !rnn.array<[n, complex = 2]>
// CHECK: rnn.state @s : !rnn.array<[n, complex = 2]>
// CHECK: %[[S:.*]] = rnn.state_at @s[1] : <[n, complex = 2]>
// CHECK-NEXT: %[[A:.*]] = rnn.slice %[[S]] axis 1 from 0 drop
// CHECK-NEXT: %[[B:.*]] = rnn.slice %[[S]] axis 1 from 1 drop
// CHECK: %[[W:.*]] = rnn.param_value @w
// CHECK-NEXT: %[[C:.*]] = rnn.slice %[[W]] axis 1 from 0 drop
// CHECK-NEXT: %[[D:.*]] = rnn.slice %[[W]] axis 1 from 1 drop
// CHECK-NEXT: %[[CA:.*]] = rnn.binary mul %[[C]], %[[A]]
// CHECK-NEXT: %[[DB:.*]] = rnn.binary mul %[[D]], %[[B]]
// CHECK-NEXT: %[[RE:.*]] = rnn.binary sub %[[CA]], %[[DB]]
// CHECK-NEXT: %[[CB:.*]] = rnn.binary mul %[[C]], %[[B]]
// CHECK-NEXT: %[[DA:.*]] = rnn.binary mul %[[D]], %[[A]]
// CHECK-NEXT: %[[IM:.*]] = rnn.binary add %[[CB]], %[[DA]]
// CHECK-NEXT: %[[LEFT:.*]] = rnn.expand %[[RE]] axis 1
// CHECK-NEXT: %[[RIGHT:.*]] = rnn.expand %[[IM]] axis 1
// CHECK-NEXT: %[[PAIR:.*]] = rnn.concat %[[LEFT]], %[[RIGHT]] axis 1
// CHECK-NEXT: rnn.set_state @s, %[[PAIR]]
rnn.cell @Product {
  rnn.dim_decl @n
  rnn.param @w : !rnn.array<[n], complex>
  rnn.state @s : !rnn.array<[n], complex>
  rnn.step {
    %s = rnn.state_at @s[1] : !rnn.array<[n], complex>
    %w = rnn.param_value @w : !rnn.array<[n], complex>
    %0 = rnn.binary mul %w, %s : (!rnn.array<[n], complex>, !rnn.array<[n], complex>) -> !rnn.array<[n], complex>
    rnn.set_state @s, %0 : !rnn.array<[n], complex>
  }
}

// -----

// A real factor multiplies both parts; a scalar part is stretched to the shape of the other.
// CHECK-LABEL: rnn.cell @Mixed
// CHECK: %[[X:.*]] = rnn.input_at @x[0]
// CHECK-NEXT: %[[ONE:.*]] = rnn.constant 1.0
// CHECK-NEXT: %[[SAME:.*]] = rnn.compare eq %[[ONE]], %[[X]]
// CHECK-NEXT: %[[IM:.*]] = rnn.where %[[SAME]], %[[ONE]], %[[ONE]]
// CHECK: rnn.binary mul %[[X]], %[[X]]
// CHECK-NEXT: rnn.binary mul %[[X]], %[[IM]]
// CHECK-NOT: complex>
rnn.cell @Mixed {
  rnn.dim_decl @n
  rnn.input @x : !rnn.array<[n]>
  rnn.state @s : !rnn.array<[n], complex>
  rnn.output @y : !rnn.array<[n]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[n]>
    %one = rnn.constant 1.0 : !rnn.array<[]>
    %z = rnn.complex %x, %one : (!rnn.array<[n]>, !rnn.array<[]>) -> !rnn.array<[n], complex>
    %0 = rnn.binary mul %x, %z : (!rnn.array<[n]>, !rnn.array<[n], complex>) -> !rnn.array<[n], complex>
    rnn.set_state @s, %0 : !rnn.array<[n], complex>
    %im = rnn.part im %0 : !rnn.array<[n], complex> -> !rnn.array<[n]>
    rnn.set_output @y, %im : !rnn.array<[n]>
  }
}

// -----

// i s is -im(s) + i re(s), and exp(i x) is cos(x) + i sin(x): a part that is 0 adds nothing.
// CHECK-LABEL: rnn.cell @Turned
// CHECK: %[[S:.*]] = rnn.state_at @s[1]
// CHECK-NEXT: %[[A:.*]] = rnn.slice %[[S]] axis 1 from 0 drop
// CHECK-NEXT: %[[B:.*]] = rnn.slice %[[S]] axis 1 from 1 drop
// CHECK: %[[ONE:.*]] = rnn.constant 1.0
// CHECK-NEXT: %[[OB:.*]] = rnn.binary mul %[[ONE]], %[[B]]
// CHECK-NEXT: rnn.unary neg %[[OB]]
// CHECK-NEXT: rnn.binary mul %[[ONE]], %[[A]]
// CHECK-NOT: rnn.binary
// CHECK: rnn.unary cos %[[ONE]]
// CHECK-NEXT: rnn.unary sin %[[ONE]]
// CHECK-NOT: rnn.binary
// CHECK: rnn.set_output
rnn.cell @Turned {
  rnn.dim_decl @n
  rnn.state @s : !rnn.array<[n], complex>
  rnn.output @y : !rnn.array<[], complex>
  rnn.step {
    %s = rnn.state_at @s[1] : !rnn.array<[n], complex>
    %zero = rnn.constant 0.0 : !rnn.array<[]>
    %one = rnn.constant 1.0 : !rnn.array<[]>
    %i = rnn.complex %zero, %one : (!rnn.array<[]>, !rnn.array<[]>) -> !rnn.array<[], complex>
    %0 = rnn.binary mul %i, %s : (!rnn.array<[], complex>, !rnn.array<[n], complex>) -> !rnn.array<[n], complex>
    rnn.set_state @s, %0 : !rnn.array<[n], complex>
    %1 = rnn.unary exp %i : !rnn.array<[], complex> -> !rnn.array<[], complex>
    rnn.set_output @y, %1 : !rnn.array<[], complex>
  }
}

// -----

// Without a complex number nothing changes.
// CHECK-LABEL: rnn.cell @Real
// CHECK-NOT: complex
rnn.cell @Real {
  rnn.state @s : !rnn.array<[]>
  rnn.step {
    %s = rnn.state_at @s[1] : !rnn.array<[]>
    rnn.set_state @s, %s : !rnn.array<[]>
  }
}
