// RUN: rnn-opt %s -split-input-file -verify-diagnostics

newton.cell @Compute {
  // expected-error @+1 {{computes in f32 or f64}}
  newton.system @s : f16 lanes [] states [] inputs [] params [] outputs [] step {
    newton.yield
  }
}

// -----

newton.cell @Sizes {
  // expected-error @+1 {{has one size for each dim}}
  newton.tensor input @x ["d"] []
}

// -----

newton.cell @HiddenInput {
  // expected-error @+1 {{only a state can be hidden}}
  newton.tensor input hidden @x [] []
}

// -----

newton.cell @Role {
  newton.tensor input @x [] []
  // expected-error @+1 {{@x is not state of this cell}}
  newton.system @s : f32 lanes [] states [#newton.slot<@x, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    newton.yield %h : f32
  }
}

// -----

newton.cell @FarBack {
  newton.tensor state @h [] []
  newton.tensor input @x [] []
  // expected-error @+2 {{a slot reads at most 1000000000 steps back}}
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [#newton.slot<@x, lanes = [], at = [], back = 1000000001>] params [] outputs [] step {
  ^bb0(%h: f32, %x: f32):
    newton.yield %h : f32
  }
}

// -----

newton.cell @Outside {
  newton.tensor state @h ["k"] [2]
  // expected-error @+1 {{@h: a slot outside the tensor}}
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [-1], at = [2], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    newton.yield %h : f32
  }
}

// -----

newton.cell @Yield {
  newton.tensor state @h [] []
  // expected-error @+1 {{step yields 1 values}}
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    newton.yield %h, %h : f32, f32
  }
}

// -----

newton.cell @NoStructure {
  newton.tensor state @h [] []
  // expected-error @+1 {{has a jacobian, so it has a structure}}
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    newton.yield %h : f32
  } jacobian {
  ^bb0(%h: f32):
    newton.yield %h : f32
  }
}

// -----

newton.cell @Order {
  newton.tensor state @h [] []
  // expected-error @+1 {{a pattern is (row, column) pairs within the block, in row-major order}}
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>] inputs [] params [] outputs [] structure <entries = [0, 0], values = [1], carry = [0, 0, 0, 0], numbers = [1, 1], blocks = [0], linear = false, constant = false> step {
  ^bb0(%h: f32):
    newton.yield %h : f32
  }
}

// -----

newton.cell @Numbers {
  newton.tensor state @h [] []
  // expected-error @+1 {{every place of a pattern has a number: 1, 2, ... where it comes first, later with either sign}}
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>] inputs [] params [] outputs [] structure <entries = [0, 0], values = [1], carry = [0, 0], numbers = [2], blocks = [0], linear = false, constant = false> step {
  ^bb0(%h: f32):
    newton.yield %h : f32
  }
}

// -----

newton.cell @Values {
  newton.tensor state @h [] []
  // expected-error @+1 {{every place of a pattern has a number: 1, 2, ... where it comes first, later with either sign}}
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>] inputs [] params [] outputs [] structure <entries = [0, 0], values = [-1], carry = [0, 0], numbers = [1], blocks = [0], linear = false, constant = false> step {
  ^bb0(%h: f32):
    newton.yield %h : f32
  }
}

// -----

newton.cell @NoBlock {
  newton.tensor state @h [] []
  // expected-error @+1 {{has block dims, and one size for each}}
  newton.dense_system @s : f32 lanes [] block [] [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] temporaries [] step {
  ^bb0(%h: memref<f32>, %next: memref<f32>):
    newton.yield
  }
}

// -----

newton.cell @Every {
  newton.tensor state @h ["d"] [-1]
  // expected-error @+1 {{@h: a slot outside the tensor}}
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    newton.yield %h : f32
  }
}

// -----

newton.cell @NoBlockDim {
  newton.tensor state @h ["d"] [-1]
  // expected-error @+1 {{@h: axis 0 is no block dim}}
  newton.dense_system @s : f32 lanes [] block ["e"] [-1] states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
      inputs [] params [] outputs [] temporaries [] step {
  ^bb0(%e: index, %h: memref<?xf32>, %next: memref<?xf32>):
    newton.yield
  }
}

// -----

newton.cell @Temporary {
  newton.tensor state @h ["d"] [-1]
  // expected-error @+1 {{a temporary lists block dims}}
  newton.dense_system @s : f32 lanes [] block ["d"] [-1] states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
      inputs [] params [] outputs [] temporaries [array<i64: 1>] step {
  ^bb0(%d: index, %h: memref<?xf32>, %next: memref<?xf32>, %t: memref<?xf32>):
    newton.yield
  }
}

// -----

newton.cell @Arguments {
  newton.tensor state @h ["d"] [-1]
  // expected-error @+1 {{step takes the block sizes, then the arrays}}
  newton.dense_system @s : f32 lanes [] block ["d"] [-1] states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
      inputs [] params [] outputs [] temporaries [] step {
  ^bb0(%d: index, %h: memref<?xf32>):
    newton.yield
  }
}

// -----

newton.cell @ArrayType {
  newton.tensor state @h ["d"] [-1]
  // expected-error @+1 {{an array of the step has another type than its slot}}
  newton.dense_system @s : f32 lanes [] block ["d"] [-1] states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
      inputs [] params [] outputs [] temporaries [] step {
  ^bb0(%d: index, %h: memref<?xf32>, %next: memref<?xf64>):
    newton.yield
  }
}

// -----

newton.cell @Foreign {
  newton.tensor state @h ["d"] [-1]
  newton.dense_system @s : f32 lanes [] block ["d"] [-1] states [#newton.slot<@h, lanes = [-1], at = [-1], back = 0>]
      inputs [] params [] outputs [] temporaries [] step {
  ^bb0(%d: index, %h: memref<?xf32>, %next: memref<?xf32>):
    // expected-error @+1 {{has no place in the step of a dense system}}
    %other = memref.alloc(%d) : memref<?xf32>
    newton.yield
  }
}

// -----

newton.cell @ImplicitResults {
  newton.tensor state @h [] []
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    // expected-error @+1 {{has a start and a solution for each unknown}}
    %0 = newton.implicit 0 ["h", "g"] from (%h : f32) given () : f32 residual {
    ^bb0(%u: f32):
      newton.yield %u : f32
    }
    newton.yield %0 : f32
  }
}

// -----

newton.cell @ImplicitResidual {
  newton.tensor state @h [] []
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    // expected-error @+1 {{residual takes 1 numbers, then what is given}}
    %0 = newton.implicit 0 ["h"] from (%h : f32) given () : f32 residual {
    ^bb0(%u: f32, %other: f32):
      newton.yield %u : f32
    }
    newton.yield %0 : f32
  }
}

// -----

newton.cell @ImplicitTrial {
  newton.tensor state @h [] []
  newton.system @s : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    // expected-error @+1 {{trial takes 6 numbers, then what is given}}
    %0 = newton.implicit 0 ["h"] from (%h : f32) given () : f32 residual {
    ^bb0(%u: f32):
      newton.yield %u : f32
    } trial {
    ^bb0(%u: f32, %offset: f32, %norm: f32, %halvings: f32):
      newton.yield %u, %offset, %norm, %halvings : f32, f32, f32, f32
    }
    newton.yield %0 : f32
  }
}

// -----

newton.cell @OuterCall {
  newton.tensor input @l ["d"] [-1]
  newton.tensor input @x ["m"] [-1]
  newton.tensor gradient @W ["d", "m"] [-1, -1]
  // expected-error @+1 {{runs over steps}}
  newton.outer call <@l, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f32
}

// -----

newton.cell @OuterOfStates {
  newton.tensor state @l ["d"] [-1]
  newton.tensor input @x ["m"] [-1]
  newton.tensor gradient @W ["d", "m"] [-1, -1]
  // expected-error @+1 {{@l is not input of this cell}}
  newton.outer before <@l, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f32
}

// -----

newton.cell @OuterResult {
  newton.tensor input @l ["d"] [-1]
  newton.tensor input @x ["m"] [-1]
  newton.tensor output @W ["d", "m"] [-1, -1]
  // expected-error @+1 {{@W is not gradient of this cell}}
  newton.outer after <@l, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f32
}

// -----

newton.cell @OuterDelayed {
  newton.tensor input @l ["d"] [-1]
  newton.tensor input @x ["m"] [-1]
  newton.tensor gradient @W ["d", "m"] [-1, -1]
  // expected-error @+1 {{@l is not read or written with a delay}}
  newton.outer after <@l, lanes = [0], at = [0], back = 1> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f32
}

// -----

newton.cell @OuterAxes {
  newton.tensor input @l ["d"] [-1]
  newton.tensor input @x ["m"] [-1]
  newton.tensor gradient @W ["d", "m", "m"] [-1, -1, -1]
  // expected-error @+1 {{lane axis 2 is one of the result, and of a factor}}
  newton.outer after <@l, lanes = [0], at = [0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1, 2], at = [0, 0, 0], back = 0> : f32
}

// -----

newton.cell @OuterElements {
  newton.tensor input @l ["d", "m"] [-1, -1]
  newton.tensor input @x ["m"] [-1]
  newton.tensor gradient @W ["d", "m"] [-1, -1]
  // expected-error @+1 {{each factor has an axis that the other one lacks}}
  newton.outer after <@l, lanes = [0, 1], at = [0, 0], back = 0> times <@x, lanes = [1], at = [0], back = 0> into <@W, lanes = [0, 1], at = [0, 0], back = 0> : f32
}
