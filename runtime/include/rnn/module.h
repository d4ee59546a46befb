/*===- module.h - what a compiled cell looks like to the runtime --------------------------------===
 *
 * The compiler fills one rnn_module_table a cell; the runtime reads it, whether it was linked,
 * loaded or made in this process. Plain C, no types of the compiler.
 *
 * Words: a *lane* is one independent recurrence (batch element x element of the lane axes); a
 * *column* is one place in a vector of `width` places, and holds a lane, or one chunk of a lane.
 *===------------------------------------------------------------------------------------------===*/
#ifndef RNN_MODULE_H
#define RNN_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RNN_ABI_VERSION 2u
#define RNN_MAX_RANK 6

typedef enum rnn_dtype { RNN_F32 = 0, RNN_F64 = 1, RNN_BF16 = 2, RNN_F16 = 3 } rnn_dtype;

typedef enum rnn_role {
  RNN_ROLE_INPUT = 0,  /* (batch, time, dims...) */
  RNN_ROLE_PARAM = 1,  /* (dims...) */
  RNN_ROLE_STATE = 2,  /* (batch, time, dims...) as a result, (batch, dims...) before and after */
  RNN_ROLE_OUTPUT = 3, /* (batch, time, dims...) */
} rnn_role;

typedef struct rnn_tensor_desc {
  const char* name;
  rnn_role role;
  uint32_t rank; /* of `dims`: without batch and time */
  const char* const* dims;
  const int64_t* sizes; /* -1: bound by the plan */
  double fill;          /* the value before the first step, of a state or a delayed input */
  uint32_t hidden;      /* a state that no caller sees as a sequence */
} rnn_tensor_desc;

/* One scalar of a lane: the element of `tensor` whose index along axis a is the lane's index along
 * the system's lane axis lane_axis[a], or at[a] where lane_axis[a] is -1. In a dense system at[a]
 * may be RNN_EVERY: the slot then stands for every element along the axis, row-major. */
#define RNN_EVERY (-1)

typedef struct rnn_slot {
  uint32_t tensor;
  uint32_t back; /* steps ago: 0 for x[t], 2 for x[t-2]; inputs only */
  int32_t lane_axis[RNN_MAX_RANK];
  int64_t at[RNN_MAX_RANK];
} rnn_slot;

/* Runs the recurrence of `width` columns for `steps` steps. Every vector below is `width`
 * contiguous numbers of the compute type; none needs more than the alignment of one number.
 * Reads and writes nothing else, allocates nothing, keeps the floating-point environment. */
typedef struct rnn_shoot_args {
  int64_t steps;
  const void* const* inputs;    /* [inputs] the vector of the first step */
  const int64_t* input_strides; /* [inputs] numbers from one step's vector to the next one's */
  const void* params;           /* [params][width] */
  void* state;                  /* [states][width], in: start states; out: end states */
  void* carry;          /* [carry][width], out: product of the Jacobians of all steps, latest
                           leftmost; the identity for no steps. Only shoot_jacobian */
  void* const* outputs; /* [states + outputs] where the first step's vector goes: every new
                           state, then every output. Never null: a result nobody wants gets
                           one vector and stride 0 */
  const int64_t* output_strides; /* [states + outputs] */
  void* finite;                  /* [width], out: 0 where every state of every step was finite, NaN
                                    elsewhere */
  /* Dense systems only. */
  const int64_t* block_sizes; /* [block_rank] */
  const void* const* shared;  /* [params without a lane axis] packed row-major, one number an
                                 element for all lanes; they are not in `params` */
  void* scratch;              /* [states + elements of the temporaries][width] */
  /* Systems with implicit steps only. */
  int64_t* unsolved; /* [width], out: the first step (from 0) whose implicit equation found no
                        solution; -1: none. The step goes on with the best point found. */
} rnn_shoot_args;

typedef void (*rnn_shoot_fn)(const rnn_shoot_args*);

/* The same step code at one vector width. */
typedef struct rnn_cpu_kernel {
  rnn_dtype compute; /* RNN_F32 or RNN_F64 */
  uint32_t width;
  rnn_shoot_fn shoot;          /* null: ask `resolve` */
  rnn_shoot_fn shoot_jacobian; /* null: ask `resolve` */
} rnn_cpu_kernel;

/* Rough cost of one step of one vector of the narrowest kernel, from the IR and the target's table,
 * in nanoseconds: what the cost model needs. A wider kernel counts as several such vectors in
 * flight. 0: unknown. In a dense system: of one element of its params. */
typedef struct rnn_cost {
  double step_latency;        /* the dependent chain through the state */
  double step_throughput;     /* all of it, when enough columns are in flight */
  double jacobian_throughput; /* what the Jacobian and its product add */
} rnn_cost;

/* An array that a dense step needs for itself. */
typedef struct rnn_temporary {
  uint32_t rank;
  uint32_t dim[RNN_MAX_RANK]; /* block dims, by number */
} rnn_temporary;

typedef struct rnn_system_desc {
  const char* name;
  uint32_t lane_rank;
  const char* const* lane_axes; /* names; sizes come with the plan */
  const int64_t* lane_sizes;    /* -1: bound by the plan */
  uint32_t states, inputs, params, outputs;
  const rnn_slot* state_slots;
  const rnn_slot* input_slots;
  const rnn_slot* param_slots;
  const rnn_slot* output_slots;
  /* (row, column) of each number of the carry, row-major. The pattern is reflexive and transitively
   * closed: a product of two such matrices has it again. Empty: the system is sequential only. */
  uint32_t carry;
  const uint32_t* carry_index; /* [carry][2] */
  uint32_t linear;             /* the Jacobian depends on no state */
  uint32_t implicit;           /* kernels solve an implicit step, and write `unsolved` */
  rnn_cost cost;
  uint32_t kernels;
  const rnn_cpu_kernel* kernel; /* by compute type, then by growing width */
  /* A dense system has block dims, loops over them, and no carry. `states` and the other counts are
   * those of the slots; sizes, and with them the number of scalars, come with the plan. */
  uint32_t block_rank; /* 0: every slot is one scalar */
  const char* const* block_dims;
  const int64_t* block_sizes; /* -1: bound by the plan */
  uint32_t temporaries;
  const rnn_temporary* temporary;
} rnn_system_desc;

typedef struct rnn_module_table {
  uint32_t abi_version; /* RNN_ABI_VERSION */
  uint32_t size;        /* sizeof(rnn_module_table) of the writer */
  const char* cell;
  uint32_t tensors;
  const rnn_tensor_desc* tensor;
  uint32_t systems;
  const rnn_system_desc* system;
  /* Called while a plan is made, for a kernel whose pointer is null: compiles it. Null: every
   * kernel is there. Returns null on failure. Thread-safe. */
  rnn_shoot_fn (*resolve)(void* context, uint32_t system, uint32_t kernel, uint32_t with_jacobian);
  void* resolve_context;
} rnn_module_table;

#ifdef __cplusplus
}
#endif
#endif
