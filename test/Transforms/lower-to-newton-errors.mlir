// RUN: rnn-opt %s -split-input-file -verify-diagnostics --lower-to-newton=operations=50

rnn.cell @Large {
  rnn.dim_decl @k = 8
  rnn.param @W : !rnn.array<[k = 8, k = 8]>
  rnn.state @h : !rnn.array<[k = 8]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[k = 8]>
    %W = rnn.param_value @W : !rnn.array<[k = 8, k = 8]>
    // expected-error @+1 {{the cell unrolls to more than 50 scalar operations a lane; raise it with --limit operations=N [RNN0402]}}
    %0 = rnn.matmul %W, %h : (!rnn.array<[k = 8, k = 8]>, !rnn.array<[k = 8]>) -> !rnn.array<[k = 8]>
    rnn.set_state @h, %0 : !rnn.array<[k = 8]>
  }
}

// -----

rnn.cell @Hoist {
  rnn.dim_decl @d
  rnn.dim_decl @m
  rnn.input @x : !rnn.array<[m]>
  rnn.param @W : !rnn.array<[d, m]>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    %x = rnn.input_at @x[0] : !rnn.array<[m]>
    %W = rnn.param_value @W : !rnn.array<[d, m]>
    // Without the hoist pass the product stays in the step.
    // expected-warning @+2 {{the recurrence contracts 'm', whose size is free, so the cell runs sequentially [RNN0404]}}
    // expected-note @+1 {{with a size in the file, as in dim k = 4, the contraction is unrolled}}
    %0 = rnn.matmul %W, %x : (!rnn.array<[d, m]>, !rnn.array<[m]>) -> !rnn.array<[d]>
    %1 = rnn.binary add %h, %0 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[d]>
    rnn.set_state @h, %1 : !rnn.array<[d]>
  }
}
