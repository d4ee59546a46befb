// Arrays from --input files, matched with the tensors of a module.
#pragma once

#include "data.h"

namespace rnnc::tool {

/// Arrays by tensor of the module, as they are in the files: no dtype, no shape is checked yet
/// beyond what sound needs. kFine, or the status after a message.
int readInputs(const Options& options, const Console& console, const rnn_module_table& table,
               std::map<uint32_t, Bound>& given, std::optional<int>& sampleRate);

/// The tensor of that name which a caller may give: an input, a param or a state.
std::optional<uint32_t> findGivable(const rnn_module_table& table, std::string_view name);

/// "'x_y' is no input, param or state of ParaGRU", with what it has, or what was meant.
int unknownTensor(const Console& console, const rnn_module_table& table, std::string_view name,
                  const std::string& where);

} // namespace rnnc::tool
