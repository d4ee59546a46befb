// RUN: rnn-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has exactly one rnn.step}}
rnn.cell @NoStep { rnn.dim_decl @d }

// -----

rnn.cell @UnknownDim {
  // expected-error @+1 {{uses the dim 'm', which is not declared}}
  rnn.input @x : !rnn.array<[m]>
  rnn.step { }
}

// -----

rnn.cell @OtherSize {
  rnn.dim_decl @k = 4
  // expected-error @+1 {{gives the dim 'k' another size than its declaration}}
  rnn.input @x : !rnn.array<[k = 3]>
  rnn.step { }
}

// -----

rnn.cell @Broadcast {
  rnn.dim_decl @d
  rnn.dim_decl @m
  rnn.input @x : !rnn.array<[d]>
  rnn.input @w : !rnn.array<[m]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    %w = rnn.input_at @w[0] : !rnn.array<[m]>
    // expected-error @+1 {{operands do not broadcast: [d] and [m]}}
    %0 = rnn.binary add %x, %w : (!rnn.array<[d]>, !rnn.array<[m]>) -> !rnn.array<[d]>
  }
}

// -----

rnn.cell @Contract {
  rnn.dim_decl @d
  rnn.dim_decl @m
  rnn.input @x : !rnn.array<[m]>
  rnn.param @W : !rnn.array<[d, d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[m]>
    %W = rnn.param_value @W : !rnn.array<[d, d]>
    // expected-error @+1 {{[d, d] @ [m] does not contract}}
    %0 = rnn.matmul %W, %x : (!rnn.array<[d, d]>, !rnn.array<[m]>) -> !rnn.array<[d]>
  }
}

// -----

rnn.cell @Twice {
  rnn.state @h : !rnn.array<[]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[]>
    rnn.set_state @h, %h : !rnn.array<[]>
    // expected-error @+1 {{@h is set twice}}
    rnn.set_state @h, %h : !rnn.array<[]>
  }
}

// -----

rnn.cell @Never {
  rnn.state @h : !rnn.array<[]>
  // expected-error @+1 {{never sets @h}}
  rnn.step { }
}

// -----

rnn.cell @Grows {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[]>
  rnn.input @x : !rnn.array<[d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    // expected-error @+1 {{value [d] does not broadcast to []}}
    rnn.set_state @h, %x : !rnn.array<[d]>
  }
}

// -----

rnn.cell @NotAState {
  rnn.input @x : !rnn.array<[]>
  rnn.step {
    // expected-error @+1 {{@x is not a state of this cell}}
    %h = rnn.state_at @x[1] : !rnn.array<[]>
  }
}

// -----

rnn.cell @Future {
  rnn.state @h : !rnn.array<[]>
  rnn.step {
    // expected-error @+1 {{reads at most 16 steps back}}
    %h = rnn.state_at @h[-1] : !rnn.array<[]>
    rnn.set_state @h, %h : !rnn.array<[]>
  }
}

// -----

rnn.cell @TooFarBack {
  rnn.state @h : !rnn.array<[]>
  rnn.step {
    // expected-error @+1 {{reads at most 16 steps back}}
    %h = rnn.state_at @h[17] : !rnn.array<[]>
    rnn.set_state @h, %h : !rnn.array<[]>
  }
}

// -----

rnn.cell @SumAxis {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    // expected-error @+1 {{axis 1 of [d]}}
    %0 = rnn.reduce sum %h axis 1 : !rnn.array<[d]> -> !rnn.array<[]>
    rnn.set_state @h, %h : !rnn.array<[d]>
  }
}

// -----

rnn.cell @DropsNot {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    // expected-error @+1 {{result drops the reduced axis}}
    %0 = rnn.reduce max %h axis 0 : !rnn.array<[d]> -> !rnn.array<[1]>
    rnn.set_state @h, %h : !rnn.array<[d]>
  }
}

// -----

rnn.cell @KeepsNot {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    // expected-error @+1 {{result has size 1 along the reduced axis}}
    %0 = rnn.reduce mean %h axis 0 keep : !rnn.array<[d]> -> !rnn.array<[]>
    rnn.set_state @h, %h : !rnn.array<[d]>
  }
}

// -----

rnn.cell @KindOfReduction {
  rnn.dim_decl @d
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %h = rnn.state_at @h[1] : !rnn.array<[d]>
    // expected-error @+1 {{expected string or keyword containing one of the following enum values}}
    %0 = rnn.reduce median %h axis 0 : !rnn.array<[d]> -> !rnn.array<[]>
    rnn.set_state @h, %h : !rnn.array<[d]>
  }
}

// -----

rnn.cell @SliceAxis {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{axis 1 of [4]}}
    %0 = rnn.slice %x axis 1 from 0 : !rnn.array<[4]> -> !rnn.array<[2]>
  }
}

// -----

rnn.cell @SliceFree {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    // expected-error @+1 {{cuts an axis of free size: d}}
    %0 = rnn.slice %x axis 0 from 0 : !rnn.array<[d]> -> !rnn.array<[2]>
  }
}

// -----

rnn.cell @SliceOutside {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{takes elements 3 to 4 of 4}}
    %0 = rnn.slice %x axis 0 from 3 : !rnn.array<[4]> -> !rnn.array<[2]>
  }
}

// -----

rnn.cell @SliceKeeps {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{result keeps the axis}}
    %0 = rnn.slice %x axis 0 from 3 : !rnn.array<[4]> -> !rnn.array<[]>
  }
}

// -----

rnn.cell @SliceDrops {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{result drops the axis}}
    %0 = rnn.slice %x axis 0 from 3 drop : !rnn.array<[4]> -> !rnn.array<[1]>
  }
}

// -----

rnn.cell @SliceOther {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d, 4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d, 4]>
    // expected-error @+1 {{result is [3, 2], not [d, 2]}}
    %0 = rnn.slice %x axis 1 from 0 : !rnn.array<[d, 4]> -> !rnn.array<[3, 2]>
  }
}

// -----

rnn.cell @ConcatNothing {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{has an operand at least}}
    %0 = "rnn.concat"() <{axis = 0 : i64}> : () -> !rnn.array<[4]>
  }
}

// -----

rnn.cell @ConcatAxis {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{axis 1 of [4]}}
    %0 = rnn.concat %x axis 1 : (!rnn.array<[4]>) -> !rnn.array<[4]>
  }
}

// -----

rnn.cell @ConcatFree {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    // expected-error @+1 {{joins an axis of free size: d}}
    %0 = rnn.concat %x, %x axis 0 : (!rnn.array<[d]>, !rnn.array<[d]>) -> !rnn.array<[4]>
  }
}

// -----

rnn.cell @ConcatSize {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d, 4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d, 4]>
    // expected-error @+1 {{result is [d, 4], not [d, 8]}}
    %0 = rnn.concat %x, %x axis 1 : (!rnn.array<[d, 4]>, !rnn.array<[d, 4]>) -> !rnn.array<[d, 4]>
  }
}

// -----

rnn.cell @Transpose {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{[4] has no two axes to swap}}
    %0 = rnn.transpose %x : !rnn.array<[4]> -> !rnn.array<[4]>
  }
}

// -----

rnn.cell @TransposeShape {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d, 4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d, 4]>
    // expected-error @+1 {{result is [d, 4], not [4, d]}}
    %0 = rnn.transpose %x : !rnn.array<[d, 4]> -> !rnn.array<[d, 4]>
  }
}

// -----

rnn.cell @ExpandAxis {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{axis 2 of a result of rank 2}}
    %0 = rnn.expand %x axis 2 : !rnn.array<[4]> -> !rnn.array<[4, 1]>
  }
}

// -----

rnn.cell @ExpandShape {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[4]>
    // expected-error @+1 {{result is [1, 4], not [4, 1]}}
    %0 = rnn.expand %x axis 1 : !rnn.array<[4]> -> !rnn.array<[1, 4]>
  }
}

// -----

rnn.cell @ConcatOthers {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d, 4]>
  rnn.input @y : !rnn.array<[3, 4]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d, 4]>
    %y = rnn.input_at @y[0] : !rnn.array<[3, 4]>
    // expected-error @+1 {{[3, 4] does not fit along axis 0}}
    %0 = rnn.concat %x, %y axis 1 : (!rnn.array<[d, 4]>, !rnn.array<[3, 4]>) -> !rnn.array<[d, 8]>
  }
}

// -----

rnn.cell @ComplexTanh {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d], complex>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d], complex>
    // expected-error @+1 {{tanh takes no complex number}}
    %0 = rnn.unary tanh %x : !rnn.array<[d], complex> -> !rnn.array<[d], complex>
  }
}

// -----

rnn.cell @ComplexMax {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d], complex>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d], complex>
    // expected-error @+1 {{max takes no complex number}}
    %0 = rnn.binary max %x, %x : (!rnn.array<[d], complex>, !rnn.array<[d], complex>) -> !rnn.array<[d], complex>
  }
}

// -----

rnn.cell @ComplexKind {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d], complex>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d], complex>
    // expected-error @+1 {{of complex numbers gives a complex one}}
    %0 = rnn.binary add %x, %x : (!rnn.array<[d], complex>, !rnn.array<[d], complex>) -> !rnn.array<[d]>
  }
}

// -----

rnn.cell @RealKind {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    // expected-error @+1 {{of real numbers gives a real one}}
    %0 = rnn.unary exp %x : !rnn.array<[d]> -> !rnn.array<[d], complex>
  }
}

// -----

rnn.cell @ComplexReduce {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d], complex>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d], complex>
    // expected-error @+1 {{max takes no complex number}}
    %0 = rnn.reduce max %x axis 0 : !rnn.array<[d], complex> -> !rnn.array<[], complex>
  }
}

// -----

rnn.cell @PartOfReal {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d]>
    // expected-error @+1 {{'rnn.part' op operand #0 must be array of complex numbers}}
    %0 = rnn.part re %x : !rnn.array<[d]> -> !rnn.array<[d]>
  }
}

// -----

rnn.cell @ComplexSet {
  rnn.dim_decl @d
  rnn.input @x : !rnn.array<[d], complex>
  rnn.state @h : !rnn.array<[d]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[d], complex>
    // expected-error @+1 {{value is complex, declared is real}}
    rnn.set_state @h, %x : !rnn.array<[d], complex>
  }
}

// -----

rnn.cell @UnknownKind {
  rnn.dim_decl @d
  // expected-error @+1 {{an array of other than real numbers is bool or complex}}
  rnn.input @x : !rnn.array<[d], octonion>
  rnn.step { }
}

// -----

rnn.cell @ComplexInit {
  // expected-error @+1 {{of complex numbers begins at 0, or as a param}}
  rnn.state @s : !rnn.array<[], complex> init 1.0
  rnn.step {
    %s = rnn.state_at @s[1] : !rnn.array<[], complex>
    rnn.set_state @s, %s : !rnn.array<[], complex>
  }
}

// -----

rnn.cell @ComplexBefore {
  // expected-error @+1 {{of complex numbers is 0 before the first step}}
  rnn.input @x : !rnn.array<[], complex> before 1.0
  rnn.step { }
}

// -----

rnn.cell @ComplexStart {
  rnn.param @a : !rnn.array<[]>
  // expected-error @+1 {{is complex, its start is real}}
  rnn.state @s : !rnn.array<[], complex> start @a
  rnn.step {
    %s = rnn.state_at @s[1] : !rnn.array<[], complex>
    rnn.set_state @s, %s : !rnn.array<[], complex>
  }
}

// -----

rnn.cell @ConcatKinds {
  rnn.input @x : !rnn.array<[2], complex>
  rnn.input @y : !rnn.array<[2]>
  rnn.step {
    %x = rnn.input_at @x[0] : !rnn.array<[2], complex>
    %y = rnn.input_at @y[0] : !rnn.array<[2]>
    // expected-error @+1 {{operands are all complex}}
    %0 = rnn.concat %x, %y axis 0 : (!rnn.array<[2], complex>, !rnn.array<[2]>) -> !rnn.array<[4], complex>
  }
}
