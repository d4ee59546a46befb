//===- Declarations.cpp - names, sizes, shapes, starts ----------------------------------------===//

#include "Frontend/CellBuilder.h"
#include "Frontend/Functions.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;
using rnn::DimAttr;

namespace {
constexpr double kMaxSize = 1e9;
constexpr double kMaxElements = 1LL << 40; // an offset in bytes stays far from 2^63
} // namespace

bool rnnc::evaluateDeclared(const Declaration& decl, const FrontendOptions& options, Scope& scope,
                            rnnc::DiagnosticEngine& diagnostics, Declared& declared) {
  std::string id = decl.name.str(), given;
  bool isDim = decl.kind == Declaration::DimDecl;
  declared.constant = -1;
  if (auto dim = options.dims.find(id); isDim && dim != options.dims.end()) {
    declared.constant = static_cast<double>(dim->second);
    given = "--dim " + id + "=" + std::to_string(dim->second) + ": ";
  } else if (auto value = options.consts.find(id); !isDim && value != options.consts.end()) {
    declared.constant = value->second;
  } else if (decl.value) {
    std::optional<double> value = evaluateConstant(*decl.value, scope, diagnostics);
    if (!value)
      return false;
    declared.constant = *value;
  } else {
    return true;
  }
  double size = declared.constant;
  if (!isDim || (size >= 1 && size == std::floor(size) && size <= kMaxSize))
    return true;
  reportAt(diagnostics, decl.span, "RNN0201",
           given + "the size of '" + id + "' is not a whole number from 1 to 1000000000");
  return false;
}

bool rnnc::checkFree(const Declaration& decl, Scope& scope, rnnc::DiagnosticEngine& diagnostics) {
  std::string id = "'" + decl.name.str() + "'";
  if (scope.find(decl.name)) {
    reportAt(diagnostics, decl.span, "RNN0118", id + " is declared twice");
    return false;
  }
  if (!findBuiltin(decl.name) && !scope.findFunction(decl.name))
    return true;
  reportAt(diagnostics, decl.span, "RNN0118", id + " is a function",
           takenHint(decl.name, decl.span, scope, diagnostics));
  return false;
}

bool CellBuilder::shape(const Declaration& decl, Declared& into) {
  SmallVector<DimAttr> dims;
  MLIRContext* context = builder.getContext();
  double elements = 1;
  for (const Dim& dim : decl.shape) {
    if (dim.name.empty()) {
      dims.push_back(DimAttr::get(context, StringAttr::get(context, ""), dim.size));
      elements *= static_cast<double>(dim.size);
      continue;
    }
    Declared* found = scope.find(dim.name);
    if (found && found->decl->kind == Declaration::DimDecl) {
      found->used = true;
      if (found->broken)
        return false;
      int64_t size = found->constant > 0 ? static_cast<int64_t>(found->constant) : DimAttr::kFree;
      dims.push_back(DimAttr::get(context, StringAttr::get(context, dim.name), size));
      elements *= std::max(found->constant, 1.0);
      continue;
    }
    if (!found && scope.isLost(dim.name))
      return false;
    std::string hint = didYouMean(dim.name, scope.names([](const Declared& declared) {
      return declared.decl->kind == Declaration::DimDecl;
    }));
    if (!found && scope.isAnnounced(dim.name))
      hint = "it is declared below; move it up";
    else if (hint.empty())
      hint = "declare it above: dim " + dim.name.str();
    error(dim.span, "RNN0208", "'" + dim.name.str() + "' is not a dim", hint);
    return false;
  }
  if (elements > kMaxElements) {
    error(decl.span, "RNN0201", "'" + decl.name.str() + "' has more than 2^40 elements");
    return false;
  }
  into.type = ArrayType::get(context, dims, decl.complex ? rnn::Kind::Complex : rnn::Kind::Real);
  return true;
}

/// A learned initial state.
bool CellBuilder::startFrom(Declared& param, const Node& at, Declared& into) {
  param.used = true;
  if (param.broken)
    return false;
  if (param.type.getKind() != into.type.getKind()) {
    const char *own = into.type.isComplex() ? "complex" : "real",
               *other = into.type.isComplex() ? "real" : "complex";
    error(at.span, "RNN0210",
          "'" + into.decl->name.str() + "' is " + own + ", but '" + at.text.str() +
              "', its value before the first step, is " + other,
          "declare both alike");
    return false;
  }
  into.start = param.decl->name;
  if (rnn::broadcastsTo(param.type.getDims(), into.type.getDims()))
    return true;
  error(at.span, "RNN0205",
        "'" + into.decl->name.str() + "' is " + shapeText(into.type) + ", but '" + at.text.str() +
            "', its value before the first step, is " + shapeText(param.type));
  return false;
}

/// The value of a state or an input before the first step.
bool CellBuilder::start(const Declaration& decl, Declared& into) {
  if (!decl.value)
    return true;
  const Expr& value = *decl.value;
  if (decl.kind == Declaration::State && value.size() == 1 && value[0].op == Node::Name)
    if (Declared* param = scope.find(value[0].text);
        param && param->decl->kind == Declaration::Param)
      return startFrom(*param, value[0], into);
  auto [known, fresh] = starts.try_emplace(&value);
  if (fresh)
    known->second = evaluateConstant(value, scope, diagnostics);
  into.constant = known->second.value_or(0);
  if (decl.complex && into.constant != 0) {
    std::string id = decl.name.str();
    if (decl.kind == Declaration::State)
      error(decl.span, "RNN0210", "'" + id + "' is complex and begins at 0 or as a param",
            "declare a complex param for it: state " + id + " : complex [...] = " + id + "0");
    else
      error(decl.span, "RNN0210", "'" + id + "' is complex and is 0 before the first step",
            "leave out the '=' and what follows");
    return false;
  }
  return known->second.has_value();
}

void CellBuilder::emit(const Declaration& decl, const Declared& declared) {
  Location loc = equations.location(decl.span);
  StringAttr name = builder.getStringAttr(decl.name);
  TypeAttr type = declared.type ? TypeAttr::get(declared.type) : TypeAttr();
  switch (decl.kind) {
  case Declaration::DimDecl:
    rnn::DimDeclOp::create(builder, loc, name,
                           declared.constant > 0
                               ? builder.getI64IntegerAttr(static_cast<int64_t>(declared.constant))
                               : IntegerAttr());
    break;
  case Declaration::Input:
    rnn::InputOp::create(builder, loc, name, type, builder.getF64FloatAttr(declared.constant));
    break;
  case Declaration::Param:
    rnn::ParamOp::create(builder, loc, name, type);
    break;
  case Declaration::Output:
    rnn::OutputOp::create(builder, loc, name, type);
    break;
  case Declaration::State:
    rnn::StateOp::create(builder, loc, name, type, builder.getF64FloatAttr(declared.constant),
                         decl.hidden ? builder.getUnitAttr() : UnitAttr(),
                         declared.start.empty()
                             ? FlatSymbolRefAttr()
                             : FlatSymbolRefAttr::get(builder.getContext(), declared.start));
    break;
  case Declaration::Const:
    break;
  }
}

void CellBuilder::declare(const Declaration& decl) {
  if (!checkFree(decl, scope, diagnostics)) {
    scope.lost.insert(decl.name); // its uses are silent
    return;
  }
  Declared declared{&decl, {}, 0, false, decl.broken};
  if (!declared.broken) {
    bool scalar = decl.kind == Declaration::DimDecl || decl.kind == Declaration::Const;
    declared.broken = scalar ? !evaluateDeclared(decl, options, scope, diagnostics, declared)
                             : !shape(decl, declared) || !start(decl, declared);
  }
  if (!declared.broken)
    emit(decl, declared);
  scope.declared[decl.name] = declared;
}
