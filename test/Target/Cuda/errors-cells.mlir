// Cells that IR can express and a kernel cannot.
// RUN: split-file %s %t.dir
// RUN: %{status} 1 rnnc build %t.dir/none.mlir --emit=cuda 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %{status} 1 rnnc build %t.dir/delay.mlir --emit=cuda 2>&1 | FileCheck %s --check-prefix=DELAY

//--- none.mlir
// NONE: none.mlir:2:1: error: a cell without a system has nothing to solve [RNN0501]
newton.cell @None {
  newton.tensor input @x ["d"] [-1]
}
//--- delay.mlir
newton.cell @Delay {
  newton.tensor input @x ["d"] [-1]
  newton.tensor state @h ["d"] [-1]
  // DELAY: error: not supported yet in CUDA: the earlier input x[t-2] [RNN0504]
  newton.system @Delay_h : f32 lanes ["d"]
    states [#newton.slot<@h, lanes = [0], at = [0], back = 0>]
    inputs [#newton.slot<@x, lanes = [0], at = [0], back = 2>]
    params [] outputs [] step {
  ^bb0(%h: f32, %x: f32):
    %0 = arith.addf %h, %x : f32
    newton.yield %0 : f32
  }
}
