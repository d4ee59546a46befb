//===- RnnOps.td - the recurrence as written ----------------------------------------------------===//
//
// One `rnn.cell` is one cell of a .rnn file: its declarations and one `rnn.step`, the equations of a
// time step over arrays with named dims. See RATIONALE.md.
//
//===--------------------------------------------------------------------------------------------===//

#ifndef RNN_OPS
#define RNN_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rnn_Dialect : Dialect {
  let name = "rnn";
  let cppNamespace = "::rnnc::rnn";
  let summary = "A recurrence over arrays with named dims, as the user wrote it";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Types
//===--------------------------------------------------------------------------------------------===//

def Rnn_Dim : AttrDef<Rnn_Dialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "One axis of an array: a name, a size, or both";
  let description = [{
    `d` is a size bound when the cell is called, `k = 4` a named size fixed in the file or on the
    command line, `3` a literal size. `size` is -1 where it is free, `name` empty for a literal.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size);
  let builders = [AttrBuilderWithInferredContext<(ins "::mlir::StringAttr":$name,
                                                  "int64_t":$size), [{
    return $_get(name.getContext(), name, size);
  }]>];
  let extraClassDeclaration = [{
    static constexpr int64_t kFree = -1;
    bool isFree() const { return getSize() == kFree; }
    bool isOne() const { return getSize() == 1; }
    /// Dims are equal by name or by value (LANGUAGE: Shapes).
    bool matches(DimAttr other) const;
    std::string str() const;
  }];
  let assemblyFormat = "`<` $name `,` $size `>`";
}

def Rnn_KindReal : I32EnumAttrCase<"Real", 0, "real">;
def Rnn_KindBool : I32EnumAttrCase<"Bool", 1, "bool">;
def Rnn_KindComplex : I32EnumAttrCase<"Complex", 2, "complex">;
def Rnn_Kind : I32EnumAttr<"Kind", "what an array holds",
    [Rnn_KindReal, Rnn_KindBool, Rnn_KindComplex]> {
  let cppNamespace = "::rnnc::rnn";
  let genSpecializedAttr = 0;
}

def Rnn_Array : TypeDef<Rnn_Dialect, "Array"> {
  let mnemonic = "array";
  let summary = "An array with named dims; a scalar where there are none";
  let description = [{
    `!rnn.array<[heads, k = 4]>` holds numbers of the compute type, `!rnn.array<[d], complex>` pairs
    of them, `!rnn.array<[d], bool>` the result of a comparison. Time and batch are not part of the shape.
  }];
  let parameters = (ins ArrayRefParameter<"::rnnc::rnn::DimAttr">:$dims, "::rnnc::rnn::Kind":$kind);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<DimAttr>":$dims), [{
    return $_get($_ctxt, dims, Kind::Real);
  }]>];
  let extraClassDeclaration = [{
    unsigned getRank() const { return getDims().size(); }
    bool isBool() const { return getKind() == Kind::Bool; }
    bool isComplex() const { return getKind() == Kind::Complex; }
    ArrayType withKind(Kind kind) const { return get(getContext(), getDims(), kind); }
    ArrayType withDims(::llvm::ArrayRef<DimAttr> dims) const {
      return get(getContext(), dims, getKind());
    }
    /// The shape as the user writes it: `[heads, k]`.
    std::string shapeString() const;
  }];
  let hasCustomAssemblyFormat = 1;
}

def Rnn_RelationValue : I32EnumAttrCase<"Value", 0, "value">;
def Rnn_RelationUpstream : I32EnumAttrCase<"Upstream", 1, "upstream">;
def Rnn_RelationGradient : I32EnumAttrCase<"Gradient", 2, "gradient">;
def Rnn_RelationCarried : I32EnumAttrCase<"Carried", 3, "carried">;
def Rnn_RelationSum : I32EnumAttrCase<"Sum", 4, "sum">;
def Rnn_Relation : I32EnumAttr<"Relation", "what a tensor of an adjoint is to one of its cell",
    [Rnn_RelationValue, Rnn_RelationUpstream, Rnn_RelationGradient, Rnn_RelationCarried,
     Rnn_RelationSum]> {
  let cppNamespace = "::rnnc::rnn";
  let genSpecializedAttr = 0;
}

def Rnn_Of : AttrDef<Rnn_Dialect, "Of"> {
  let mnemonic = "of";
  let summary = "What a tensor of an adjoint is to a tensor of the cell that it was derived from";
  let description = [{
    `value "h" back 1`: at a step what the solve had as h[t-1], in front of the first step what h
    begins with. `upstream "y"`: the derivative of the loss by y[t], as far as the caller's own use of
    it goes. `gradient "x" back 1`: at a step what it adds to the derivative by x[t-1]. `sum "a"`: at a
    step what it adds to the derivative by a param, to be summed over all steps, the batch, and the
    axes that the param lacks. `carried "h"`: the derivative by h after a step, by way of the later
    ones; behind the adjoint's last step that of the initial state.
  }];
  let parameters = (ins EnumParameter<Rnn_Relation>:$relation, "::mlir::StringAttr":$name,
                        DefaultValuedParameter<"int64_t", "0">:$back);
  let assemblyFormat = "`<` $relation $name (`back` $back^)? `>`";
}

def Rnn_Number : Type<And<[Rnn_Array.predicate,
    CPred<"!::llvm::cast<::rnnc::rnn::ArrayType>($_self).isBool()">]>,
    "array of numbers", "::rnnc::rnn::ArrayType">;
def Rnn_Real : Type<And<[Rnn_Number.predicate,
    CPred<"!::llvm::cast<::rnnc::rnn::ArrayType>($_self).isComplex()">]>,
    "array of real numbers", "::rnnc::rnn::ArrayType">;
def Rnn_Complex : Type<And<[Rnn_Array.predicate,
    CPred<"::llvm::cast<::rnnc::rnn::ArrayType>($_self).isComplex()">]>,
    "array of complex numbers", "::rnnc::rnn::ArrayType">;
def Rnn_Bool : Type<And<[Rnn_Array.predicate,
    CPred<"::llvm::cast<::rnnc::rnn::ArrayType>($_self).isBool()">]>,
    "array of truth values", "::rnnc::rnn::ArrayType">;

//===--------------------------------------------------------------------------------------------===//
// Cell and declarations
//===--------------------------------------------------------------------------------------------===//

class Rnn_Op<string mnemonic, list<Trait> traits = []> : Op<Rnn_Dialect, mnemonic, traits>;

def Rnn_CellOp : Rnn_Op<"cell", [Symbol, SymbolTable, IsolatedFromAbove, NoTerminator,
                               NoRegionArguments, SingleBlock]> {
  let summary = "One cell: declarations, then one step";
  let description = [{
    `save` and `recompute` name values of the step, hints to whoever plans the memory of training.
    `tolerance`, `max_sweeps` and `chunk` are the file's wishes for the solve; a caller's win.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrArrayAttr>:$save,
                       OptionalAttr<StrArrayAttr>:$recompute, OptionalAttr<F64Attr>:$tolerance,
                       OptionalAttr<I64Attr>:$max_sweeps, OptionalAttr<I64Attr>:$chunk);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    StepOp getStep();
    template <typename OpT> auto decls() { return getBody().front().getOps<OpT>(); }
  }];
}

class Rnn_Decl<string mnemonic, list<Trait> traits = []>
    : Rnn_Op<mnemonic, !listconcat([Symbol, HasParent<"CellOp">], traits)>;

def Rnn_DimDeclOp : Rnn_Decl<"dim_decl"> {
  let summary = "A size; with a value, fixed at compile time";
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<I64Attr>:$size);
  let assemblyFormat = "$sym_name (`=` $size^)? attr-dict";
  let hasVerifier = 1;
}

def Rnn_InputOp : Rnn_Decl<"input"> {
  let summary = "A sequence, (batch, time, dims...) at the boundary";
  let description = "`before` is what `x[t-n]` reads before the first step.";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Rnn_Number>:$type,
                       DefaultValuedAttr<F64Attr, "0.0">:$before);
  let assemblyFormat = "$sym_name `:` $type (`before` $before^)? attr-dict";
}

def Rnn_ParamOp : Rnn_Decl<"param"> {
  let summary = "Learned; no time, no batch";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Rnn_Number>:$type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Rnn_StateOp : Rnn_Decl<"state"> {
  let summary = "Carried from step to step; `init` or `start` is its value before the first";
  let description = [{
    A hidden state is not among the outputs. `start` names the param that is the value before the
    first step and at all earlier ones; it broadcasts to the state. `init` is then 0.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Rnn_Number>:$type,
                       DefaultValuedAttr<F64Attr, "0.0">:$init, UnitAttr:$hidden,
                       OptionalAttr<FlatSymbolRefAttr>:$start);
  let assemblyFormat = [{
    (`hidden` $hidden^)? $sym_name `:` $type (`init` $init^)? (`start` $start^)? attr-dict
  }];
}

def Rnn_OutputOp : Rnn_Decl<"output"> {
  let summary = "Something else a caller wants per step";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Rnn_Number>:$type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Rnn_PhaseCall : I32EnumAttrCase<"Call", 0, "call">;
def Rnn_PhaseBefore : I32EnumAttrCase<"Before", 1, "before">;
def Rnn_PhaseAfter : I32EnumAttrCase<"After", 2, "after">;
def Rnn_Phase : I32EnumAttr<"Phase", "when a stage runs: once a call, or over all steps before or "
    "after the solve", [Rnn_PhaseCall, Rnn_PhaseBefore, Rnn_PhaseAfter]> {
  let cppNamespace = "::rnnc::rnn";
}

def Rnn_HoistedOp : Rnn_Decl<"hoisted"> {
  let summary = "An array between the stages and the step, made by the hoist pass";
  let description = [{
    Of phase `call` it is read like a param, otherwise like an input. One stage or the step sets it,
    with rnn.set_output. `holds` is the expression that it holds, as the user would write it.
  }];
  let arguments = (ins Rnn_Phase:$phase, SymbolNameAttr:$sym_name, TypeAttrOf<Rnn_Real>:$type,
                       StrAttr:$holds);
  let assemblyFormat = "$phase $sym_name `:` $type `=` $holds attr-dict";
}

def Rnn_StageOp : Rnn_Op<"stage", [HasParent<"CellOp">, IsolatedFromAbove, NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "What was moved out of the step: the equation of one array, for all steps at once";
  let description = [{
    Reads inputs, params and hoisted arrays, after the solve the new states too (as rnn.input_at),
    and sets one hoisted array or output. Stages run in order: those of phase `call` and `before`
    stand in front of the step, those of phase `after` behind it.
  }];
  let arguments = (ins Rnn_Phase:$phase);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$phase attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    SetOutputOp getSet() { return *getBody().front().getOps<SetOutputOp>().begin(); }
  }];
}

def Rnn_StepOp : Rnn_Op<"step", [HasParent<"CellOp">, IsolatedFromAbove, NoTerminator, NoRegionArguments, SingleBlock]> {
  let summary = "The equations of one time step";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Reading and writing what is declared
//===--------------------------------------------------------------------------------------------===//

class Rnn_StepOp<string mnemonic, list<Trait> traits = []>
    : Rnn_Op<mnemonic, !listconcat([ParentOneOf<["StepOp", "StageOp"]>], traits)>;

def Rnn_StateAtOp : Rnn_StepOp<"state_at", [Pure]> {
  let summary = "A state `back` steps ago; 1 is h[t-1]";
  let description = [{
    0 is the new value itself: the step is implicit, and has to be solved for what `set_state` of
    the same name then gives.
  }];
  let arguments = (ins FlatSymbolRefAttr:$name, I64Attr:$back);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = "$name `[` $back `]` `:` type($result) attr-dict";
  let hasVerifier = 1;
}

def Rnn_InputAtOp : Rnn_StepOp<"input_at", [Pure]> {
  let summary = "An input `back` steps ago; 0 is x[t]";
  let arguments = (ins FlatSymbolRefAttr:$name, I64Attr:$back);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = "$name `[` $back `]` `:` type($result) attr-dict";
  let hasVerifier = 1;
}

def Rnn_ParamValueOp : Rnn_StepOp<"param_value", [Pure]> {
  let summary = "The value of a param";
  let arguments = (ins FlatSymbolRefAttr:$name);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = "$name `:` type($result) attr-dict";
  let hasVerifier = 1;
}

def Rnn_SetStateOp : Rnn_StepOp<"set_state"> {
  let summary = "h[t] = value; the value broadcasts to the state's shape";
  let arguments = (ins FlatSymbolRefAttr:$name, Rnn_Number:$value);
  let assemblyFormat = "$name `,` $value `:` type($value) attr-dict";
  let hasVerifier = 1;
}

def Rnn_SetOutputOp : Rnn_StepOp<"set_output"> {
  let summary = "y[t] = value; the value broadcasts to the output's shape";
  let arguments = (ins FlatSymbolRefAttr:$name, Rnn_Number:$value);
  let assemblyFormat = "$name `,` $value `:` type($value) attr-dict";
  let hasVerifier = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Element-wise
//===--------------------------------------------------------------------------------------------===//

def Rnn_ConstantOp : Rnn_StepOp<"constant", [Pure, ConstantLike]> {
  let summary = "A number; it takes the compute type later";
  let arguments = (ins F64Attr:$value);
  let results = (outs Rnn_Real:$result);
  let assemblyFormat = "$value `:` type($result) attr-dict";
  let hasFolder = 1;
}

class Fn<string sym, int val, string str> : I32EnumAttrCase<sym, val, str>;
def Rnn_UnaryKind : I32EnumAttr<"UnaryKind", "element-wise function of one value", [
  Fn<"Neg", 0, "neg">, Fn<"Exp", 1, "exp">, Fn<"Expm1", 2, "expm1">, Fn<"Log", 3, "log">,
  Fn<"Log1p", 4, "log1p">, Fn<"Sqrt", 5, "sqrt">, Fn<"Rsqrt", 6, "rsqrt">, Fn<"Sin", 7, "sin">,
  Fn<"Cos", 8, "cos">, Fn<"Tan", 9, "tan">, Fn<"Asin", 10, "asin">, Fn<"Acos", 11, "acos">,
  Fn<"Atan", 12, "atan">, Fn<"Sinh", 13, "sinh">, Fn<"Cosh", 14, "cosh">, Fn<"Tanh", 15, "tanh">,
  Fn<"Sigmoid", 16, "sigmoid">, Fn<"Softplus", 17, "softplus">, Fn<"Relu", 18, "relu">,
  Fn<"Gelu", 19, "gelu">, Fn<"Silu", 20, "silu">, Fn<"HardSigmoid", 21, "hard_sigmoid">,
  Fn<"HardTanh", 22, "hard_tanh">, Fn<"Erf", 23, "erf">, Fn<"Abs", 24, "abs">,
  Fn<"Sign", 25, "sign">, Fn<"Floor", 26, "floor">]> {
  let cppNamespace = "::rnnc::rnn";
}
def Rnn_BinaryKind : I32EnumAttr<"BinaryKind", "element-wise function of two values", [
  Fn<"Add", 0, "add">, Fn<"Sub", 1, "sub">, Fn<"Mul", 2, "mul">, Fn<"Div", 3, "div">,
  Fn<"Pow", 4, "pow">, Fn<"Min", 5, "min">, Fn<"Max", 6, "max">, Fn<"Atan2", 7, "atan2">]> {
  let cppNamespace = "::rnnc::rnn";
}
def Rnn_CompareKind : I32EnumAttr<"CompareKind", "comparison", [
  Fn<"Lt", 0, "lt">, Fn<"Le", 1, "le">, Fn<"Gt", 2, "gt">, Fn<"Ge", 3, "ge">, Fn<"Eq", 4, "eq">,
  Fn<"Ne", 5, "ne">]> {
  let cppNamespace = "::rnnc::rnn";
}
def Rnn_LogicKind : I32EnumAttr<"LogicKind", "logic on truth values", [
  Fn<"And", 0, "and">, Fn<"Or", 1, "or">]> {
  let cppNamespace = "::rnnc::rnn";
}

def Rnn_ReduceKind : I32EnumAttr<"ReduceKind", "what becomes of the elements along an axis", [
  Fn<"Sum", 0, "sum">, Fn<"Mean", 1, "mean">, Fn<"Max", 2, "max">, Fn<"Min", 3, "min">]> {
  let cppNamespace = "::rnnc::rnn";
}

def Rnn_UnaryOp : Rnn_StepOp<"unary", [Pure]> {
  let summary = "An element-wise function of one array";
  let arguments = (ins Rnn_UnaryKind:$kind, Rnn_Number:$operand);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = "$kind $operand `:` type($operand) `->` type($result) attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rnn_BinaryOp : Rnn_StepOp<"binary", [Pure]> {
  let summary = "An element-wise function of two arrays, broadcast from the right";
  let arguments = (ins Rnn_BinaryKind:$kind, Rnn_Number:$lhs, Rnn_Number:$rhs);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat =
      "$kind $lhs `,` $rhs `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result) attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rnn_CompareOp : Rnn_StepOp<"compare", [Pure]> {
  let summary = "A comparison; false where an operand is NaN, except ne";
  let arguments = (ins Rnn_CompareKind:$kind, Rnn_Real:$lhs, Rnn_Real:$rhs);
  let results = (outs Rnn_Bool:$result);
  let assemblyFormat =
      "$kind $lhs `,` $rhs `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result) attr-dict";
  let hasVerifier = 1;
}

def Rnn_LogicOp : Rnn_StepOp<"logic", [Pure]> {
  let summary = "and, or";
  let arguments = (ins Rnn_LogicKind:$kind, Rnn_Bool:$lhs, Rnn_Bool:$rhs);
  let results = (outs Rnn_Bool:$result);
  let assemblyFormat =
      "$kind $lhs `,` $rhs `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result) attr-dict";
  let hasVerifier = 1;
}

def Rnn_NotOp : Rnn_StepOp<"not", [Pure]> {
  let summary = "not";
  let arguments = (ins Rnn_Bool:$operand);
  let results = (outs Rnn_Bool:$result);
  let assemblyFormat = "$operand `:` type($operand) `->` type($result) attr-dict";
  let hasVerifier = 1;
}

def Rnn_WhereOp : Rnn_StepOp<"where", [Pure]> {
  let summary = "where(condition, a, b), broadcast from the right";
  let arguments = (ins Rnn_Bool:$condition, Rnn_Number:$if_true, Rnn_Number:$if_false);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = [{
    $condition `,` $if_true `,` $if_false `:`
    `(` type($condition) `,` type($if_true) `,` type($if_false) `)` `->` type($result) attr-dict
  }];
  let hasVerifier = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Contractions: what couples axes
//===--------------------------------------------------------------------------------------------===//

def Rnn_MatmulOp : Rnn_StepOp<"matmul", [Pure]> {
  let summary = "A @ b over the last axes; leading axes are a batch";
  let description = [{
    lhs is [batch..., m, n]. rhs is either a vector [batch..., n], when its rank is one less than
    lhs's, giving [batch..., m]; or a matrix [batch..., n, p] of the same rank, giving
    [batch..., m, p]. `A @ x` with x of rank 1 is one vector for the whole batch, as in NumPy.
  }];
  let arguments = (ins Rnn_Number:$lhs, Rnn_Number:$rhs);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat =
      "$lhs `,` $rhs `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result) attr-dict";
  let extraClassDeclaration = [{
    /// Leading axes that both sides have: none where one vector meets all of lhs's rows.
    unsigned sharedAxes() {
      return getRhs().getType().getRank() == 1 ? 0 : getLhs().getType().getRank() - 2;
    }
    /// Whether rhs has no axis of columns.
    bool isVector() { return getRhs().getType().getRank() == sharedAxes() + 1; }
  }];
  let hasVerifier = 1;
}

def Rnn_ReduceOp : Rnn_StepOp<"reduce", [Pure]> {
  let summary = "Sum, mean, max or min over one axis, counted from the left";
  let description = [{
    Elements are combined two at a time, from the first to the last: of equal ones max and min give
    the first, and NaN where any element is. The axis is dropped, or, with `keep`, left as one of
    size 1, so that the result broadcasts to the operand.
  }];
  let arguments = (ins Rnn_ReduceKind:$kind, Rnn_Number:$operand, I64Attr:$axis, UnitAttr:$keep);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = [{
    $kind $operand `axis` $axis (`keep` $keep^)? `:` type($operand) `->` type($result) attr-dict
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Complex numbers
//===--------------------------------------------------------------------------------------------===//

def Rnn_ComplexOp : Rnn_StepOp<"complex", [Pure]> {
  let summary = "re + i im, broadcast from the right";
  let arguments = (ins Rnn_Real:$re, Rnn_Real:$im);
  let results = (outs Rnn_Complex:$result);
  let assemblyFormat =
      "$re `,` $im `:` `(` type($re) `,` type($im) `)` `->` type($result) attr-dict";
  let hasVerifier = 1;
}

def Rnn_PartKind : I32EnumAttr<"PartKind", "a part of a complex number", [
  Fn<"Re", 0, "re">, Fn<"Im", 1, "im">]> {
  let cppNamespace = "::rnnc::rnn";
}

def Rnn_PartOp : Rnn_StepOp<"part", [Pure]> {
  let summary = "The real or the imaginary part";
  let arguments = (ins Rnn_PartKind:$kind, Rnn_Complex:$operand);
  let results = (outs Rnn_Real:$result);
  let assemblyFormat = "$kind $operand `:` type($operand) `->` type($result) attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===--------------------------------------------------------------------------------------------===//
// Movement: elements change places, none is computed
//===--------------------------------------------------------------------------------------------===//

def Rnn_SliceOp : Rnn_StepOp<"slice", [Pure]> {
  let summary = "Neighbours along one axis of fixed size, from element `from` on";
  let description = [{
    How many, the result's type says. With `drop` it is one, and the axis goes.
  }];
  let arguments = (ins Rnn_Number:$operand, I64Attr:$axis, I64Attr:$from, UnitAttr:$drop);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = [{
    $operand `axis` $axis `from` $from (`drop` $drop^)? `:` type($operand) `->` type($result)
    attr-dict
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rnn_ConcatOp : Rnn_StepOp<"concat", [Pure]> {
  let summary = "Arrays behind each other along one axis of fixed size; all others match";
  let arguments = (ins Variadic<Rnn_Number>:$operands, I64Attr:$axis);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = [{
    $operands `axis` $axis `:` `(` type($operands) `)` `->` type($result) attr-dict
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rnn_TransposeOp : Rnn_StepOp<"transpose", [Pure]> {
  let summary = "The last two axes change places";
  let arguments = (ins Rnn_Number:$operand);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = "$operand `:` type($operand) `->` type($result) attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Rnn_ExpandOp : Rnn_StepOp<"expand", [Pure]> {
  let summary = "A new axis of size 1, as the `axis`th of the result";
  let arguments = (ins Rnn_Number:$operand, I64Attr:$axis);
  let results = (outs Rnn_Number:$result);
  let assemblyFormat = "$operand `axis` $axis `:` type($operand) `->` type($result) attr-dict";
  let hasVerifier = 1;
}

#endif
