/*===- vecdsp_device.h - The insides of the vector DSP ------------*- C -*-===*/

#ifndef VECDSP_DEVICE_H
#define VECDSP_DEVICE_H

#include "vecdsp.h"

#include <pthread.h>

enum {
  /** Addresses of a command, and those that a nest of loops walks over. */
  VECDSP_OPERANDS = 6,
  VECDSP_WALKED = 4,
  /** Cycles of a command before its lanes work. */
  VECDSP_LAUNCH = 64
};

/** Loops over up to four operands, outermost first; strides in elements. */
typedef struct vecdsp_nest {
  int rank;
  int64_t count[VECDSP_RANK];
  int64_t stride[VECDSP_WALKED][VECDSP_RANK];
  int64_t start[VECDSP_WALKED];
} vecdsp_nest;

/** Memory that a command reads or writes. */
typedef struct vecdsp_operand {
  const void *address;
  size_t bytes, alignment;
  /** True for the host's memory. */
  bool host;
} vecdsp_operand;

typedef enum vecdsp_kind {
  VECDSP_CALL,
  VECDSP_IN,
  VECDSP_OUT,
  VECDSP_WITHIN,
  VECDSP_AFTER
} vecdsp_kind;

/** A command with all its numbers. */
typedef struct vecdsp_command {
  /** Computes on `at`, the operands as the device reaches them. */
  void (*run)(const struct vecdsp_command *command, void *const *at);
  vecdsp_kind kind;
  int operands;
  vecdsp_operand operand[VECDSP_OPERANDS];
  /** Operations of its lanes; cycles follow. */
  uint64_t operations, cycles;
  /** Number of commands of the device before it. */
  uint64_t number;
  union {
    struct {
      vecdsp_nest nest;
      int32_t function;
      /** Bytes of an element that is moved. */
      int64_t element;
      vecdsp_activation act;
    } loop;
    struct {
      vecdsp_nest kept, summed;
      int32_t reduction;
    } reduce;
    struct {
      /** Batches; operands are a, b, c, y. */
      vecdsp_nest batch;
      int64_t m, k, n, row[4], column[4];
      float alpha, beta;
      vecdsp_activation act;
    } product;
    struct {
      int64_t size, type;
      vecdsp_activation function;
    } line;
    vecdsp_conv conv;
    vecdsp_pool pool;
    vecdsp_lookup lookup;
    vecdsp_line soft;
    struct {
      vecdsp_rows rows;
      bool centred;
    } normal;
    vecdsp_channels channels;
    /** Ticket of VECDSP_AFTER. */
    int64_t ticket;
  } as;
} vecdsp_command;

/** A part of the DRAM that is in use. */
typedef struct vecdsp_block {
  size_t offset, bytes;
} vecdsp_block;

/** A queue. */
typedef struct vecdsp_stream {
  struct vecdsp_device *device;
  pthread_t thread;
  bool has_thread;
  /** Commands from `done` to `issued`, each at its place % depth. */
  vecdsp_command *ring;
  uint64_t issued, done;
  /** Commands before this place end without effect. */
  uint64_t dropped;
} vecdsp_stream;

/** State that the host's thread and the device's share is under `mutex`. */
struct vecdsp_device {
  vecdsp_config config;
  pthread_mutex_t mutex;
  /** A command has come, or the device closes; a command has ended. */
  pthread_cond_t work, progress;
  unsigned char *dram;
  uintptr_t base;
  /** By offset. */
  vecdsp_block *blocks;
  size_t block_count, block_room;
  vecdsp_stream streams[VECDSP_QUEUES];
  /** The chosen one. */
  size_t selected;
  /** Commands of all queues so far. */
  uint64_t issued, done;
  /** The status of a command that failed since the last wait. */
  int failure;
  /** Numbers of commands to fail and to stall; past ones count no more. */
  uint64_t fail_at, stall_at;
  int fail_status;
  bool closing;
  vecdsp_statistics statistics;
};

/* vecdsp.c */

/** Adds to the counters of the device, whose mutex is held, and to those of all
 * devices. */
void vecdsp_count(vecdsp_device *device, const vecdsp_statistics *more);

/* vecdsp_memory.c */

/** Address of an operand for the device; null with a status if none. */
void *vecdsp_reach(vecdsp_device *device, const vecdsp_operand *operand,
                   int *status);

/* vecdsp_queue.c */

/** The thread of a queue. */
void *vecdsp_worker(void *stream);

/** Queues a command that is complete but for cycles, with a copy of it. */
int vecdsp_submit(vecdsp_device *device, vecdsp_command *command);

/** Waits until all that is queued is over; takes the mutex. */
void vecdsp_drain(vecdsp_device *device);

/** Refuses a call after what is queued, which may use the host's memory. */
int vecdsp_refuse(vecdsp_device *device);

/* vecdsp_nest.c */

/** The number of elements, or -1 if shape or rank make no sense. */
int64_t vecdsp_size(const int64_t *shape, int64_t rank);

/** Adds an operand of `size` elements; null is allowed with no elements. */
void vecdsp_operand_add(vecdsp_command *command, const void *address,
                        int64_t size, size_t element);

/** Loops over what `count` shapes broadcast to, whose dense result is the last
 * operand; its number of elements, or -1 if they do not broadcast. */
int64_t vecdsp_broadcast(vecdsp_nest *nest, const int64_t *const *shapes,
                         const int64_t *ranks, int count);

/** Loops over a dense tensor, as all operands are until strides are changed. */
void vecdsp_dense(vecdsp_nest *nest, const int64_t *shape, int64_t rank);

/** Joins loops that walk over all operands as one, and leaves out those of one
 * turn; at least one loop stays. */
void vecdsp_simplify(vecdsp_nest *nest, int operands);

/** A walk over all loops but the innermost. */
typedef struct vecdsp_walk {
  int64_t index[VECDSP_RANK], at[VECDSP_WALKED];
} vecdsp_walk;

void vecdsp_begin(const vecdsp_nest *nest, vecdsp_walk *walk);

/** True if there is another turn of the `levels` outermost loops. */
bool vecdsp_next(const vecdsp_nest *nest, int levels, vecdsp_walk *walk);

/* vecdsp_functions.c */

/** y[i] = act(y[i]) for i < size. */
void vecdsp_activate(const vecdsp_activation *act, float *y, int64_t size);

/** True if `act` names a function. */
bool vecdsp_is_activation(const vecdsp_activation *act);

/** Operations that a function of one element counts as. */
uint64_t vecdsp_effort(const vecdsp_activation *act);

/* vecdsp_matrix.c */

/** y = act(alpha * a b + beta * c) of matrices, where b is packed by panels. */
typedef struct vecdsp_matrices {
  int64_t m, k, n;
  const float *a, *c;
  int64_t a_row, a_column, c_row, c_column, y_row;
  float *y;
  float alpha, beta;
  const vecdsp_activation *act;
  /** Writes rows first to first + rows of the columns from `column` to
   * panel[row][VECDSP_PANEL], with anything beyond the n-th. */
  void (*pack)(const void *source, int64_t first, int64_t rows, int64_t column,
               float *panel);
  const void *source;
} vecdsp_matrices;

enum { VECDSP_PANEL = 16 };

void vecdsp_multiply(const vecdsp_matrices *matrices);

#endif /* VECDSP_DEVICE_H */
