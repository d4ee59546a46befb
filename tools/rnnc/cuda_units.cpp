#include "cuda_units.h"

using namespace rnnc;
using namespace rnnc::tool;

CudaSchedule rnnc::tool::scheduleOf(rnn_schedule schedule) {
  return schedule == RNN_SCHEDULE_SEQUENTIAL ? CudaSchedule::Sequential
         : schedule == RNN_SCHEDULE_PARALLEL ? CudaSchedule::Parallel
                                             : CudaSchedule::Auto;
}

const rnn_cuda_unit* CudaUnits::add(CudaUnit text, int32_t architecture, rnn_dtype compute,
                                    rnn_schedule schedule) {
  Printed& unit = printed.emplace_back();
  unit.text = std::move(text);
  for (const CudaEntry& entry : unit.text.entries)
    unit.entries.push_back({entry.name.c_str(), entry.lanes, entry.chunks, entry.steps,
                            entry.sharedBytes, entry.argumentBytes});
  unit.unit = {unit.text.name.c_str(),
               unit.text.text.c_str(),
               architecture,
               compute,
               schedule,
               static_cast<uint32_t>(unit.entries.size()),
               unit.entries.data()};
  return &unit.unit;
}

rnn_cuda_desc CudaUnits::describe() {
  list.clear();
  for (const Printed& unit : printed)
    list.push_back(unit.unit);
  rnn_cuda_desc desc{};
  desc.size = sizeof(desc);
  desc.units = static_cast<uint32_t>(list.size());
  desc.unit = list.data();
  return desc;
}
