//===- Build.cpp - from a cell to a program --------------------------------------------------===//

#include "Build.h"
#include "Implicit.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <numeric>

using namespace mlir;
using namespace rnnc;
using llvm::Error;
using Program = Interpreter::Program;
using Shape = std::vector<int64_t>;
using Role = Interpreter::Declaration::Role;

/// More numbers than this is a mistake in a size: 16 GiB.
static constexpr size_t kMaxNumbers = size_t(1) << 31;

Error rnnc::interpreterError(const llvm::Twine& text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// "file:line:col: text", where the op came from a file.
static Error errorAt(Operation* op, const llvm::Twine& text) {
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  if (!place)
    return interpreterError(text);
  return interpreterError(place.getFilename().getValue() + ":" + llvm::Twine(place.getLine()) +
                          ":" + llvm::Twine(place.getColumn()) + ": " + text);
}

size_t rnnc::countOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), size_t(1), std::multiplies<>());
}

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(rnn::CellOp cell, const std::map<std::string, int64_t>& given, Program& program)
      : cell(cell), given(given), program(program) {}
  Error build();

private:
  struct Location {
    size_t base = 0;
    Shape shape;
    size_t width = 1; // numbers an element: two of a complex array

    /// The array as its numbers.
    Location numbers() const {
      Location all{base, shape, 1};
      if (width > 1)
        all.shape.push_back(width);
      return all;
    }
  };

  Error bindDims();
  Error declare(Operation& op);
  Error place(Interpreter::Declaration decl);
  Error declareShifts(rnn::StateOp state);
  void bindStarts();
  void shift(const std::string& from, const std::string& to);
  Error translate(Operation& op);
  Error translateUnknown(rnn::StateAtOp op);
  Error translateInput(rnn::InputAtOp op);
  void translateRead(Operation& op, StringRef name);
  Error translateSet(Value value, StringRef name);
  Error translateMatmul(rnn::MatmulOp op);
  Error translateReduce(rnn::ReduceOp op);
  Error translateMovement(Operation& op);
  Error translatePart(rnn::PartOp op);
  size_t movedFrom(Operation& op, std::vector<int64_t> place) const;
  Error elementwise(Operation& op, Program::Code code, unsigned kind = 0);

  Location placeOf(Type type) const;
  llvm::Expected<size_t> allocate(const Shape& shape);
  /// A new array for the op's result.
  llvm::Expected<Location> define(Operation& op);
  Program::Operand broadcast(const Location& from, const Shape& to) const;

  rnn::CellOp cell;
  const std::map<std::string, int64_t>& given;
  Program& program;
  std::map<std::string, int64_t> sizes;
  llvm::StringMap<size_t> declared;
  llvm::StringMap<Location> guesses; // by state
  llvm::DenseMap<Value, Location> values;
};

Error ProgramBuilder::build() {
  if (Error error = bindDims())
    return error;
  for (Operation& op : cell.getBody().front())
    if (!isa<rnn::DimDeclOp, rnn::StepOp>(op))
      if (Error error = declare(op))
        return error;
  for (auto state : cell.decls<rnn::StateOp>())
    if (Error error = declareShifts(state))
      return error;
  bindStarts();
  for (Operation& op : cell.getStep().getBody().front())
    if (Error error = translate(op))
      return error;
  orderUnknowns(program);
  return Error::success();
}

/// Learned starts, of the states that hold earlier values too.
void ProgramBuilder::bindStarts() {
  for (auto [state, decl] : llvm::enumerate(program.declarations)) {
    if (decl.start.empty())
      continue;
    size_t param = declared.lookup(decl.start);
    const Program::Operand from = broadcast({0, program.declarations[param].shape}, decl.shape);
    Program::Start start{state, param, std::vector<size_t>(program.places[state].count)};
    for (size_t i = 0; i < start.index.size(); ++i)
      start.index[i] = from.at(i);
    program.starts.push_back(std::move(start));
  }
}

/// A state of order n: hidden states hold it for 1 to n - 1 steps. All of them are a caller's.
Error ProgramBuilder::declareShifts(rnn::StateOp state) {
  std::string previous = state.getSymName().str();
  for (int64_t back = 1; back < orderOf(state); ++back) {
    Interpreter::Declaration decl = program.declarations[declared.lookup(state.getSymName())];
    decl.name = rnn::shiftName(state.getSymName(), back);
    decl.hidden = true;
    if (declared.count(decl.name))
      return errorAt(state, "'" + decl.name +
                                "' is declared, and the name of a state that holds '" +
                                state.getSymName() + "'");
    std::string name = decl.name;
    if (Error error = place(std::move(decl)))
      return error;
    shift(previous, name);
    previous = std::move(name);
  }
  return Error::success();
}

/// to[t] = from[t-1]
void ProgramBuilder::shift(const std::string& from, const std::string& to) {
  const Program::Place &old = program.places[declared.lookup(from)],
                       &held = program.places[declared.lookup(to)];
  Program::Instruction copy{Program::Code::Copy, 0, held.next, held.count, 1, {}};
  copy.operands.push_back({old.now});
  program.instructions.push_back(std::move(copy));
}

Error ProgramBuilder::bindDims() {
  for (auto dim : cell.decls<rnn::DimDeclOp>()) {
    std::string name = dim.getSymName().str();
    auto bound = given.find(name);
    if (bound != given.end())
      sizes[name] = bound->second;
    else if (dim.getSize())
      sizes[name] = *dim.getSize();
    else
      return errorAt(dim, "the size of the dim '" + name + "' is not given");
    if (sizes[name] < 1)
      return interpreterError("the dim '" + name + "' is given the size " +
                              llvm::Twine(sizes[name]) + "; it is at least 1");
    if (dim.getSize() && sizes[name] != static_cast<int64_t>(*dim.getSize()))
      return errorAt(dim, "the dim '" + name + "' is fixed at " + llvm::Twine(*dim.getSize()) +
                              ", not " + llvm::Twine(sizes[name]));
  }
  for (auto& [name, size] : given)
    if (!sizes.count(name))
      return interpreterError("the cell '" + cell.getSymName() + "' has no dim '" + name + "'");
  return Error::success();
}

/// What an array of the type needs; the address is open.
ProgramBuilder::Location ProgramBuilder::placeOf(Type type) const {
  auto array = cast<rnn::ArrayType>(type);
  Location place{0, {}, array.isComplex() ? size_t(2) : size_t(1)};
  for (rnn::DimAttr dim : array.getDims())
    place.shape.push_back(dim.isFree() ? sizes.at(dim.getName().str()) : dim.getSize());
  return place;
}

llvm::Expected<size_t> ProgramBuilder::allocate(const Shape& shape) {
  std::optional<int64_t> count = 1;
  for (int64_t size : shape)
    count = count ? llvm::checkedMul(*count, size) : count;
  size_t base = program.memory.size();
  if (!count || static_cast<size_t>(*count) > kMaxNumbers - base)
    return interpreterError("the arrays of the cell '" + cell.getSymName() + "' have more than " +
                            llvm::Twine(kMaxNumbers) + " numbers; choose smaller dims");
  program.memory.resize(base + *count);
  return base;
}

Error ProgramBuilder::declare(Operation& op) {
  Interpreter::Declaration decl;
  decl.name = SymbolTable::getSymbolName(&op).str();
  decl.shape = placeOf(op.getAttrOfType<TypeAttr>("type").getValue()).numbers().shape;
  decl.role = isa<rnn::InputOp>(op)   ? Role::Input
              : isa<rnn::ParamOp>(op) ? Role::Param
              : isa<rnn::StateOp>(op) ? Role::State
                                      : Role::Output;
  if (auto state = dyn_cast<rnn::StateOp>(op)) {
    decl.fill = state.getInit().convertToDouble();
    decl.hidden = state.getHidden();
    decl.start = state.getStart().value_or("").str();
  }
  if (auto input = dyn_cast<rnn::InputOp>(op))
    decl.fill = input.getBefore().convertToDouble();
  return place(std::move(decl));
}

/// Memory for what is declared.
Error ProgramBuilder::place(Interpreter::Declaration decl) {
  Program::Place place;
  place.count = countOf(decl.shape);
  for (bool next : {false, true}) { // a state needs both, an output only what is written
    if (next ? decl.role < Role::State : decl.role == Role::Output)
      continue;
    auto base = allocate(decl.shape);
    if (!base)
      return base.takeError();
    (next ? place.next : place.now) = *base;
  }
  if (decl.role == Role::State)
    std::fill_n(program.memory.begin() + place.now, place.count, decl.fill);
  declared[decl.name] = program.declarations.size();
  program.declarations.push_back(std::move(decl));
  program.places.push_back(place);
  return Error::success();
}

llvm::Expected<ProgramBuilder::Location> ProgramBuilder::define(Operation& op) {
  Location place = placeOf(op.getResult(0).getType());
  auto base = allocate(place.numbers().shape);
  if (!base)
    return base.takeError();
  place.base = *base;
  return values[op.getResult(0)] = place;
}

/// NumPy's rule, from the right: an axis of size 1, or one that is absent, stays at element 0.
Program::Operand ProgramBuilder::broadcast(const Location& from, const Shape& to) const {
  Program::Operand operand{from.base, {}, 0, from.width};
  if (from.shape == to)
    return operand;
  size_t offset = to.size() - from.shape.size();
  operand.index.resize(countOf(to));
  for (size_t i = 0; i < operand.index.size(); ++i) {
    size_t rest = i, place = 0, stride = 1;
    for (size_t axis = to.size(); axis-- > offset;) {
      size_t size = from.shape[axis - offset];
      place += size == 1 ? 0 : rest % to[axis] * stride;
      rest /= to[axis];
      stride *= size;
    }
    operand.index[i] = place;
  }
  return operand;
}

Error ProgramBuilder::elementwise(Operation& op, Program::Code code, unsigned kind) {
  auto result = define(op);
  if (!result)
    return result.takeError();
  Program::Instruction instruction{code, kind, result->base, countOf(result->shape), 1, {}};
  for (Value operand : op.getOperands())
    instruction.operands.push_back(broadcast(values.at(operand), result->shape));
  instruction.isComplex = result->width == 2;
  program.instructions.push_back(std::move(instruction));
  return Error::success();
}

/// A read is the place itself: nothing to execute.
void ProgramBuilder::translateRead(Operation& op, StringRef name) {
  Location place = placeOf(op.getResult(0).getType());
  place.base = program.places[declared.lookup(name)].now;
  values[op.getResult(0)] = place;
}

/// All reads of one state find the same guess.
Error ProgramBuilder::translateUnknown(rnn::StateAtOp op) {
  auto [known, isNew] = guesses.try_emplace(op.getName());
  if (!isNew) {
    values[op.getResult()] = known->second;
    return Error::success();
  }
  auto guess = define(*op);
  if (!guess)
    return guess.takeError();
  guesses[op.getName()] = *guess;
  const Program::Place& place = program.places[declared.lookup(op.getName())];
  for (size_t i = 0; i < place.count; ++i)
    program.unknowns.push_back({place.now + i, place.next + i, guess->base + i});
  return Error::success();
}

Error ProgramBuilder::translateInput(rnn::InputAtOp op) {
  if (op.getBack() == 0) {
    translateRead(*op, op.getName());
    return Error::success();
  }
  auto place = define(*op);
  if (!place)
    return place.takeError();
  program.delayed.push_back(
      {declared.lookup(op.getName()), static_cast<int64_t>(op.getBack()), place->base});
  return Error::success();
}

Error ProgramBuilder::translateSet(Value value, StringRef name) {
  size_t index = declared.lookup(name);
  const Program::Place& place = program.places[index];
  Program::Instruction copy{Program::Code::Copy, 0, place.next, place.count, 1, {}};
  copy.operands.push_back(broadcast(values.at(value).numbers(), program.declarations[index].shape));
  program.instructions.push_back(std::move(copy));
  return Error::success();
}

/// [batch..., m, n] @ [batch..., n] or @ [batch..., n, p]; all rows of lhs @ [n].
Error ProgramBuilder::translateMatmul(rnn::MatmulOp op) {
  Location lhs = values.at(op.getLhs()), rhs = values.at(op.getRhs());
  auto result = define(*op);
  if (!result)
    return result.takeError();
  size_t rank = lhs.shape.size(), n = lhs.shape[rank - 1], count = countOf(result->shape);
  size_t p = op.isVector() ? 1 : rhs.shape[rank - 1];
  size_t m = rhs.shape.size() == 1 ? count : lhs.shape[rank - 2];
  Program::Instruction dot{Program::Code::Contract, 0, result->base, count, n, {}};
  Program::Operand left{lhs.base, {}, 1, lhs.width}, right{rhs.base, {}, p, rhs.width};
  for (size_t i = 0; i < count; ++i) {
    size_t batch = i / (m * p), row = i / p % m, column = i % p;
    left.index.push_back((batch * m + row) * n);
    right.index.push_back(batch * n * p + column);
  }
  dot.operands = {std::move(left), std::move(right)};
  dot.isComplex = result->width == 2;
  program.instructions.push_back(std::move(dot));
  return Error::success();
}

Error ProgramBuilder::translateReduce(rnn::ReduceOp op) {
  Location from = values.at(op.getOperand());
  auto result = define(*op);
  if (!result)
    return result.takeError();
  size_t inner = 1, terms = from.shape[op.getAxis()], count = countOf(result->shape);
  for (size_t axis = op.getAxis() + 1; axis < from.shape.size(); ++axis)
    inner *= from.shape[axis];
  rnn::BinaryKind combining = rnn::combining(op.getKind());
  Program::Code code = combining != rnn::BinaryKind::Add       ? Program::Code::Extreme
                       : op.getKind() == rnn::ReduceKind::Mean ? Program::Code::Mean
                                                               : Program::Code::Contract;
  Program::Instruction reduce{code, static_cast<unsigned>(combining), result->base, count, terms,
                              {}};
  Program::Operand operand{from.base, {}, inner, from.width};
  for (size_t i = 0; i < count; ++i)
    operand.index.push_back(i / inner * inner * terms + i % inner);
  reduce.operands = {std::move(operand)};
  reduce.isComplex = result->width == 2;
  program.instructions.push_back(std::move(reduce));
  return Error::success();
}

/// Re or im: every other number.
Error ProgramBuilder::translatePart(rnn::PartOp op) {
  Location from = values.at(op.getOperand());
  auto result = define(*op);
  if (!result)
    return result.takeError();
  Program::Instruction copy{Program::Code::Copy, 0, result->base, countOf(result->shape), 1, {}};
  size_t part = op.getKind() == rnn::PartKind::Re ? 0 : 1;
  copy.operands.push_back({from.base + part, {}, 0, from.width});
  program.instructions.push_back(std::move(copy));
  return Error::success();
}

/// The address that the element at `place` of the result of a slice, concat, transpose or expand
/// comes from.
size_t ProgramBuilder::movedFrom(Operation& op, std::vector<int64_t> place) const {
  Value operand = op.getOperand(0);
  if (auto slice = dyn_cast<rnn::SliceOp>(op)) {
    if (slice.getDrop())
      place.insert(place.begin() + slice.getAxis(), 0);
    place[slice.getAxis()] += slice.getFrom();
  } else if (auto concat = dyn_cast<rnn::ConcatOp>(op)) {
    int64_t& along = place[concat.getAxis()];
    for (Value part : concat.getOperands()) {
      operand = part;
      int64_t size = values.at(part).shape[concat.getAxis()];
      if (along < size)
        break;
      along -= size;
    }
  } else if (auto expand = dyn_cast<rnn::ExpandOp>(op)) {
    place.erase(place.begin() + expand.getAxis());
  } else {
    std::swap(place[place.size() - 1], place[place.size() - 2]);
  }
  const Location& from = values.at(operand);
  size_t offset = 0;
  for (size_t axis = 0; axis < from.shape.size(); ++axis)
    offset = offset * from.shape[axis] + place[axis];
  return from.base + offset * from.width;
}

Error ProgramBuilder::translateMovement(Operation& op) {
  auto result = define(op);
  if (!result)
    return result.takeError();
  size_t count = countOf(result->shape), width = result->width;
  Program::Instruction copy{Program::Code::Copy, 0, result->base, count * width, 1, {}};
  Program::Operand from;
  std::vector<int64_t> place(result->shape.size());
  for (size_t i = 0; i < count; ++i) {
    size_t rest = i;
    for (size_t axis = place.size(); axis-- > 0; rest /= result->shape[axis])
      place[axis] = rest % result->shape[axis];
    size_t first = movedFrom(op, place);
    for (size_t number = 0; number < width; ++number)
      from.index.push_back(first + number);
  }
  copy.operands = {std::move(from)};
  program.instructions.push_back(std::move(copy));
  return Error::success();
}

Error ProgramBuilder::translate(Operation& op) {
  using Code = Program::Code;
  return llvm::TypeSwitch<Operation&, Error>(op)
      .Case([&](rnn::StateAtOp read) -> Error {
        if (read.getBack() == 0)
          return translateUnknown(read);
        bool shifted = read.getBack() > 1;
        translateRead(op, shifted ? rnn::shiftName(read.getName(), read.getBack() - 1)
                                  : read.getName().str());
        return Error::success();
      })
      .Case([&](rnn::InputAtOp read) { return translateInput(read); })
      .Case([&](rnn::ParamValueOp read) {
        translateRead(op, read.getName());
        return Error::success();
      })
      .Case([&](rnn::SetStateOp set) { return translateSet(set.getValue(), set.getName()); })
      .Case([&](rnn::SetOutputOp set) { return translateSet(set.getValue(), set.getName()); })
      .Case([&](rnn::ConstantOp constant) -> Error {
        auto place = define(op);
        if (!place)
          return place.takeError();
        std::fill_n(program.memory.begin() + place->base, countOf(place->shape),
                    constant.getValue().convertToDouble());
        return Error::success();
      })
      .Case([&](rnn::UnaryOp unary) {
        return elementwise(op, Code::Unary, static_cast<unsigned>(unary.getKind()));
      })
      .Case([&](rnn::BinaryOp binary) {
        return elementwise(op, Code::Binary, static_cast<unsigned>(binary.getKind()));
      })
      .Case([&](rnn::CompareOp compare) {
        return elementwise(op, Code::Compare, static_cast<unsigned>(compare.getKind()));
      })
      .Case([&](rnn::LogicOp logic) {
        return elementwise(op, logic.getKind() == rnn::LogicKind::And ? Code::And : Code::Or);
      })
      .Case([&](rnn::NotOp) { return elementwise(op, Code::Not); })
      .Case([&](rnn::WhereOp) { return elementwise(op, Code::Where); })
      .Case([&](rnn::ComplexOp) { return elementwise(op, Code::Complex); })
      .Case([&](rnn::PartOp part) { return translatePart(part); })
      .Case([&](rnn::MatmulOp matmul) { return translateMatmul(matmul); })
      .Case([&](rnn::ReduceOp reduce) { return translateReduce(reduce); })
      .Case<rnn::SliceOp, rnn::ConcatOp, rnn::TransposeOp, rnn::ExpandOp>(
          [&](Operation*) { return translateMovement(op); })
      .Default([](Operation& other) {
        return errorAt(&other,
                       "the interpreter has no rule for '" + other.getName().getStringRef() + "'");
      });
}

} // namespace

Error rnnc::buildProgram(rnn::CellOp cell, const std::map<std::string, int64_t>& dims,
                         Program& program) {
  return ProgramBuilder(cell, dims, program).build();
}
