// RUN: rnn-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(newton.cell(derive-trial))'

// u = u + x
newton.cell @DropsOut {
  newton.tensor state @h [] []
  newton.tensor input @x [] []
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [#newton.slot<@x, lanes = [], at = [], back = 0>] params [] outputs [] step {
  ^bb0(%h: f32, %x: f32):
    // expected-error @+1 {{this implicit step does not determine 'h': the new value drops out of its equation [RNN0412]}}
    %0 = newton.implicit 0 ["h"] from (%h : f32) given (%x : f32) : f32 residual {
    ^bb0(%u: f32, %c: f32):
      %1 = arith.addf %u, %c : f32
      %2 = arith.subf %1, %u : f32
      newton.yield %2 : f32
    }
    newton.yield %0 : f32
  }
}

// -----

// Both equations speak of the same unknown.
newton.cell @OneForTwo {
  newton.tensor state @p [] []
  newton.tensor state @q [] []
  newton.system @s : f32 lanes [] states [#newton.slot<@p, lanes = [], at = [], back = 0>,
      #newton.slot<@q, lanes = [], at = [], back = 0>] inputs [] params [] outputs [] step {
  ^bb0(%p: f32, %q: f32):
    // expected-error @+1 {{this implicit step does not determine 'p', 'q': the new value drops out of its equation [RNN0412]}}
    %0:2 = newton.implicit 0 ["p", "q"] from (%p, %q : f32, f32) given () : f32, f32 residual {
    ^bb0(%u: f32, %w: f32):
      %1 = math.sin %u : f32
      %2 = math.cos %u : f32
      newton.yield %1, %2 : f32, f32
    }
    newton.yield %0#0, %0#1 : f32, f32
  }
}
