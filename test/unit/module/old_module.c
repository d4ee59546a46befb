// What a later rnnc might write.
#include "rnn/module.h"

const rnn_module_bundle rnn_bundle = {RNN_ABI_VERSION + 1, sizeof(rnn_module_bundle), "Later", "{}", 0, 0};
