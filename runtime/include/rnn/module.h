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

#define RNN_ABI_VERSION 3u
#define RNN_MAX_RANK 6

/* Enumerations are ints, so that any value of a caller's may be looked at and refused. In C an
 * enumeration is as large before C23 too. */
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
#define RNN_ENUM_BASE : int
#else
#define RNN_ENUM_BASE
#endif

typedef enum rnn_dtype RNN_ENUM_BASE {
  RNN_F32 = 0,
  RNN_F64 = 1,
  RNN_BF16 = 2,
  RNN_F16 = 3,
  RNN_U8 = 4, /* masks: one byte an element, 0 or not */
} rnn_dtype;

typedef enum rnn_schedule RNN_ENUM_BASE { RNN_SCHEDULE_AUTO, RNN_SCHEDULE_SEQUENTIAL, RNN_SCHEDULE_PARALLEL } rnn_schedule;

typedef enum rnn_role RNN_ENUM_BASE {
  RNN_ROLE_INPUT = 0,  /* (batch, time, dims...) */
  RNN_ROLE_PARAM = 1,  /* (dims...) */
  RNN_ROLE_STATE = 2,  /* (batch, time, dims...) as a result, (batch, dims...) before and after */
  RNN_ROLE_OUTPUT = 3, /* (batch, time, dims...) */
  /* Of the compute type, in the workspace; no caller sees them. Filled by stages, a hoisted tensor
   * also by a system, as one of its outputs. */
  RNN_ROLE_HOISTED = 4, /* (batch, time, dims...) */
  RNN_ROLE_DERIVED = 5, /* (dims...), like a param */
  /* Of an adjoint, of the compute type, in the workspace: (dims...), a sum over all steps, the batch, and
   * the lane axes that it lacks. Filled by the `sums` of systems and maps, and by outer products. */
  RNN_ROLE_GRADIENT = 6,
} rnn_role;

/* What a tensor of an adjoint is to tensor `of` of the cell's own table. Steps are those of the cell. */
typedef enum rnn_relation RNN_ENUM_BASE {
  RNN_RELATION_NONE = 0,
  RNN_RELATION_VALUE = 1,    /* an input or param: what the solve had, of an input, a param, a state, a
                                hoisted or a derived tensor; of a sequence that of `back` steps before a
                                step, and in front of the first one what it begins with */
  RNN_RELATION_UPSTREAM = 2, /* an input: the derivative of the loss by a state or output at a step, as far
                                as the caller's own use of it goes; without data: 0 */
  RNN_RELATION_GRADIENT = 3, /* an output: the derivative by an input at a step */
  RNN_RELATION_CARRIED = 4,  /* a state: the derivative by a state after a step, by way of later ones. It
                                begins with that of the final state, and ends as that of the initial one */
  RNN_RELATION_SUM = 5,      /* a gradient: adds to that of a param or a derived tensor, once summed over
                                the axes that `of` lacks */
} rnn_relation;

typedef struct rnn_tensor_desc {
  const char* name;
  rnn_role role;
  uint32_t rank;           /* of `dims`: without batch and time */
  const char* const* dims; /* a last one named "complex" holds real and imaginary part */
  const int64_t* sizes;    /* -1: bound by the plan */
  double fill;             /* the value before the first step, of a state or a delayed input */
  uint32_t hidden;         /* a state that no caller sees as a sequence */
  uint32_t start;    /* 1 + the number of the param that a state has before the first step instead
                        of `fill`; its axes broadcast from the right. 0: none */
  const char* holds; /* of what a stage fills: the expression; else null */
  rnn_relation relation; /* NONE, but in an adjoint */
  uint32_t of, back;
} rnn_tensor_desc;

/* One scalar of a lane: the element of `tensor` whose index along axis a is at[a] plus the lane's
 * index along the system's lane axis lane_axis[a], or at[a] alone where lane_axis[a] is -1. A lane
 * axis begins at 0, but for inputs and params of fixed sizes, of which it may be a part. In a dense
 * system at[a] may be RNN_EVERY: the slot then stands for every element along the axis, row-major.
 */
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
  /* Systems with sums only. */
  void* sums; /* [sums][width], out: over the steps of this call */
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

/* A place of a product of Jacobians that is not identically zero: `sign` (1 or -1) times number
 * `number` of the carry. */
typedef struct rnn_carry_place {
  uint32_t row, column;
  uint32_t number;
  int32_t sign;
} rnn_carry_place;

typedef struct rnn_system_desc {
  const char* name;
  uint32_t lane_rank;
  const char* const* lane_axes; /* names; sizes come with the plan */
  const int64_t* lane_sizes;    /* -1: bound by the plan */
  uint32_t states, inputs, params, outputs;
  const rnn_slot* state_slots;
  const rnn_slot* input_slots;  /* of inputs and hoisted tensors */
  const rnn_slot* param_slots;  /* of params and derived tensors */
  const rnn_slot* output_slots; /* of outputs and hoisted tensors */
  /* How the carry's numbers make a matrix: its places row-major, numbers counted from 0 by the
   * places where they come first, with sign 1. The identity is such a matrix, and a product of two
   * is one again. No number: the system is sequential only. */
  uint32_t carry; /* numbers */
  uint32_t carry_places;
  const rnn_carry_place* carry_place; /* [carry_places] */
  uint32_t linear;                    /* the Jacobian depends on no state */
  uint32_t constant;                  /* nor on an input: it depends on the params alone */
  /* Nonzero: what shoot_jacobian multiplies is not the Jacobian but an approximation of its
   * diagonal: more sweeps, the same fixed point. The parallel schedule then runs where it is asked
   * for only. The places are the diagonal; of a dense system there are none here, and the plan
   * makes one for each state, with a number of its own. */
  uint32_t diagonal;
  /* Nonzero: kernels solve implicit steps, and write `unsolved`. */
  uint32_t implicit;
  rnn_cost cost;
  uint32_t kernels;
  const rnn_cpu_kernel* kernel; /* by compute type, then by growing width */
  /* A dense system has block dims, loops over them, and no carry but a `diagonal`. `states` and the
   * other counts are those of the slots; sizes, and with them the number of scalars, come with the
   * plan. */
  uint32_t block_rank; /* 0: every slot is one scalar */
  const char* const* block_dims;
  const int64_t* block_sizes; /* -1: bound by the plan */
  uint32_t temporaries;
  const rnn_temporary* temporary;
  uint32_t sums;             /* of systems of scalars */
  const rnn_slot* sum_slots; /* of gradients */
} rnn_system_desc;

/* What the cell's file wishes of a plan; what the plan is told wins. */
typedef struct rnn_solve_hints {
  uint32_t has_tolerance; /* whether `tolerance` holds */
  double tolerance;
  int64_t max_sweeps; /* 0: none. For tolerances above 0 */
  int64_t chunk;      /* 0: none. Steps a chunk, where time is solved in parallel */
} rnn_solve_hints;
/* One weight of a product: result = weight @ sequence + bias, or sequence @ weight + bias. */
typedef struct rnn_product_part {
  uint32_t weight; /* a param or a derived tensor */
  int32_t bias;    /* likewise, with the last axes of the result; -1: none */
  uint32_t result; /* a hoisted tensor or an output; derived in phase CALL */
} rnn_product_part;

/* Matrix products of a sequence with weights, over all steps. As `@` of the language: the last axes
 * are contracted, `heads` leading axes of everything are a batch; without heads, a weight of more
 * than two axes meets a vector with all of its rows, [a, b, n] @ [n]. Each sum runs in the order of the
 * contracted axis, as a chain of multiply-adds that starts with the bias (or 0), so its bits depend
 * on neither the other steps nor the number of threads. */
typedef struct rnn_product {
  uint32_t sequence; /* an input, a hoisted tensor, or, in phase AFTER, a state; in phase CALL a
                        param or a derived tensor */
  uint32_t back;     /* steps ago, of an input */
  uint32_t heads;
  uint32_t left; /* the sequence is the left factor */
  uint32_t parts;
  const rnn_product_part* part;
} rnn_product;

/* The matrix that two sequences make, summed over all steps and the batch: result += left * right,
 * element by element, where each has a part of the result's axes. The lanes that the slots speak of
 * are the elements of the result: it has every lane axis once and whole, left or right or both have
 * it too, and each of them has one that the other lacks. Several may add to the same elements.
 * Steps are added up 64 at a time, counted from step 0 on: the products of a batch element's steps
 * as a chain of multiply-adds that starts with 0, then those sums batch element by batch element,
 * block by block. So bits depend neither on the number of threads nor on where a call is cut into
 * windows that are multiples of 64. */
typedef struct rnn_outer {
  rnn_slot left, right; /* of an input, a hoisted tensor, or, in phase AFTER, a state; `back` is 0 */
  rnn_slot result;      /* of a gradient */
  uint32_t axes;        /* lane axes */
  uint32_t guarded;     /* nonzero: where left is 0 nothing is added, even if right is not finite */
  uint32_t negative;    /* nonzero: is subtracted */
} rnn_outer;

typedef enum rnn_phase RNN_ENUM_BASE {
  RNN_PHASE_CALL = 0,   /* once a call: one step, one batch element */
  RNN_PHASE_BEFORE = 1, /* over all steps, before the solve */
  RNN_PHASE_AFTER = 2,  /* over all steps, after it */
} rnn_phase;

/* What runs around the solve, in the order of the table, which is also that of the phases. */
typedef struct rnn_stage {
  rnn_phase phase;
  const rnn_product* product; /* one of the three; the others are null */
  /* A system without states or carry: its steps do not depend on each other. Its inputs are those
   * that a product's sequence may be, its outputs those that a product's result may be. */
  const rnn_system_desc* map;
  const rnn_outer* outer; /* not in phase CALL */
} rnn_stage;

/* A kernel of a unit and how it is launched: with blockDim = (lanes, chunks, 1), any grid along x,
 * `shared_bytes` of dynamic shared memory, and one parameter, laid out as runtime/device/args.cuh
 * says, or dense.cuh for a dense system. */
typedef struct rnn_cuda_entry {
  const char* name;       /* of the extern "C" function */
  int64_t lanes;          /* threads along x, a lane each */
  int64_t chunks, steps;  /* W and C; W = 1: the sequential loop */
  int64_t shared_bytes;
  int64_t argument_bytes; /* of the parameter */
} rnn_cuda_entry;

/* CUDA C++ of all systems of a cell. Includes nothing but "rnn/NAME.cuh", which the runtime brings. */
typedef struct rnn_cuda_unit {
  const char* name;            /* what messages call it */
  const char* text;
  int32_t architecture;        /* 90 for sm_90: whose limits it was laid out for. Others can run it too,
                                  where its shared memory fits */
  rnn_dtype compute;           /* RNN_F32 or RNN_F64: also the type of all arrays */
  rnn_schedule schedule;       /* what it was asked to be */
  uint32_t entries;            /* one a system */
  const rnn_cuda_entry* entry; /* in the order of the systems */
} rnn_cuda_unit;

/* What a plan wants of a unit. */
typedef struct rnn_cuda_request {
  uint32_t size;        /* sizeof(rnn_cuda_request) of the runtime */
  int32_t architecture; /* of the device */
  rnn_dtype compute;
  rnn_schedule schedule;
  int64_t chunk, chunks; /* C and W; 0: whatever is best */
} rnn_cuda_request;

/* A cell for CUDA devices. */
typedef struct rnn_cuda_desc {
  uint32_t size; /* sizeof(rnn_cuda_desc) of the writer */
  uint32_t units;
  const rnn_cuda_unit* unit; /* printed when the module was built; for chunk and chunks 0 */
  /* Called while a plan is made, where it is not null: prints the unit. Returns null where the cell
   * cannot be had like that, and says why in *why, which is valid until the thread's next call. The
   * unit lives as long as the table. Thread-safe. */
  const rnn_cuda_unit* (*print)(void* context, const rnn_cuda_request*, const char** why);
  void* context;
} rnn_cuda_desc;

typedef struct rnn_module_table {
  uint32_t abi_version; /* RNN_ABI_VERSION */
  uint32_t size;        /* sizeof(rnn_module_table) of the writer */
  const char* cell;
  uint32_t tensors;
  const rnn_tensor_desc* tensor;
  uint32_t systems;
  const rnn_system_desc* system;
  uint32_t stages;
  const rnn_stage* stage;
  /* Called while a plan is made, for a kernel whose pointer is null: compiles it. Null: every
   * kernel is there. Returns null on failure. Thread-safe. Systems from `systems` on are the maps:
   * `systems` + the stage's place. */
  rnn_shoot_fn (*resolve)(void* context, uint32_t system, uint32_t kernel, uint32_t with_jacobian);
  void* resolve_context;
  rnn_solve_hints solve;
  /* Members from here on may be missing: `size` tells. */
  const rnn_cuda_desc* cuda; /* null: the cell runs on the CPU only */
  /* The cell of the gradients, whose time runs backwards: a table of its own without an adjoint, with the
   * same dims. Null: the module was built without. */
  const struct rnn_module_table* adjoint;
} rnn_module_table;

/* The cell for one instruction set. */
typedef struct rnn_module_variant {
  const char* target; /* "x86-64-v2", "x86-64-v3" or "x86-64-v4": the psABI's levels; "any": every
                         processor */
  const rnn_module_table* table;
} rnn_module_variant;

/* What `rnnc build` writes: an object file defines it as rnn_cell_NAME, a shared library as
 * RNN_BUNDLE_SYMBOL too. */
typedef struct rnn_module_bundle {
  uint32_t abi_version; /* RNN_ABI_VERSION */
  uint32_t size;        /* sizeof(rnn_module_bundle) of the writer */
  const char* cell;
  const char* manifest; /* JSON: the cell's name, file, compute type, tensors, targets, architectures,
                           and the compiler's version */
  uint32_t variants;
  const rnn_module_variant* variant; /* the later one is the better one, where a processor runs both */
} rnn_module_bundle;

#define RNN_BUNDLE_SYMBOL "rnn_bundle"

#ifdef __cplusplus
}
#endif
#endif
