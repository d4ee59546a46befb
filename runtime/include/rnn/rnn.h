/*===- rnn.h - the runtime's C interface --------------------------------------------------------===
 *
 * Load a compiled cell, plan it for a shape, run it. No compiler in here. Every function that can
 * fail returns a status; rnn_error_text says which argument and why. Nothing throws, aborts or
 * prints. Modules and plans are immutable once made and may be shared between threads; a workspace
 * belongs to one call at a time.
 *===------------------------------------------------------------------------------------------===*/
#ifndef RNN_RNN_H
#define RNN_RNN_H

#include "rnn/module.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rnn_status RNN_ENUM_BASE {
  RNN_OK = 0,
  RNN_INVALID_ARGUMENT = 1,
  RNN_UNSUPPORTED = 2,
  RNN_NOT_CONVERGED = 3,
  RNN_OUT_OF_MEMORY = 4,
  RNN_INTERNAL = 5,
  RNN_MISSING = 6, /* a device or a library that this machine lacks */
  RNN_DEVICE_FAILED = 7, /* a device's driver refused a call or broke it off; the text has its words */
} rnn_status;

typedef enum rnn_vector RNN_ENUM_BASE { RNN_VECTOR_AUTO, RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS } rnn_vector;
typedef enum rnn_tiles RNN_ENUM_BASE { RNN_TILES_AUTO, RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL } rnn_tiles;
typedef enum rnn_device RNN_ENUM_BASE { RNN_DEVICE_CPU = 0, RNN_DEVICE_CUDA = 1 } rnn_device;
/* What rnn_forward leaves in the reserve for rnn_backward. */
typedef enum rnn_training RNN_ENUM_BASE {
  RNN_TRAINING_NONE = 0, /* nothing: no rnn_backward */
  RNN_TRAINING_L1 = 1,   /* all states, and what stages computed; the rest is computed again */
  RNN_TRAINING_L2 = 2,   /* the states of every `checkpoint` steps; rnn_backward solves the steps between again,
                            a window of time after the other, so that at no time there are all of them */
  RNN_TRAINING_L3 = 3,   /* nothing; rnn_backward begins by solving again, and has what L1 keeps (or with
                            `checkpoint` L2) in its workspace, which several plans may share */
  RNN_TRAINING_AUTO = 4, /* the fastest of these of which reserve and workspace fit `memory_budget` */
} rnn_training;

typedef struct rnn_context rnn_context; /* error texts and the thread arena */
typedef struct rnn_module rnn_module;
typedef struct rnn_plan rnn_plan;

/* A tensor of the caller's, in memory of the plan's device. Strides are in elements and may be negative
 * or zero (inputs only). */
typedef struct rnn_tensor {
  void* data; /* null: absent, where absence is allowed */
  rnn_dtype dtype;
  uint32_t rank;
  int64_t shape[RNN_MAX_RANK + 2];
  int64_t strides[RNN_MAX_RANK + 2];
} rnn_tensor;

typedef enum rnn_arg_kind RNN_ENUM_BASE {
  RNN_ARG_INPUT = 0,    /* (batch, time, dims...), required */
  RNN_ARG_PARAM = 1,    /* (dims...), required */
  RNN_ARG_SEQUENCE = 2, /* a state or output at every step, (batch, time, dims...), optional */
  RNN_ARG_INITIAL = 3,  /* a state before the first step, (batch, dims...), optional: as the cell says */
  RNN_ARG_FINAL = 4,    /* a state after the last step, (batch, dims...), optional */
  /* Of a packed batch the last two are (segments, dims...). */
} rnn_arg_kind;

/* One place in the args of rnn_forward. All inputs, params, sequences (states that are not hidden,
 * then outputs), initial states and final states, each in the order of the file. */
typedef struct rnn_arg_desc {
  rnn_arg_kind kind;
  uint32_t tensor; /* in the module's table */
} rnn_arg_desc;

typedef struct rnn_signature {
  uint32_t size;
  const rnn_module_table* table;
  uint32_t args;
  const rnn_arg_desc* arg;
} rnn_signature;

typedef struct rnn_dim_value {
  const char* name;
  int64_t size;
} rnn_dim_value;

typedef struct rnn_plan_options {
  uint32_t size; /* sizeof(rnn_plan_options) of the caller */
  uint32_t dims;
  const rnn_dim_value* dim; /* every free dim of the module */
  int64_t batch, time;      /* either may be 0 */
  rnn_dtype compute;        /* RNN_F32 or RNN_F64 */
  rnn_schedule schedule; /* AUTO, with any of the next four fixed (but vector = lanes): PARALLEL */
  rnn_vector vector;
  rnn_tiles tiles;
  int64_t chunk;      /* steps a chunk, C; 0: the module's wish, or the cost model's */
  int64_t chunks;     /* chunks a tile, W; 0: the cost model's */
  double tolerance;   /* 0: bit for bit; negative: the module's wish, or 4 ulp of the
                         compute type */
  int64_t max_sweeps; /* 0: the module's wish, or as many as it takes; otherwise only with a
                         tolerance above 0 */
  int32_t threads;    /* 0: all; never changes an answer */
  uint32_t streaming; /* nonzero: for rnn_state_init, rnn_step and rnn_steps */
  /* A packed batch: its one batch element holds `segments` sequences one behind the other, number s
   * from step offset[s] up to offset[s + 1], the last one up to `time`. They may be empty, and know
   * nothing of each other: each begins and ends by itself, as if it were called alone. */
  int64_t segments;            /* where there are offsets; `batch` is 1 then */
  const void* segment_offsets; /* [segments + 1], from 0, never falling; copied. Null: no packed batch */
  uint32_t offset_bits;        /* 32 or 64: they are int32_t or int64_t */
  uint32_t reversed; /* nonzero: every sequence runs from its last step to its first; x[t-1] is then what
                        lies behind x[t]. Initial states come before the last step */
  uint32_t reset;    /* nonzero: calls take a mask of steps before which a sequence begins anew; see
                        rnn_forward */
  rnn_device device;  /* never another one than asked for: a device that is missing is RNN_MISSING */
  int32_t ordinal;    /* which CUDA device, from 0, as CUDA_VISIBLE_DEVICES numbers them */
  rnn_training training; /* not of streaming plans; beyond L1 not of packed batches, nor with tiles in
                            parallel */
  int64_t checkpoint;    /* L2, L3: steps from one kept state to the next; 0: of L2 chosen, of L3 all are
                            kept while rnn_backward runs */
  uint64_t memory_budget; /* AUTO: bytes of reserve and workspace together, the most that they may be; 0: no
                             limit */
  int64_t window;        /* with checkpoints: steps that are solved at a time, at least; 0: as many as caches
                            hold */
} rnn_plan_options;

/* What the cost model chose, or was told. */
typedef struct rnn_plan_info {
  uint32_t size;
  rnn_schedule schedule; /* never AUTO */
  rnn_vector vector;
  rnn_tiles tiles;
  int64_t chunk, chunks; /* steps a chunk, chunks a tile */
  int64_t lanes, groups; /* of the first system: lanes, and the vectors that hold them */
  uint32_t width;        /* columns a vector */
  double tolerance;
  double seconds_sequential, seconds_parallel; /* estimates; 0: no cost known */
  rnn_device device;
  int32_t ordinal; /* of a CUDA device */
  rnn_training training;
  int64_t checkpoint; /* steps from one kept state to the next; 0: every state is kept, or none */
  int64_t window;     /* steps that are solved at a time, where not all are; else 0 */
} rnn_plan_info;

typedef struct rnn_report {
  uint32_t size;
  int64_t tiles;             /* tiles solved, over all groups of lanes and systems; 0 when sequential */
  double sweeps_mean;        /* sweeps a tile (until its slowest lane agreed), over all outer sweeps */
  int64_t sweeps_max;
  double lane_sweeps_mean;   /* sweep at which a lane first agreed, over lanes and tiles; a lane that
                                was walked counts as one that corrects one wrong start a sweep */
  int64_t tiles_slow;        /* tiles that needed more than 4 sweeps, or were walked */
  int64_t tiles_walked;      /* tiles that did not contract and were finished sequentially */
  int64_t outer_sweeps;      /* tiles in parallel: the largest number of outer sweeps; else 0 */
  double mismatch_max;       /* largest |e - u| / (1 + |u|) accepted */
  int64_t first_nonfinite;   /* first step with a state that is not finite, its place in the arrays (from
                                0); -1: none. Of a packed batch the first place; reversed: the last */
  int64_t unconverged_tile;  /* NOT_CONVERGED because of max_sweeps: the tile; else -1 */
  /* NOT_CONVERGED because an implicit step found no solution, the first one: its step (from 0), its
   * system, and its lane (from 0: batch element or segment, then the lane axes, last fastest); else
   * -1. */
  int64_t unsolved_step, unsolved_system, unsolved_lane;
} rnn_report;

rnn_status rnn_context_create(rnn_context** out);
void rnn_context_destroy(rnn_context*);
/* Text of the calling thread's last error; empty where there was none. Valid until its next call. */
const char* rnn_error_text(const rnn_context*);

/* What went well, but could have gone better, for a user to be told: that compiled programs cannot be
 * kept on disk. Each is told once; empty where there is none. Valid until the thread's next call. */
const char* rnn_warning_text(rnn_context*);

/* The table must outlive the module. */
rnn_status rnn_module_from_table(rnn_context*, const rnn_module_table*, rnn_module** out);
/* The best variant that this processor runs of a cell that `rnnc build` wrote: of an object file that was
 * linked, as the header beside it declares it. RNN_UNSUPPORTED where there is none. It outlives the
 * module. */
rnn_status rnn_module_from_bundle(rnn_context*, const rnn_module_bundle*, rnn_module** out);
/* The same from a shared library that `rnnc build` wrote. `path` is a file's, never searched for. Runs what
 * is in the library: load only what you would run. It is unloaded with the last of the module and
 * its plans. */
rnn_status rnn_module_load(rnn_context*, const char* path, rnn_module** out);
void rnn_module_destroy(rnn_module*);
rnn_status rnn_module_describe(const rnn_module*, const rnn_signature** out);

/* Compiles, or finds, the kernels that the plan needs. With `device` CUDA: by NVRTC, for that very
 * device, in its primary context, which the plan then holds; the thread's current context stays what it
 * was. Not while a stream of the thread is captured. RNN_MISSING where libcuda, NVRTC, the device, or
 * NVRTC's knowledge of it is missing; RNN_UNSUPPORTED where the cell or the options are for the CPU
 * only so far. */
rnn_status rnn_plan_create(const rnn_module*, const rnn_plan_options*, rnn_plan** out);

/* What a plan with training may keep. */
typedef struct rnn_training_choice {
  uint32_t size; /* sizeof(rnn_training_choice) of the caller, in the first one of an array */
  rnn_training training;
  int64_t checkpoint, window; /* as in rnn_plan_options */
  uint64_t workspace, reserve; /* bytes */
  double seconds;              /* estimate of rnn_forward and rnn_backward together; only ratios of two mean
                                  something. 0: no cost known */
} rnn_training_choice;

/* Every choice of the options' shape on the frontier: none of the others is both faster and smaller. In the order
 * of growing time. *count: room in `out`, then how many there are; `out` may be null to ask. The options' own
 * `training`, `checkpoint`, `window` and `memory_budget` are not looked at. */
rnn_status rnn_training_choices(const rnn_module*, const rnn_plan_options*, rnn_training_choice* out,
                                uint32_t* count);

/* One of the plans of a training step. */
typedef struct rnn_layer {
  const rnn_module* module;
  const rnn_plan_options* options;
} rnn_layer;

/* The fastest choice for each of several plans whose reserves live at the same time and which share one workspace,
 * as large as the largest: both together within `memory_budget`. RNN_INVALID_ARGUMENT where nothing fits, with
 * the least that would. Make each plan with its choice's level, checkpoint and window. `size` of out[0] says
 * what the caller's struct is. */
rnn_status rnn_stack_choose(const rnn_layer*, uint32_t layers, uint64_t memory_budget,
                            rnn_training_choice* out);
void rnn_plan_destroy(rnn_plan*);
rnn_status rnn_plan_describe(const rnn_plan*, rnn_plan_info* out);
/* Bytes that rnn_forward and rnn_backward need: workspace and reserve (aligned to 64), the latter 0 for a plan
 * without training; and those of a streaming state (aligned to 64), 0 for a plan that is not streaming.
 * Each may be null. */
rnn_status rnn_plan_sizes(const rnn_plan*, size_t* workspace, size_t* reserve, size_t* state);

/* Writes the arrays of a call into `args`, as many as rnn_signature lists (one more with `reset`): of the plan's
 * shapes, row-major, of the compute type, without data. Of initial and final states the batch is the number of
 * segments in a packed batch. Of a streaming plan: those of rnn_steps, and with `time` 1 those of
 * rnn_step. */
rnn_status rnn_plan_args(const rnn_plan*, rnn_tensor* args);

/* Solves all time steps. `args` as rnn_signature lists them. Results overlap nothing.
 *
 * Of a plan with `reset` one more tensor follows: (batch, time) of RNN_U8, where it is not 0 the
 * sequence begins anew before that step, as the cell says (its own initial state, or the param that
 * it names; initial states of the caller's are for first steps alone). Nothing of the steps before is
 * seen any more, delayed inputs included. Without data: nowhere.
 *
 * RNN_OK, or RNN_NOT_CONVERGED when max_sweeps ended a tile early (the results hold the last sweep) or when an
 * implicit step found no solution (the results go on from the best point found); the report can be
 * read then. `reserve` is that of plans with training, which it leaves for rnn_backward; `stream` must be
 * null on the CPU.
 *
 * On CUDA `args` and `workspace` lie in the device's memory, all arrays are of the compute type, and
 * `stream` is a CUstream or cudaStream_t of the device's primary context (null: its default stream). The
 * kernels are put on the stream and the call returns: RNN_OK says that they were, and rnn_report_read what
 * came of it. Allocates nothing and waits for nothing, so the stream may be one that is captured; the
 * plan must outlive the graph, and what was captured uses these very arrays. */
rnn_status rnn_forward(const rnn_plan*, const rnn_tensor* args, void* workspace, void* reserve,
                       void* stream);

/* The gradients of a loss, of a plan with training. `args` are those of rnn_forward, with the results that it
 * left in them, and `reserve` is what it left there; neither is changed. `grads` has the derivative of the
 * loss by each of `args`, in the same places and of the same shapes: of results (states, outputs, final
 * states) the caller's, where absent 0; of inputs, params and initial states those wanted, written over
 * whatever was there. They overlap nothing. A param that states begin with gets their share, where the
 * caller gave no initial state. The reset mask has none.
 *
 * A linear recurrence from the last step to the first (docs/gradients.md), with the plan's schedule, tolerance
 * and threads: at tolerance 0 gradients of inputs and initial states are bit for bit those of the
 * sequential schedule. Those of params are sums whose order depends on the plan's shapes and schedule alone.
 * Returns and reports as rnn_forward. */
rnn_status rnn_backward(const rnn_plan*, const rnn_tensor* args, const rnn_tensor* grads, void* workspace,
                        const void* reserve, void* stream);

/* Streaming: a sequence that comes piece by piece. `state` is memory of the caller's that holds where
 * it stands: the states, what delayed inputs read, and what follows from the params alone. It fits
 * every streaming plan of the module with the same dims, batch and compute type, whatever their time,
 * schedule and threads, so one sequence may be taken in long pieces, in short ones and step by step:
 * at tolerance 0 no bit depends on how. It belongs to one call at a time, holds no pointers, and is
 * gone when its memory is.
 *
 * Begins a sequence: before the first step. Of `args`, params and initial states alone are read. To
 * go on with other params, begin anew, with the old final states as the initial ones. */
rnn_status rnn_state_init(const rnn_plan*, void* state, const rnn_tensor* args);
/* One step, on the calling thread: allocates nothing, takes no lock, makes no system call. `args` as
 * for rnn_forward, with a time axis of size 1, without initial states, and with the params that
 * rnn_state_init saw. RNN_OK or RNN_NOT_CONVERGED, as rnn_forward; rnn_report_read takes `state` for
 * the workspace. `stream` must be null on the CPU. */
rnn_status rnn_step(const rnn_plan*, void* state, const rnn_tensor* args, void* stream);
/* The plan's `time` steps, by its schedule; otherwise as rnn_step, in the workspace of rnn_forward. */
rnn_status rnn_steps(const rnn_plan*, void* state, const rnn_tensor* args, void* workspace, void* reserve,
                     void* stream);
/* Writes where the sequence stands as *bytes bytes that can be stored, for another process or machine
 * of the same byte order. With `to` null only tells how many that are. */
rnn_status rnn_state_save(const rnn_plan*, const void* state, void* to, size_t* bytes);
/* As rnn_state_init, but goes on where `from` was saved; `args`: the params. */
rnn_status rnn_state_restore(const rnn_plan*, void* state, const rnn_tensor* args, const void* from,
                             size_t bytes);

/* Of the last call that used the workspace. On CUDA it is copied from the device, so the call's stream must
 * have been waited for; whether it converged is told by `unconverged_tile` and `unsolved_step`, and the
 * steps and lanes of `unsolved_lane` reach to 2^24 - 1. */
rnn_status rnn_report_read(const rnn_plan*, const void* workspace, rnn_report* out);
/* How far the call is that uses this workspace, 0 to 1, never falling while it runs; of the last
 * call where none does. For another thread to read meanwhile; costs the call nothing. A workspace
 * that no call has used yet must be zeroed. Tiles in parallel: a guess, as nobody knows how often
 * they will be solved again. RNN_UNSUPPORTED on CUDA. */
rnn_status rnn_progress_read(const rnn_plan*, const void* workspace, double* fraction);

#ifdef __cplusplus
}
#endif
#endif
