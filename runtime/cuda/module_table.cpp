#include "cuda/module_table.hpp"

#include "core/status.hpp"

namespace rnnc::runtime::cuda {

const rnn_cuda_desc* cudaOf(const rnn_module_table& table) {
  const bool isThere = table.size >= smallestTable + sizeof(table.cuda);
  return isThere ? table.cuda : nullptr;
}

void validate(const rnn_module_table& table) {
  const rnn_cuda_desc* cuda = cudaOf(table);
  if (!cuda) {
    return;
  }
  if (cuda->size < sizeof(rnn_cuda_desc)) {
    invalid("module {}: `cuda`: size is {}, this runtime needs {}", table.cell, cuda->size,
            sizeof(rnn_cuda_desc));
  }
  if (cuda->units && !cuda->unit) {
    invalid("module {}: `cuda`: `unit` is null, but there are {}", table.cell, cuda->units);
  }
  for (uint32_t i = 0; i < cuda->units; ++i) {
    const rnn_cuda_unit& unit = cuda->unit[i];
    if (!unit.name || !unit.text || !unit.entry || unit.entries != table.systems) {
      invalid(
          "module {}: `cuda`: unit {} lacks a name, its text, or an entry for each of {} systems",
          table.cell, i, table.systems);
    }
    for (uint32_t e = 0; e < unit.entries; ++e) {
      if (!unit.entry[e].name || !*unit.entry[e].name) {
        invalid("module {}: `cuda`: an entry of unit {} has no name", table.cell, unit.name);
      }
    }
  }
}

} // namespace rnnc::runtime::cuda
