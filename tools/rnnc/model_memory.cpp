#include "model_memory.h"

#include <cmath>

using namespace rnnc::tool;

ModelMemory rnnc::tool::modelMemory(double count, int64_t layers, const Options& options,
                                    int stage) {
  const bool mixed = options.precision == Precision::Mixed;
  const double ranks = static_cast<double>(options.ranks);
  const double each = mixed ? 2 : 4;
  auto share = [&](double bytes, bool isCut) { return isCut ? std::ceil(bytes / ranks) : bytes; };
  const double p = each * count, g = each * count;
  ModelMemory memory;
  memory.parameters = share(p, stage >= 3);
  memory.gradients = share(g, stage >= 2);
  memory.master = share(mixed ? 4 * count : 0, stage >= 1);
  memory.optimizer = share(options.optimizer == Optimizer::Adam ? 8 * count : 0, stage >= 1);
  if (options.ranks == 1)
    return memory;
  const double f = (ranks - 1) / ranks, l = static_cast<double>(layers);
  memory.buffers = std::ceil(g / l) + (stage >= 3 ? 2 * std::ceil(p / l) : 0);
  memory.moved = stage == 0 ? 2 * f * g : stage < 3 ? f * (g + p) : f * (g + 2 * p);
  return memory;
}
