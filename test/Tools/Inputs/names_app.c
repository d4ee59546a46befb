/* Uses everything that a header declares. */
#include "names.h"

rnn_status everything(rnn_context* context, Names_args* args);
rnn_status everything(rnn_context* context, Names_args* args) {
  rnn_module* module = NULL;
  rnn_plan* plan = NULL;
  Names_sizes sizes;
  memset(&sizes, 0, sizeof(sizes));
  sizes.time_ = 3;
  args->new_.data = NULL;
  return (rnn_status)(Names_module(context, &module) | Names_plan(module, &sizes, NULL, &plan) |
                      Names_plan_args(plan, args) | Names_forward(plan, args, NULL, NULL, NULL) |
                      Names_state_init(plan, NULL, args) | Names_step(plan, NULL, args, NULL) |
                      Names_steps(plan, NULL, args, NULL, NULL, NULL));
}
