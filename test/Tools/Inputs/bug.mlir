// Verifies, and no kernel can be made of it: nothing lowers the cast.
newton.cell @Bug {
  newton.tensor state @h [] []
  newton.system @Bug_h : f32 lanes [] states [#newton.slot<@h, lanes = [], at = [], back = 0>]
      inputs [] params [] outputs [] step {
  ^bb0(%h: f32):
    %0 = builtin.unrealized_conversion_cast %h : f32 to i32
    %1 = arith.sitofp %0 : i32 to f32
    newton.yield %1 : f32
  }
}
