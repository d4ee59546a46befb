#pragma once
#include "mlir/IR/PatternMatch.h"
namespace rnnc { struct VectorMathOptions { bool fma = true; };
inline void populateVectorMathPatterns(mlir::RewritePatternSet&, VectorMathOptions) {} }
