// What training a model takes beside its activations: the formulas of mixed precision, of
// optimizers, and of ZeRO (Rajbhandari et al. 2020), which cuts each of them over N ranks.
#pragma once

#include "options.h"

#include <cstdint>

namespace rnnc::tool {

/// Of one rank, in bytes.
struct ModelMemory {
  double parameters = 0, gradients = 0, master = 0, optimizer = 0;
  double buffers = 0; ///< of communication
  double moved = 0;   ///< sent by a rank in one step
  double sum() const { return parameters + gradients + master + optimizer + buffers; }
};

/// `count` parameters in `layers` layers. f32: parameters and gradients of 4 bytes. Mixed: of 2
/// bytes, and master weights of 4. Adam: two moments of 4 bytes a parameter; SGD: nothing.
/// Stage 0 has everything on every rank and sums gradients in a ring; 1 cuts optimizer and master
/// weights, 2 gradients too, 3 parameters too. With p and g bytes of parameters and gradients and
/// f = (N - 1) / N a rank sends 2fg in stage 0, fg + fp in 1 and 2 (it scatters gradients and
/// gathers parameters), fg + 2fp in 3 (it gathers them for forward and for backward). Buffers hold
/// a layer's gradients, in stage 3 also two layers' parameters: one in use, one on its way.
ModelMemory modelMemory(double count, int64_t layers, const Options& options, int stage);

} // namespace rnnc::tool
