//===- DenseLowering.h - what lower-dense keeps of one group ---------------------------------===//
#pragma once

#include "Analysis/LaneAxes.h"
#include "Newton/Newton.h"
#include "Transforms/Boundary.h"
#include "Transforms/Elements.h"
#include "Transforms/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>
#include <set>

namespace rnnc {

/// For every axis of a value: the lane axis that it runs with, and from which element on, or none
/// where it belongs to the block.
using Lanes = Index;
/// A value as one of its users sees it.
using Seen = std::pair<mlir::Value, Lanes>;

struct BySeen {
  bool operator()(const Seen& a, const Seen& b) const {
    auto key = [](const Seen& s) { return std::pair(s.first.getAsOpaquePointer(), s.second); };
    return key(a) < key(b);
  }
};

bool isLeaf(mlir::Value value);

/// The axes of `value` within a nest over `dims`: aligned from the right, and at element 0 where an
/// axis of size 1 is stretched.
Lanes lanesWithin(mlir::Value value, llvm::ArrayRef<rnn::DimAttr> dims, const Lanes& lanes);

inline llvm::ArrayRef<rnn::DimAttr> dimsOf(mlir::Value value) {
  return llvm::cast<rnn::ArrayType>(value.getType()).getDims();
}

/// An array of the region: a tensor as the step reads or writes it, or a temporary.
struct Array {
  mlir::Attribute slot; // null: a temporary
  llvm::SmallVector<rnn::DimAttr> dims;
  Lanes lanes;
  mlir::Location loc;
  mlir::Value memref = {};
};

/// The axes of a nest, and where each of them stands: nowhere (null) along a lane axis.
struct Frame {
  llvm::ArrayRef<rnn::DimAttr> dims;
  Lanes lanes;
  llvm::SmallVector<mlir::Value> places;
};

class DenseLowering : SystemSource {
public:
  DenseLowering(const Equations& equations, const StateGroup& group, const LaneAxes& axes,
                mlir::Type compute)
      : SystemSource{equations, group, axes, compute}, b(cell.getContext()), loc(cell.getLoc()) {}

  mlir::LogicalResult lower(mlir::Block& into);

private:
  struct Result {
    mlir::Value value;
    Array to;
  };

  mlir::LogicalResult listResults();
  void demand();
  void demandOperands(mlir::Operation* op, const Lanes& lanes, const std::set<int>& nests);
  void addLeaf(mlir::Operation& op, const Seen& seen);
  void listArrays();
  void createSystem(mlir::Block& into);
  newton::SlotAttr slot(mlir::FlatSymbolRefAttr tensor, const Lanes& lanes, int64_t back);

  int64_t blockDim(rnn::DimAttr dim);
  mlir::Value sizeOf(rnn::DimAttr dim) {
    return dim.isFree() ? sizes[blockDim(dim)] : number(dim.getSize());
  }
  mlir::Value number(int64_t n) { return mlir::arith::ConstantIndexOp::create(b, loc, n); }
  mlir::Value zero() { return buildNumber(b, loc, compute, 0); }
  void loops(Frame& frame, llvm::ArrayRef<unsigned> along, llvm::function_ref<void()> body);
  llvm::SmallVector<unsigned> blockAxes(const Frame& frame, int64_t except = -1);

  void buildStep();
  void buildRoot(mlir::Operation* op, const Seen& root);
  void buildProduct(rnn::MatmulOp op, Frame& frame, const Array& to);
  void buildRows(rnn::MatmulOp op, Frame& frame, mlir::Value first, int64_t rows, const Array& to);
  mlir::Value buildReduction(rnn::ReduceOp op, const Frame& frame);
  mlir::Value numberOf(rnn::DimAttr dim);
  mlir::Value buildElement(mlir::Value value, const Frame& frame, bool itself);
  Frame inFrame(mlir::Value value, const Frame& frame);
  Frame movedFrame(mlir::Operation* op, const Frame& frame);
  void buildJoint(rnn::ConcatOp op, Frame& frame, const Array& to);
  mlir::Value read(mlir::Value value, const Frame& own);
  void write(const Array& to, const Frame& frame, mlir::Value value);

  mlir::OpBuilder b;
  mlir::Location loc;

  llvm::SmallVector<Result> nextStates, outputs;
  std::map<Seen, std::set<int>, BySeen> nestsOf; // the nests that need the value
  std::set<Seen, BySeen> roots;
  llvm::SmallVector<Array> states, inputs, params, temporaries;
  std::map<Seen, std::pair<llvm::SmallVector<Array>*, unsigned>, BySeen>
      arrayOf; // leaves and roots
  llvm::SmallVector<rnn::DimAttr> blockDims;
  llvm::SmallVector<mlir::Value> sizes; // of the block dims
};

} // namespace rnnc
