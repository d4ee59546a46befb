//===- Polynomial.cpp - rnn::polynomial on the host ------------------------------------------===//

#include "rnn/math.cuh"

#include "Table.h"

#include <cstdio>
#include <cstdlib>

using namespace device_math;

std::span<const Maps> device_math::polynomial() { return tableOf<rnn::polynomial>(); }

const Maps& device_math::mapsOf(std::span<const Maps> list, std::string_view name) {
  for (const Maps& maps : list)
    if (name == maps.name)
      return maps;
  std::fprintf(stderr, "the device has no %.*s\n", static_cast<int>(name.size()), name.data());
  std::abort();
}
