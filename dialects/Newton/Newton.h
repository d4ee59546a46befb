//===- Newton.h - what is solved -------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Newton/Newton_dialect.h.inc"
#include "Newton/Newton_enum.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Newton/Newton_attrdef.h.inc"

#define GET_OP_CLASSES
#include "Newton/Newton_op.h.inc"
