//===- Arrays.cpp - indices, joints, and products of axes -------------------------------------===//
//
// As in all operations axes count from the right: the items of an index belong to the last axes,
// and what stands before them is kept.
//
//===----------------------------------------------------------------------------------------------===//

#include "Frontend/Equations.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;
using rnn::DimAttr;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

/// A whole number as text; std::to_string would not be exact.
static std::string whole(double value) {
  return std::fabs(value) < 1e15 ? std::to_string(static_cast<int64_t>(value)) : "beyond 1e15";
}

/// What is cut or joined has a size at compile time.
bool EquationBuilder::sizeIsKnown(Operand operand, unsigned axis) {
  DimAttr dim = typeOf(operand.value).getDims()[axis];
  if (!dim.isFree())
    return true;
  error(operand.span, "RNN0203",
        "'" + text(operand.span) + "' is " + shape(operand.value) + ", and the size of '" +
            dim.str() + "' is not known here",
        "fix it in the file or with --dim " + dim.str() + "=N");
  return false;
}

/// One bound, from 0 on: negative ones count from the end. `isEnd`: the size itself is one too.
std::optional<int64_t> EquationBuilder::bound(Operand given, Operand base, DimAttr dim,
                                              bool isEnd) {
  std::optional<double> value = constantOf(given.value);
  std::string id = "'" + text(given.span) + "'";
  if (!value) {
    error(given.span, "RNN0203", id + " is not known at compile time",
          "an index is made of numbers, consts and fixed dims");
    return std::nullopt;
  }
  auto size = static_cast<double>(dim.getSize());
  if (*value != std::floor(*value))
    error(given.span, "RNN0209", id + " is no whole number");
  else if (*value < -size || *value > size || (*value == size && !isEnd))
    error(given.span, "RNN0209",
          "the index " + whole(*value) + " is out of range: '" + text(base.span) + "' is " +
              shape(base.value) + " and has " + std::to_string(dim.getSize()) + " elements there",
          "they are numbered from 0, and from the end with -1");
  else
    return static_cast<int64_t>(*value < 0 ? *value + size : *value);
  return std::nullopt;
}

/// The elements that an item of an index stands for. Takes its bounds off the front of `bounds`.
std::optional<EquationBuilder::Range> EquationBuilder::range(const Node& node, unsigned item,
                                                             Operand base, DimAttr dim,
                                                             ArrayRef<Operand>& bounds) {
  bool isSlice = node.slices >> item & 1;
  Range range{0, dim.getSize()};
  if (!isSlice) {
    std::optional<int64_t> at = bound(bounds.consume_front(), base, dim, false);
    return at ? std::optional<Range>({*at, *at + 1}) : std::nullopt;
  }
  for (auto [given, place] : {std::pair(node.from, &range.from), std::pair(node.to, &range.to)}) {
    if (!(given >> item & 1))
      continue;
    std::optional<int64_t> at = bound(bounds.consume_front(), base, dim, true);
    if (!at)
      return std::nullopt;
    *place = *at;
  }
  if (range.from < range.to)
    return range;
  error({node.begin, node.end - node.begin}, "RNN0209",
        "'" + text({node.begin, node.end - node.begin}) + "' has no element: it goes from " +
            std::to_string(range.from) + " to " + std::to_string(range.to),
        "a[from:to] ends before to");
  return std::nullopt;
}

/// a[0:k], a[1], a[:, -1]
Value EquationBuilder::cut(const Node& node, Operand base, ArrayRef<Operand> bounds) {
  if (!numeric(base))
    return {};
  unsigned rank = typeOf(base.value).getRank();
  if (node.items > rank) {
    error(node.span, "RNN0207",
          "'" + text(base.span) + "' is " + shape(base.value) + " and has no axis for " +
              (node.items == 1 ? "an index" : "an index of " + std::to_string(node.items)));
    return {};
  }
  unsigned first = rank - node.items;
  SmallVector<Range> ranges;
  for (unsigned item = 0; item < node.items; ++item) {
    DimAttr dim = typeOf(base.value).getDims()[first + item];
    bool isWhole = (node.slices >> item & 1) && !((node.from | node.to) >> item & 1);
    if (isWhole) {
      ranges.push_back({0, dim.getSize()});
      continue;
    }
    if (!sizeIsKnown(base, first + item))
      return {};
    std::optional<Range> one = range(node, item, base, dim, bounds);
    if (!one)
      return {};
    ranges.push_back(*one);
  }
  Value value = base.value;
  for (unsigned item = node.items; item-- > 0;) { // from the last axis on, since axes go
    unsigned axis = first + item;
    int64_t size = ranges[item].to - ranges[item].from;
    bool drop = !(node.slices >> item & 1);
    if (!drop && size == typeOf(value).getDims()[axis].getSize())
      continue;
    value = rnn::SliceOp::create(builder, location(node.span),
                                 rnn::slicedType(typeOf(value), axis, size, drop), value, axis,
                                 ranges[item].from, drop);
  }
  return value;
}

void EquationBuilder::index(const Node& node) {
  size_t first = stack.size() - node.arguments - 1;
  Operand base = stack[first];
  SmallVector<Operand> bounds(stack.begin() + first + 1, stack.end());
  stack.resize(first);
  bool fine = base.value && llvm::all_of(bounds, [](Operand b) { return bool(b.value); });
  stack.push_back({fine ? cut(node, base, bounds) : Value(), {node.begin, node.end - node.begin}});
}

/// a.T
void EquationBuilder::transpose(const Node& node) {
  Operand& top = stack.back();
  Span whole{node.begin, node.end - node.begin};
  Value value;
  if (top.value && numeric(top)) {
    ArrayType type = typeOf(top.value);
    if (type.getRank() < 2)
      error(node.span, "RNN0207",
            "'" + text(top.span) + "' is " + shape(top.value) + " and has no two axes to swap",
            type.getRank() == 1 ? "of a vector and a matrix '@' needs no transpose" : "");
    else
      value = rnn::TransposeOp::create(builder, location(node.span), rnn::transposedType(type),
                                       top.value);
  }
  top = {value, whole};
}

Value EquationBuilder::expand(Span at, Value x, unsigned axis) {
  return rnn::ExpandOp::create(builder, location(at), rnn::expandedType(typeOf(x), axis), x, axis);
}

/// Which axis concat joins: the last one, or the one that is named where an argument has it.
std::optional<unsigned> EquationBuilder::joinedAxis(const Node& node, ArrayRef<Operand> args) {
  if (node.axis.empty())
    return typeOf(args.front().value).getRank() - 1;
  for (Operand arg : args)
    if (std::optional<unsigned> axis = findAxis(arg.value, node.axis))
      return axis;
  error(node.span, "RNN0207",
        "no argument of '" + node.text.str() + "' has an axis '" + node.axis.str() + "'");
  return std::nullopt;
}

/// Along every axis but the one that is joined.
bool EquationBuilder::fitsBeside(Operand first, Operand other, unsigned axis) {
  ArrayRef<DimAttr> a = typeOf(first.value).getDims(), b = typeOf(other.value).getDims();
  bool fits = a.size() == b.size();
  for (unsigned i = 0; fits && i < a.size(); ++i)
    fits = i == axis || a[i].matches(b[i]);
  if (!fits)
    error(other.span, "RNN0205",
          "shapes do not fit: " + text(first.span) + " is " + shape(first.value) + " but " +
              text(other.span) + " is " + shape(other.value),
          "what is joined has the same axes, but for the sizes of the one that is joined");
  return fits;
}

Value EquationBuilder::concat(const Node& node, ArrayRef<Operand> args) {
  SmallVector<Operand> parts(args);
  unsigned rank = 1;
  for (Operand part : parts) {
    if (!numeric(part))
      return {};
    rank = std::max(rank, typeOf(part.value).getRank());
  }
  for (Operand& part : parts) // a scalar is one element beside those of a vector
    if (rank == 1 && typeOf(part.value).getRank() == 0)
      part.value = expand(node.span, part.value, 0);
  std::optional<unsigned> axis = joinedAxis(node, parts);
  if (!axis)
    return {};
  int64_t size = 0;
  SmallVector<Value> values;
  SmallVector<DimAttr> dims(typeOf(parts.front().value).getDims());
  for (Operand part : parts) {
    if (!fitsBeside(parts.front(), part, *axis) || !sizeIsKnown(part, *axis))
      return {};
    ArrayRef<DimAttr> own = typeOf(part.value).getDims();
    size += own[*axis].getSize();
    for (unsigned i = 0; i < dims.size(); ++i)
      if (i != *axis) // they match: it is a question of names
        dims[i] = rnn::broadcast(dims[i], own[i])->front();
    values.push_back(part.value);
    if (kindOf(parts) == rnn::Kind::Complex)
      values.back() = promote(node.span, part.value);
  }
  auto type = rnn::slicedType(typeOf(values.front()).withDims(dims), *axis, size, false);
  return rnn::ConcatOp::create(builder, location(node.span), type, values, *axis);
}

/// [.., m] and [.., n] to [.., m, n]
Value EquationBuilder::outer(const Node& node, Operand a, Operand b) {
  if (!numeric(a) || !numeric(b))
    return {};
  for (Operand side : {a, b})
    if (typeOf(side.value).getRank() == 0) {
      error(node.span, "RNN0207",
            "'" + text(side.span) + "' is a scalar and has no axis for 'outer'",
            "'*' multiplies an array by a scalar");
      return {};
    }
  unsigned left = typeOf(a.value).getRank(), right = typeOf(b.value).getRank();
  if (failed(rnn::broadcast(typeOf(a.value).getDims().drop_back(1),
                            typeOf(b.value).getDims().drop_back(1)))) {
    error(node.span, "RNN0205",
          "shapes do not fit: " + text(a.span) + " is " + shape(a.value) + " but " + text(b.span) +
              " is " + shape(b.value),
          "'outer' multiplies the last axes; those before them are a batch");
    return {};
  }
  return binary(node.span, rnn::BinaryKind::Mul, {expand(node.span, a.value, left), a.span},
                {expand(node.span, b.value, right - 1), b.span});
}
