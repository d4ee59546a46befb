//===- RnnDialect.cpp - types and registration -----------------------------------------------===//

#include "Rnn/Rnn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rnnc::rnn;

#include "Rnn/Rnn_dialect.cpp.inc"
#include "Rnn/Rnn_enum.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Rnn/Rnn_attrdef.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "Rnn/Rnn_typedef.cpp.inc"

#define GET_OP_CLASSES
#include "Rnn/Rnn_op.cpp.inc"

void RnnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Rnn/Rnn_attrdef.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Rnn/Rnn_typedef.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Rnn/Rnn_op.cpp.inc"
      >();
}

bool DimAttr::matches(DimAttr other) const {
  if (!isFree() && !other.isFree())
    return getSize() == other.getSize();
  return getName() == other.getName() && !getName().empty();
}

std::string DimAttr::str() const {
  return getName().empty() ? std::to_string(getSize()) : getName().str();
}

std::string ArrayType::shapeString() const {
  std::string text = "[";
  for (DimAttr dim : getDims())
    text += (text.size() > 1 ? ", " : "") + dim.str();
  return text + "]";
}

// `[d, k = 4, 3]`, then `, bool` or `, complex` where that is what the array holds.
void ArrayType::print(AsmPrinter& printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer, [&](DimAttr dim) {
    if (dim.getName().empty()) {
      printer << dim.getSize();
      return;
    }
    printer.printKeywordOrString(dim.getName());
    if (!dim.isFree())
      printer << " = " << dim.getSize();
  });
  printer << "]";
  if (getKind() != Kind::Real)
    printer << ", " << stringifyKind(getKind());
  printer << ">";
}

static FailureOr<DimAttr> parseDim(AsmParser& parser) {
  int64_t size = 0;
  OptionalParseResult literal = parser.parseOptionalInteger(size);
  std::string name;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (literal.has_value()) {
    if (failed(*literal))
      return failure();
  } else {
    if (parser.parseKeywordOrString(&name))
      return failure();
    size = DimAttr::kFree;
    if (succeeded(parser.parseOptionalEqual()) && parser.parseInteger(size))
      return failure();
    if (size == DimAttr::kFree)
      return DimAttr::get(StringAttr::get(parser.getContext(), name), size);
  }
  if (size < 1) {
    parser.emitError(loc, "a dim's size is at least 1");
    return failure();
  }
  return DimAttr::get(StringAttr::get(parser.getContext(), name), size);
}

Type ArrayType::parse(AsmParser& parser) {
  SmallVector<DimAttr> dims;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<DimAttr> dim = parseDim(parser);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return {};
  Kind kind = Kind::Real;
  if (succeeded(parser.parseOptionalComma())) {
    StringRef word;
    llvm::SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return {};
    std::optional<Kind> known = symbolizeKind(word);
    if (!known || *known == Kind::Real) {
      parser.emitError(loc, "an array of other than real numbers is bool or complex");
      return {};
    }
    kind = *known;
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), dims, kind);
}

/// The axis that two make which have to be alike: with the name of either where the other has none
/// or the same. Two names leave its size alone, so that no result depends on the order of operands.
/// Failure where they do not match.
static FailureOr<DimAttr> commonDim(DimAttr a, DimAttr b) {
  if (!a.matches(b))
    return failure();
  if (a.getName() == b.getName() || b.getName().empty())
    return a;
  if (a.getName().empty())
    return b;
  return DimAttr::get(StringAttr::get(a.getContext(), ""), a.getSize());
}

FailureOr<SmallVector<DimAttr>> rnnc::rnn::broadcast(ArrayRef<DimAttr> a, ArrayRef<DimAttr> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<DimAttr> dims(a);
  size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    DimAttr& dim = dims[offset + i];
    if (dim.isOne() != b[i].isOne()) { // stretched
      dim = dim.isOne() ? b[i] : dim;
      continue;
    }
    FailureOr<DimAttr> common = commonDim(dim, b[i]);
    if (failed(common))
      return failure();
    dim = *common;
  }
  return dims;
}

bool rnnc::rnn::broadcastsTo(ArrayRef<DimAttr> from, ArrayRef<DimAttr> to) {
  FailureOr<SmallVector<DimAttr>> dims = broadcast(from, to);
  return succeeded(dims) &&
         llvm::equal(*dims, to, [](DimAttr a, DimAttr b) { return a.matches(b); });
}

FailureOr<SmallVector<DimAttr>> rnnc::rnn::matmulDims(ArrayRef<DimAttr> lhs,
                                                      ArrayRef<DimAttr> rhs) {
  if (lhs.size() < 2)
    return failure();
  bool vector = rhs.size() == 1 || rhs.size() + 1 == lhs.size();
  if (!vector && rhs.size() != lhs.size())
    return failure();
  // One vector meets every row of lhs.
  SmallVector<DimAttr> dims(lhs.drop_back(1));
  size_t batch = rhs.size() == 1 ? 0 : lhs.size() - 2;
  for (size_t i = 0; i < batch; ++i) {
    FailureOr<DimAttr> common = commonDim(lhs[i], rhs[i]);
    if (failed(common))
      return failure();
    dims[i] = *common;
  }
  DimAttr contracted = vector ? rhs.back() : rhs[rhs.size() - 2];
  if (!lhs.back().matches(contracted))
    return failure();
  if (!vector)
    dims.push_back(rhs.back());
  return dims;
}
