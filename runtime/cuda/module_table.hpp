// The CUDA part of a module's table.
#pragma once

#include "rnn/module.h"

#include <cstddef>

namespace rnnc::runtime::cuda {

/// Of a table that was built before it had this part.
inline constexpr size_t smallestTable = offsetof(rnn_module_table, cuda);

/// Null where there is none, or where the table was built before there was.
const rnn_cuda_desc* cudaOf(const rnn_module_table& table);

/// Throws where it breaks a rule of module.h; the rest of the table is fine.
void validate(const rnn_module_table& table);

} // namespace rnnc::runtime::cuda
