// What `rnnc build` wrote: one cell for several instruction sets.
#pragma once

#include "rnn/rnn.h"

#include <string>

namespace rnnc::runtime {

/// The x86-64 psABI's level of this processor, 1 to 4; 0 on other machines.
int processorLevel();

/// Throws where `bundle` breaks a rule of module.h; `what` names the argument.
void validateBundle(const rnn_module_bundle* bundle, const char* what);

/// The last variant that a processor of `level` runs. Throws RNN_UNSUPPORTED where there is none.
const rnn_module_table* chooseVariant(const rnn_module_bundle& bundle, int level);

} // namespace rnnc::runtime
