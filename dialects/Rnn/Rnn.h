//===- Rnn.h - the recurrence as written -----------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Rnn/Rnn_dialect.h.inc"
#include "Rnn/Rnn_enum.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Rnn/Rnn_attrdef.h.inc"
#define GET_TYPEDEF_CLASSES
#include "Rnn/Rnn_typedef.h.inc"

namespace rnnc::rnn {
class StateOp;
class StepOp;

/// h[t-n] of a state, at most; a block of so many states a lane is still unrolled.
constexpr int64_t kMaxOrder = 16;

/// The hidden state that is `state` of `back` steps ago, where the cell reads h[t-n] with n > back.
std::string shiftName(llvm::StringRef state, int64_t back);

/// The largest n of the h[t-n] that the cell reads; 0 where it reads none.
int64_t orderOf(StateOp state);

/// NumPy's rule, from the right, over dims that match or are 1. Failure names nothing: the caller
/// knows the equation.
mlir::FailureOr<llvm::SmallVector<DimAttr>> broadcast(llvm::ArrayRef<DimAttr> a,
                                                      llvm::ArrayRef<DimAttr> b);

/// Whether a value of the dims `from` broadcasts to exactly the dims `to`.
bool broadcastsTo(llvm::ArrayRef<DimAttr> from, llvm::ArrayRef<DimAttr> to);

/// The dims of `lhs @ rhs`; failure where they do not contract (see rnn.matmul).
mlir::FailureOr<llvm::SmallVector<DimAttr>> matmulDims(llvm::ArrayRef<DimAttr> lhs,
                                                       llvm::ArrayRef<DimAttr> rhs);

/// What a reduction of an array of this type gives: without the axis, or with one of size 1.
ArrayType reducedType(ArrayType type, uint64_t axis, bool keep);
/// An array of this type with an axis of size 1 put in, as the `axis`th.
ArrayType expandedType(ArrayType type, uint64_t axis);
/// An array of this type with its last two axes swapped; it has two at least.
ArrayType transposedType(ArrayType type);
/// What a slice of `size` elements along an axis gives: the axis has a literal size, or is dropped.
ArrayType slicedType(ArrayType type, uint64_t axis, int64_t size, bool drop);

/// Whether the op moves elements without computing any: slice, concat, transpose, expand.
bool isMovement(mlir::Operation* op);

/// The axis of the op's result that runs with `axis` of the operand; -1 where none does, because
/// the axis is contracted, cut, joined to another array, or stretched from size 1.
int64_t axisInResult(mlir::OpOperand& operand, unsigned axis);

/// How a reduction combines two elements; a mean is a sum, divided at the end.
BinaryKind combining(ReduceKind kind);

/// The value of a built-in function for float64 arguments: the meaning that everything else is
/// compared with.
double evaluate(UnaryKind kind, double x);
double evaluate(BinaryKind kind, double a, double b);
bool evaluate(CompareKind kind, double a, double b);
} // namespace rnnc::rnn

#define GET_OP_CLASSES
#include "Rnn/Rnn_op.h.inc"
