//===- NewtonOps.td - what is solved ------------------------------------------------------------===//
//
// A cell after the seam: lane axes are gone, block axes are unrolled into scalars of the compute
// type. A `newton.system` is one recurrence of k scalars a lane. See RATIONALE.md.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef NEWTON_OPS
#define NEWTON_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Newton_Dialect : Dialect {
  let name = "newton";
  let cppNamespace = "::rnnc::newton";
  let summary = "Scalar recurrences with their Jacobians, structure and places in memory";
  let useDefaultAttributePrinterParser = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Attributes
//===--------------------------------------------------------------------------------------------===//

def Newton_Slot : AttrDef<Newton_Dialect, "Slot"> {
  let mnemonic = "slot";
  let summary = "Where one scalar of a lane lives: an element of a declared tensor";
  let description = [{
    `#newton.slot<@x, lanes = [0, -1], at = [0, 3]>`: axis 0 of x runs with lane axis 0 of the
    system from element 0 on, axis 1 is fixed at element 3. `back` counts steps: 0 is the step itself. In a dense
    system an axis may stand for all of its elements: at = [-1].
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$tensor,
                        OptionalArrayRefParameter<"int64_t">:$lanes,
                        OptionalArrayRefParameter<"int64_t">:$at, "int64_t":$back);
  let assemblyFormat = "`<` $tensor `,` `lanes` `=` `[` (`]`) : ($lanes^ `]`)? `,` `at` `=` `[` (`]`) : ($at^ `]`)? `,` `back` `=` $back `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The scalar as the user would write it: `h`, `c[2]`, `x[4:]` of lanes from element 4 on.
    std::string display() const;
    /// The axes that stand for all of their elements, in order.
    ::llvm::SmallVector<int64_t> everyAxes() const;
  }];
}

def Newton_Structure : AttrDef<Newton_Dialect, "Structure"> {
  let mnemonic = "structure";
  let summary = "What was proved about the Jacobian of a step";
  let description = [{
    `entries` are the (row, column) pairs that are not identically zero, row-major. `values` says for
    each of them which result of the jacobian region it is: n for result n - 1, -n for minus that
    one, so that entries which are equal or opposite as formulas are computed once. `carry` is the
    reflexive transitive closure of the pattern: the places that a product of such Jacobians can
    have. `numbers` says in the same way which number of the carry stands at each of them; matrices
    of that form contain the identity and the Jacobian, and a product of two of them is one again.
    `linear`: no entry depends on a state. `constant`: no entry depends on a state or an input.
    `blocks` numbers the connected component of each state.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$entries, ArrayRefParameter<"int64_t">:$values,
                        ArrayRefParameter<"int64_t">:$carry, ArrayRefParameter<"int64_t">:$numbers,
                        ArrayRefParameter<"int64_t">:$blocks, "bool":$linear, "bool":$constant);
  let assemblyFormat = [{
    `<` `entries` `=` `[` $entries `]` `,` `values` `=` `[` $values `]` `,` `carry` `=` `[` $carry `]`
    `,` `numbers` `=` `[` $numbers `]` `,` `blocks` `=` `[` $blocks `]` `,` `linear` `=` $linear `,`
    `constant` `=` $constant `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// times * J[value] * A[carry], J by its value and A by its number.
    struct ProductTerm {
      int64_t value, carry, times;
    };
    int64_t numEntries() const { return getEntries().size() / 2; }
    int64_t numPlaces() const { return getCarry().size() / 2; }
    /// Results of the jacobian region, and numbers that a lane carries in the scan.
    int64_t numValues() const;
    int64_t numCarry() const;
    /// For each number of the carry, whether the identity has 1 there (else 0).
    ::llvm::SmallVector<bool> identity() const;
    /// For each number of J A, what to sum up.
    ::llvm::SmallVector<::llvm::SmallVector<ProductTerm>> product() const;
    /// "diagonal", "block of 2", ... in the words of the documentation.
    std::string describe() const;
  }];
}

def Newton_RoleInput : I32EnumAttrCase<"Input", 0, "input">;
def Newton_RoleParam : I32EnumAttrCase<"Param", 1, "param">;
def Newton_RoleState : I32EnumAttrCase<"State", 2, "state">;
def Newton_RoleOutput : I32EnumAttrCase<"Output", 3, "output">;
def Newton_RoleHoisted : I32EnumAttrCase<"Hoisted", 4, "hoisted">;
def Newton_RoleDerived : I32EnumAttrCase<"Derived", 5, "derived">;
def Newton_RoleGradient : I32EnumAttrCase<"Gradient", 6, "gradient">;
def Newton_Role : I32EnumAttr<"Role", "what a tensor is to the caller",
    [Newton_RoleInput, Newton_RoleParam, Newton_RoleState, Newton_RoleOutput, Newton_RoleHoisted,
     Newton_RoleDerived, Newton_RoleGradient]> {
  let cppNamespace = "::rnnc::newton";
}

def Newton_PhaseCall : I32EnumAttrCase<"Call", 0, "call">;
def Newton_PhaseBefore : I32EnumAttrCase<"Before", 1, "before">;
def Newton_PhaseAfter : I32EnumAttrCase<"After", 2, "after">;
def Newton_Phase : I32EnumAttr<"Phase", "when a stage runs: once a call, or over all steps before "
    "or after the solve", [Newton_PhaseCall, Newton_PhaseBefore, Newton_PhaseAfter]> {
  let cppNamespace = "::rnnc::newton";
  let genSpecializedAttr = 0;
}
def Newton_PhaseAttr : EnumAttr<Newton_Dialect, Newton_Phase, "phase">;

//===--------------------------------------------------------------------------------------------===//
// Cell
//===--------------------------------------------------------------------------------------------===//

class Newton_Op<string mnemonic, list<Trait> traits = []> : Op<Newton_Dialect, mnemonic, traits>;

def Newton_CellOp : Newton_Op<"cell", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator,
                                     NoRegionArguments, SingleBlock]> {
  let summary = "The tensors of a cell and the systems that solve it";
  let description = [{
    `save` and `recompute` are the user's hints to whoever plans the memory of training: names that
    values of the steps bear as locations, and states and outputs. `tolerance`, `max_sweeps` and
    `chunk` are what the file wishes of a plan that is told nothing else.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrArrayAttr>:$save,
                       OptionalAttr<StrArrayAttr>:$recompute, OptionalAttr<F64Attr>:$tolerance,
                       OptionalAttr<I64Attr>:$max_sweeps, OptionalAttr<I64Attr>:$chunk);
  let hasVerifier = 1;
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    template <typename OpT> auto ops() { return getBody().front().getOps<OpT>(); }
    /// The systems of both kinds, in order: that of a module's table. Without the maps.
    ::llvm::SmallVector<::mlir::Operation*> systems();
    /// What runs around them, in order: products, outer products, and systems without states
    /// (*maps*).
    ::llvm::SmallVector<::mlir::Operation*> stages();
  }];
}

def Newton_TensorOp : Newton_Op<"tensor", [Symbol, HasParent<"CellOp">]> {
  let summary = "A tensor at the cell's boundary";
  let description = [{
    `dims` are names, `sizes` their sizes or -1 where the caller binds them; batch and time are not
    among them. `fill` is a state's value before the first step, or an input's before the start;
    `start` names the param that is a state's value instead, broadcast from the right.
    No caller sees a hoisted tensor, which is a sequence, nor a derived one, which is like a param:
    stages fill them. A gradient is like a param too, and a sum over all steps. Of an adjoint's
    tensors `rnn.of` says what they are to the cell's own. `holds` is the expression that such a tensor, or an output of a stage, holds.
  }];
  let arguments = (ins Newton_Role:$role, SymbolNameAttr:$sym_name, StrArrayAttr:$dims,
                       DenseI64ArrayAttr:$sizes, DefaultValuedAttr<F64Attr, "0.0">:$fill,
                       UnitAttr:$hidden, OptionalAttr<FlatSymbolRefAttr>:$start,
                       OptionalAttr<StrAttr>:$holds);
  let assemblyFormat = [{
    $role (`hidden` $hidden^)? $sym_name $dims $sizes (`fill` $fill^)? (`start` $start^)?
    (`=` $holds^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Newton_SystemOp : Newton_Op<"system", [Symbol, HasParent<"CellOp">, IsolatedFromAbove]> {
  let summary = "One recurrence of k scalars a lane";
  let description = [{
    Both regions take the previous states, the inputs and the params, in the order of the slots.
    `step` yields the new states, then the outputs, then what it adds to the `sums`: elements of
    gradients, over all steps, the batch, and the lane axes that they do not run with. `jacobian`, once derived, yields the values
    that `structure` speaks of. Every scalar has the compute type. With `diagonal` the region yields
    the diagonal of the Jacobian alone, as if the states were uncoupled: an approximation, which
    costs sweeps and changes no answer. With a `phase` the system is a
    map: it has no states, and all of its steps can be computed at once.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$compute, StrArrayAttr:$lane_axes,
                       ArrayAttr:$states, ArrayAttr:$inputs, ArrayAttr:$params, ArrayAttr:$outputs,
                       OptionalAttr<Newton_Structure>:$structure,
                       OptionalAttr<Newton_PhaseAttr>:$phase, UnitAttr:$diagonal,
                       OptionalAttr<ArrayAttr>:$sums);
  let regions = (region SizedRegion<1>:$step, AnyRegion:$jacobian);
  let assemblyFormat = [{
    $sym_name `:` $compute `lanes` $lane_axes `states` $states `inputs` $inputs `params` $params
    `outputs` $outputs (`sums` $sums^)? (`structure` $structure^)? attr-dict-with-keyword
    `step` $step (`jacobian` $jacobian^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    int64_t numStates() { return getStates().size(); }
    int64_t numInputs() { return getInputs().size(); }
    int64_t numParams() { return getParams().size(); }
    int64_t numOutputs() { return getOutputs().size(); }
    int64_t numSums() { return getSums() ? getSums()->size() : 0; }
    ::mlir::Block& stepBlock() { return getStep().front(); }
    bool hasJacobian() { return !getJacobian().empty(); }
    bool hasImplicit();
  }];
}

def Newton_DenseSystemOp : Newton_Op<"dense_system", [Symbol, HasParent<"CellOp">, IsolatedFromAbove]> {
  let summary = "One recurrence of many coupled states a lane, as loops; sequential only";
  let description = [{
    What is too large to unroll, or has sizes that the caller binds. Slots stand for whole arrays
    (at = -1). `step` takes the sizes of the block dims as indices, then one memref for each of the
    previous states, the inputs, the params, the new states, the outputs and the temporaries, whose
    axes are the block axes of the slot; a temporary lists the block dims of its axes. The region
    writes every element of the new states and outputs once and reads no new state. Numbers are
    those of one lane, as in newton.system. There is no Jacobian: see RATIONALE.md. `diagonal`, once
    derived, takes the arguments of `step` and then an array for each of the states, in which it
    writes, once an element, an approximation of how much the new state's element changes with the
    old one's. It reads what `step` left in the temporaries, and no new state.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$compute, StrArrayAttr:$lane_axes,
                       StrArrayAttr:$block_dims, DenseI64ArrayAttr:$block_sizes,
                       ArrayAttr:$states, ArrayAttr:$inputs, ArrayAttr:$params, ArrayAttr:$outputs,
                       ArrayAttr:$temporaries, OptionalAttr<Newton_PhaseAttr>:$phase);
  let regions = (region SizedRegion<1>:$step, AnyRegion:$diagonal);
  let assemblyFormat = [{
    $sym_name `:` $compute `lanes` $lane_axes `block` $block_dims $block_sizes `states` $states
    `inputs` $inputs `params` $params `outputs` $outputs `temporaries` $temporaries
    attr-dict-with-keyword `step` $step (`diagonal` $diagonal^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block& stepBlock() { return getStep().front(); }
    bool hasDiagonal() { return !getDiagonal().empty(); }
    /// The block dims of a slot's every-axes, by number.
    ::llvm::SmallVector<int64_t> blockDimsOf(SlotAttr slot);
    /// The block dims of each memref of the region, in the order of its arguments.
    ::llvm::SmallVector<::llvm::SmallVector<int64_t>> arrayDims();
  }];
}

def Newton_ProductOp : Newton_Op<"product", [HasParent<"CellOp">]> {
  let summary = "Matrix products of one sequence with params, over all steps";
  let description = [{
    For every step t and every index of the leading `heads` axes, result = weight @ sequence[t-back],
    or sequence @ weight with `left`; the sequence is a vector or a matrix as `rnn.matmul` has it, and
    a weight that one vector meets may have rows of several axes. A bias (unit: none) has the last
    axes of its result. The sum runs over the contracted axis in
    order, as a chain of multiply-adds that begins with the bias. Weights and biases are params, of
    the caller's or derived. Of phase `call` the sequence is one of these too.
  }];
  let arguments = (ins Newton_PhaseAttr:$phase, TypeAttr:$compute, FlatSymbolRefAttr:$sequence,
                       I64Attr:$back, I64Attr:$heads, UnitAttr:$left, ArrayAttr:$weights,
                       ArrayAttr:$biases, ArrayAttr:$results);
  let assemblyFormat = [{
    $phase $sequence (`left` $left^)? `back` $back `heads` $heads `weights` $weights
    `biases` $biases `results` $results `:` $compute attr-dict
  }];
  let hasVerifier = 1;
}

def Newton_OuterOp : Newton_Op<"outer", [HasParent<"CellOp">]> {
  let summary = "The matrix that two sequences make, summed over all steps and the batch";
  let description = [{
    result += left * right for every element of the result, whose axes are the lane axes that the
    slots speak of: each stands once in `result`, whole, and in `left`, in `right` or in both.
    With `guarded` nothing is added where left is 0, even if right is not finite, as a branch that
    was not taken has it; with `negative` it is subtracted. Several may add to the same elements. The order of
    addition is that of rnn_outer in module.h.
  }];
  let arguments = (ins Newton_PhaseAttr:$phase, TypeAttr:$compute, Newton_Slot:$left,
                       Newton_Slot:$right, Newton_Slot:$result, UnitAttr:$guarded,
                       UnitAttr:$negative);
  let assemblyFormat = [{
    $phase (`guarded` $guarded^)? (`negative` $negative^)? $left `times` $right `into` $result
    `:` $compute attr-dict
  }];
  let hasVerifier = 1;
}

def Newton_YieldOp : Newton_Op<"yield", [Terminator, ParentOneOf<["SystemOp", "DenseSystemOp", "ImplicitOp"]>, Pure]> {
  let summary = "The results of a step, of its Jacobian or of an implicit equation; nothing in a dense system";
  let arguments = (ins Variadic<AnyFloat>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===--------------------------------------------------------------------------------------------===//
// Implicit steps
//===--------------------------------------------------------------------------------------------===//

def Newton_ImplicitOp : Newton_Op<"implicit", [Pure, IsolatedFromAbove, AttrSizedOperandSegments]> {
  let summary = "New states that are defined through themselves, solved by Newton's method";
  let description = [{
    The results u solve G(u) = u for the m states named in `unknowns`; the search begins at `starts`,
    the previous states, and depends on nothing but the operands. `number` tells the implicit ops of
    a step apart; its copy in the jacobian region has the same.

    `residual` takes u and `captures`, and yields G(u) - u. `trial`, once derived, is one round of
    the guarded search, for one lane: it takes the point reached, the offset to the point to be tried
    (m numbers each), the norm of the residual at the point and a count, for one unknown also the
    latest points with a residual above and below 0, then `captures`. It yields the same numbers
    after the trial, then a verdict: 0 to go on, 1 for solved, 2 for given up. A lane begins at
    `starts` with `searchStart`; it is left alone after a verdict, and given up after `kMaxTrials`.
    The point is then the result.
  }];
  let arguments = (ins I64Attr:$number, StrArrayAttr:$unknowns, Variadic<AnyFloat>:$starts,
                       Variadic<AnyType>:$captures);
  let results = (outs Variadic<AnyFloat>:$solutions);
  let regions = (region SizedRegion<1>:$residual, AnyRegion:$trial);
  let assemblyFormat = [{
    $number $unknowns `from` `(` $starts `:` type($starts) `)` `given` `(` ($captures^ `:` type($captures))? `)`
    `:` type($solutions) attr-dict-with-keyword `residual` $residual (`trial` $trial^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxTrials = 100;
    int64_t numUnknowns() { return getUnknowns().size(); }
    /// Numbers that a trial takes and yields, without the verdict.
    int64_t numCarried() { return 2 * numUnknowns() + (numUnknowns() == 1 ? 4 : 2); }
    /// Those that a search begins with, behind the starts: no offset, norm inf, count -1, no point.
    ::llvm::SmallVector<double> searchStart();
    bool hasTrial() { return !getTrial().empty(); }
    ::mlir::Block& residualBlock() { return getResidual().front(); }
    ::mlir::Block& trialBlock() { return getTrial().front(); }
  }];
}

//===--------------------------------------------------------------------------------------------===//
// Scalar functions that arith and math lack
//===--------------------------------------------------------------------------------------------===//

class Newton_UnaryFn<string mnemonic, string what>
    : Newton_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let summary = what;
  let arguments = (ins FloatLike:$operand);
  let results = (outs FloatLike:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Newton_SigmoidOp : Newton_UnaryFn<"sigmoid", "1 / (1 + exp(-x))">;
def Newton_SoftplusOp : Newton_UnaryFn<"softplus", "log(1 + exp(x))">;
def Newton_SignOp : Newton_UnaryFn<"sign", "-1, 0 or 1; keeps zeros and NaN">;

#endif
