// Printed units of CUDA, as a module's table lists them.
#pragma once

#include "rnn/module.h"
#include "rnnc/Cuda.h"

#include <deque>
#include <vector>

namespace rnnc::tool {

CudaSchedule scheduleOf(rnn_schedule schedule);

/// Units in the table's types; everything stays where it is until this goes.
class CudaUnits {
public:
  CudaUnits() = default;
  CudaUnits(const CudaUnits&) = delete;

  /// What the unit was printed for: architecture, compute type and schedule.
  const rnn_cuda_unit* add(CudaUnit text, int32_t architecture, rnn_dtype compute,
                           rnn_schedule schedule);
  /// All of them, for a table that is to be written.
  rnn_cuda_desc describe();

private:
  struct Printed {
    CudaUnit text;
    std::vector<rnn_cuda_entry> entries;
    rnn_cuda_unit unit{};
  };
  std::deque<Printed> printed;
  std::vector<rnn_cuda_unit> list;
};

} // namespace rnnc::tool
