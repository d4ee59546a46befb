//===- CellBuilder.cpp - the equations of a cell ----------------------------------------------===//

#include "Frontend/CellBuilder.h"
#include "Frontend/Functions.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;
using rnn::DimAttr;

/// Gives the op that makes a value its user's name.
static void nameValue(Value value, StringRef name) {
  Operation* op = value.getDefiningOp();
  if (op && !isa<NameLoc>(op->getLoc()) &&
      !isa<rnn::ConstantOp, rnn::StateAtOp, rnn::InputAtOp, rnn::ParamValueOp>(op))
    op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), name), op->getLoc()));
}

/// Whether the left side can be defined by an equation, and by this one.
bool CellBuilder::checkLeft(const Equation& eq, Declared* declared) {
  std::string id = eq.name.str();
  bool written = declared && isWritten(*declared->decl);
  if (equations.isDefined(eq.name)) {
    error(eq.span, "RNN0118", "'" + id + "' has two equations");
  } else if (eq.atTime && !written) {
    std::string hint = didYouMean(
        eq.name, scope.names([](const Declared& other) { return isWritten(*other.decl); }));
    if (declared)
      hint = "it is given from outside";
    else if (hint.empty())
      hint = "declare it, state " + id + " : [...], or write " + id +
             " = ... for a value of this step";
    if (declared || !scope.isLost(eq.name))
      error(eq.span, "RNN0119", "'" + id + "' is not a state or an output", hint);
  } else if (!eq.atTime && declared) {
    error(eq.span, "RNN0119", "'" + id + "' is declared and cannot be a value of the step",
          written ? "write " + id + "[t] = ..." : "choose another name");
  } else if (!eq.atTime && (findBuiltin(eq.name) || scope.findFunction(eq.name))) {
    error(eq.span, "RNN0118", "'" + id + "' is a function",
          takenHint(eq.name, eq.span, scope, diagnostics));
  } else {
    return true;
  }
  return false;
}

void CellBuilder::equation(size_t index) {
  const Equation& eq = cell.equations[index];
  Value value = eq.broken ? Value() : equations.build(eq.value, index);
  Declared* declared = scope.find(eq.name);
  // The name is known even where the equation is wrong, so that its uses give no second message.
  if (!checkLeft(eq, declared)) {
    if (!equations.isDefined(eq.name))
      equations.define(eq.name, {}, eq.atTime);
    return;
  }
  if (value && eq.atTime && !declared->broken && declared->type.isComplex() &&
      cast<ArrayType>(value.getType()).getKind() == rnn::Kind::Real)
    value = equations.promote(eq.span, value);
  equations.define(eq.name, value, eq.atTime);
  if (!value || (declared && declared->broken))
    return;
  nameValue(value, eq.name);
  if (eq.atTime)
    set(eq, *declared, value);
}

/// A state or an output gets its new value, which may broadcast to the declared shape.
void CellBuilder::set(const Equation& eq, Declared& declared, Value value) {
  std::string id = "'" + eq.name.str() + "'";
  auto type = cast<ArrayType>(value.getType());
  if (type.isBool())
    return error(eq.span, "RNN0204", id + " is a number, its equation gives a truth value",
                 "choose between numbers with where(condition, a, b)");
  if (type.isComplex() && !declared.type.isComplex())
    return error(eq.span, "RNN0210", id + " is real, its equation gives a complex number",
                 "declare it complex, or take re(z), im(z) or abs(z)");
  FailureOr<SmallVector<DimAttr>> dims = rnn::broadcast(type.getDims(), declared.type.getDims());
  auto matches = [](DimAttr a, DimAttr b) { return a.matches(b); };
  if (failed(dims) || !llvm::equal(*dims, declared.type.getDims(), matches))
    return error(eq.span, "RNN0205",
                 id + " is " + shapeText(declared.type) + " but its equation gives " +
                     shapeText(type));
  Location loc = equations.location(eq.span);
  if (declared.decl->kind == Declaration::Output) {
    rnn::SetOutputOp::create(builder, loc, eq.name, value);
    return;
  }
  auto same = value.getDefiningOp<rnn::StateAtOp>();
  bool isOwn = same && same.getName() == eq.name;
  if (isOwn && same.getBack() == 0)
    return error(eq.span, "RNN0125", id + " is defined through itself",
                 "this equation holds for every value; write " + eq.name.str() +
                     "[t-1] for the previous one");
  if (isOwn)
    warn(eq.span, "RNN0902", "the state " + id + " never changes",
         "a param is what stays the same");
  rnn::SetStateOp::create(builder, loc, eq.name, value);
}

/// Every state and output has its equation, and there is a state at all. What an unclosed cell
/// lacks may be in what it lacks.
void CellBuilder::checkStates() {
  bool any = false;
  for (const Declaration& decl : cell.declarations) {
    any |= decl.kind == Declaration::State;
    std::string id = decl.name.str();
    if (isWritten(decl) && !decl.broken && !cell.unclosed && !equations.isDefined(decl.name) &&
        !scope.isLost(decl.name))
      error(decl.span, "RNN0120",
            std::string("the ") + (decl.kind == Declaration::State ? "state" : "output") + " '" +
                id + "' has no equation",
            "write " + id + "[t] = ...");
  }
  if (!any && scope.lost.empty() && !cell.unclosed)
    error(cell.span, "RNN0126", "the cell has no state: nothing is carried from step to step",
          "declare one, state h : [...] = 0, and give it an equation h[t] = ...");
}

void CellBuilder::warnUnused() {
  for (const Declaration& decl : cell.declarations) {
    if (decl.kind == Declaration::Output || (decl.kind == Declaration::State && !decl.hidden))
      continue;
    if (!scope.find(decl.name)->used)
      warn(decl.span, "RNN0901", "'" + decl.name.str() + "' is never used",
           decl.kind == Declaration::State ? "it is hidden, and no other equation reads it" : "");
  }
  for (const Equation& eq : cell.equations)
    if (!eq.atTime && !equations.isUsed(eq.name))
      warn(eq.span, "RNN0901", "'" + eq.name.str() + "' is never used");
  warnUnusedFunctions(cell.functions, scope, diagnostics);
}

/// Everything behind the front end looks at all declarations for each of them now and then.
bool CellBuilder::checkCount() {
  constexpr size_t kMostDeclared = 4096;
  size_t count = 0;
  for (const Declaration& decl : cell.declarations)
    if (decl.kind != Declaration::Const && ++count > kMostDeclared) {
      error(decl.span, "RNN0011",
            "a cell has at most " + std::to_string(kMostDeclared) +
                " dims, inputs, params, states and outputs",
            "give one of them another axis instead");
      return false;
    }
  return true;
}

void CellBuilder::build(bool warn) {
  if (!checkCount())
    return;

  OpBuilder::InsertionGuard guard(builder);
  auto op =
      rnn::CellOp::create(builder, equations.location(cell.span), builder.getStringAttr(cell.name),
                          ArrayAttr(), ArrayAttr(), FloatAttr(), IntegerAttr(), IntegerAttr());
  builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
  for (const Declaration& decl : cell.declarations)
    scope.announced.insert(decl.name);
  for (const Equation& eq : cell.equations)
    scope.announced.insert(eq.name);
  for (StringRef name : cell.lost)
    scope.lost.insert(name);
  for (const Declaration& decl : cell.declarations)
    if (!diagnostics.full())
      declare(decl);
  declareFunctions(cell.functions, scope, diagnostics);
  auto step = rnn::StepOp::create(builder, equations.location(cell.span));
  builder.setInsertionPointToStart(&step.getBody().emplaceBlock());
  for (size_t i = 0; i < cell.equations.size() && !diagnostics.full(); ++i)
    equation(i);
  if (!diagnostics.full())
    checkStates();
  takeHints(op);
  takeSettings(op);
  if (warn && !diagnostics.errors()) // an error may hide a use
    warnUnused();
}
