// Cells that IR can express and a kernel cannot.
// RUN: split-file %s %t.dir
// RUN: %{status} 1 rnnc build %t.dir/none.mlir --emit=cuda 2>&1 | FileCheck %s --check-prefix=NONE

//--- none.mlir
// NONE: none.mlir:2:1: error: a cell without a system has nothing to solve [RNN0501]
newton.cell @None {
  newton.tensor input @x ["d"] [-1]
}
