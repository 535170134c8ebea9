/*===- vecdsp.h - A simulated vector DSP with memory of its own ---*- C -*-===
 *
 * A DSP whose vector lanes compute on its own DRAM, in f32. Addresses that
 * vecdsp_allocate gives are of that DRAM: the host can add to them, but neither
 * read nor write there, and no host pointer is one of them. Data gets there and
 * back by copies.
 *
 * Time. Copies and calls only put a command into the chosen queue of the
 * device, with a copy of all their numbers; each queue has a thread of the
 * device's own, which runs its commands in order. Between queues there is an
 * order only by tickets. What the host gave by address has to stay until a wait
 * for it returns. A full queue makes the host wait.
 *
 * Errors. Numbers that make no sense are refused at once, when all earlier
 * commands are done. Other errors are found when a command runs: its status is
 * the result of the next vecdsp_wait, and what was queued behind it until then
 * is left out. The device works on afterwards.
 *
 * A device that was opened as unified computes on the host's memory, and every
 * call is over when it returns.
 *
 * Tensors are dense and row-major, shapes have 1 to 8 dimensions unless it is
 * said otherwise (a rank of 0 is a scalar), of at least 1 each. A negative axis
 * counts from the end. One thread at a time uses a device.
 *
 *===----------------------------------------------------------------------===*/

#ifndef VECDSP_H
#define VECDSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /** The greatest rank. */
  VECDSP_RANK = 8,
  /** Addresses of allocations are multiples of it. */
  VECDSP_ALIGNMENT = 64,
  /** The most queues. */
  VECDSP_QUEUES = 16
};

enum vecdsp_status {
  VECDSP_OK = 0,
  /** No host memory, or no thread, to open a device. */
  VECDSP_ERR_MEMORY = 1,
  /** The DRAM has no room for an allocation. */
  VECDSP_ERR_DRAM = 2,
  /** An address is none of this device. */
  VECDSP_ERR_ADDRESS = 3,
  /** An operand lies in no allocation, or reaches beyond its end. */
  VECDSP_ERR_RANGE = 4,
  /** An operand is not aligned to its elements. */
  VECDSP_ERR_ALIGNMENT = 5,
  /** Numbers of a call that make no sense. */
  VECDSP_ERR_ARGUMENT = 6,
  /** No command was finished for as long as the device may take. */
  VECDSP_ERR_TIMEOUT = 7,
  /** The device reports a fault of its own. */
  VECDSP_ERR_FAULT = 8
};

typedef struct vecdsp_device vecdsp_device;

/** Configuration of a device. */
typedef struct vecdsp_config {
  /** Bytes of its DRAM. */
  size_t dram;
  /** Operations on f32 in a cycle; bytes that it reads or writes in a cycle. */
  int64_t lanes, bandwidth;
  /** Its queues, and commands that each holds, including the one that runs. */
  size_t queues, depth;
  /** Milliseconds in which at least one queued command has to finish. */
  int64_t timeout;
  /** Computes on the host's memory; calls are over when they return. */
  bool unified;
} vecdsp_config;

/** Statistics of a device since it was opened. */
typedef struct vecdsp_statistics {
  /** Bytes copied from the host, to it, and within the DRAM. */
  uint64_t bytes_in, bytes_out, bytes_within;
  /** Calls that have run, without copies; most commands queued at once. */
  uint64_t calls, most_queued;
  /** Modelled: for each command 64 and the greater of its operations by lanes
   * and its bytes by bandwidth. */
  uint64_t cycles;
  /** Time in which commands ran, in which the host waited for the device, and
   * in which commands ran while it did not (their overlap), in nanoseconds. */
  uint64_t busy_ns, waited_ns, overlap_ns;
} vecdsp_statistics;

/** Configuration of vecdsp_open: VECDSP_DRAM, VECDSP_LANES, VECDSP_BANDWIDTH,
 * VECDSP_QUEUES_OPENED, VECDSP_DEPTH, VECDSP_TIMEOUT and VECDSP_UNIFIED, as
 * vecdsp.c was compiled. */
vecdsp_config vecdsp_default_config(void);
int vecdsp_open(vecdsp_device **out_device);
int vecdsp_open_as(vecdsp_device **out_device, const vecdsp_config *config);

/** Closes a device after what is queued; null is allowed. */
int vecdsp_close(vecdsp_device *device);
/** A sentence for a status, never null; the text is static. */
const char *vecdsp_status_string(int status);
/** Reads the counters of what has finished; without a device those of all
 * devices together since the program began. */
int vecdsp_read_statistics(vecdsp_device *device, vecdsp_statistics *out);

/** Makes the n-th command from now (1 is the next) fail with `status`. */
int vecdsp_fail_after(vecdsp_device *device, uint64_t n, int status);
/** Makes it never end by itself. */
int vecdsp_stall_after(vecdsp_device *device, uint64_t n);

/*===-------------------------- Memory and queue --------------------------===*/

/** `bytes` of the DRAM, all of them 255 (a NaN in f32). */
int vecdsp_allocate(vecdsp_device *device, size_t bytes, void **out_address);
/** Gives an allocation back after what is queued; null is allowed. */
int vecdsp_free(vecdsp_device *device, void *address);
/** Copies from the host, to it, or within the DRAM. */
int vecdsp_copy_in(vecdsp_device *device, void *to, const void *from,
                   size_t bytes);
int vecdsp_copy_out(vecdsp_device *device, void *to, const void *from,
                    size_t bytes);
int vecdsp_copy(vecdsp_device *device, void *to, const void *from,
                size_t bytes);
/** Waits for all that is queued. */
int vecdsp_wait(vecdsp_device *device);

/** Selects the queue of later commands; a device is opened with 0. */
int vecdsp_use_queue(vecdsp_device *device, int64_t queue);
/** A ticket for all that is in the chosen queue. */
int vecdsp_ticket(vecdsp_device *device, int64_t *out_ticket);
/** Waits for what a ticket is for. */
int vecdsp_wait_for(vecdsp_device *device, int64_t ticket);
/** Has what is queued from now on in the chosen queue begin after that. */
int vecdsp_after(vecdsp_device *device, int64_t ticket);

/*===----------------------------- Elementwise ----------------------------===*/
/** Functions of one element; alpha and beta are those of vecdsp_activation. */
enum vecdsp_function {
  VECDSP_IDENTITY = 0,
  VECDSP_RELU = 1,
  /** Between alpha and beta, at least alpha, at most beta. A bound that is NaN
   * is none. */
  VECDSP_CLIP = 2,
  VECDSP_CLIP_LOW = 3,
  VECDSP_CLIP_HIGH = 4,
  VECDSP_SIGMOID = 5,
  VECDSP_TANH = 6,
  VECDSP_GELU = 7,
  VECDSP_GELU_TANH = 8,
  /** x * sigmoid(alpha * x) */
  VECDSP_SWISH = 9,
  /** Slope alpha below 0. */
  VECDSP_LEAKY_RELU = 10,
  /** alpha * (e^x - 1) below 0. */
  VECDSP_ELU = 11,
  /** alpha * x + beta between 0 and 1. */
  VECDSP_HARD_SIGMOID = 12,
  VECDSP_HARD_SWISH = 13,
  VECDSP_ABS = 14,
  VECDSP_NEG = 15,
  VECDSP_EXP = 16,
  VECDSP_LOG = 17,
  VECDSP_SQRT = 18,
  VECDSP_ERF = 19,
  VECDSP_RECIPROCAL = 20,
  VECDSP_FLOOR = 21,
  VECDSP_CEIL = 22,
  /** Halves to even. */
  VECDSP_ROUND = 23,
  VECDSP_SIN = 24,
  VECDSP_COS = 25,
  VECDSP_SOFTPLUS = 26,
  VECDSP_FUNCTIONS
};

typedef struct vecdsp_activation {
  int32_t function;
  float alpha, beta;
} vecdsp_activation;

/** y[i] = function(x[i]) for i < size. */
int vecdsp_unary(vecdsp_device *device, const float *x, float *y, int64_t size,
                 const vecdsp_activation *function);

/** The first seven and PRELU (a, or a * b below 0) give f32, comparisons of f32
 * and operations on bool (a byte, 0 or 1) give bool. */
enum vecdsp_pair_function {
  VECDSP_ADD = 0,
  VECDSP_SUB = 1,
  VECDSP_MUL = 2,
  VECDSP_DIV = 3,
  VECDSP_POW = 4,
  VECDSP_MAX = 5,
  VECDSP_MIN = 6,
  VECDSP_PRELU = 7,
  VECDSP_EQUAL = 8,
  VECDSP_LESS = 9,
  VECDSP_LESS_OR_EQUAL = 10,
  VECDSP_GREATER = 11,
  VECDSP_GREATER_OR_EQUAL = 12,
  VECDSP_AND = 13,
  VECDSP_OR = 14,
  VECDSP_XOR = 15,
  /** Not a; b is a all the same. */
  VECDSP_NOT = 16,
  VECDSP_PAIR_FUNCTIONS
};
/** Two tensors that broadcast. */
typedef struct vecdsp_pair {
  const int64_t *a, *b;
  int64_t a_rank, b_rank;
  int32_t function;
  /** Activation of results in f32. */
  vecdsp_activation act;
} vecdsp_pair;

/** y = act(function(a, b)). */
int vecdsp_binary(vecdsp_device *device, const void *a, const void *b, void *y,
                  const vecdsp_pair *pair);

/** A choice between two tensors that broadcast with the condition. */
typedef struct vecdsp_choice {
  const int64_t *c, *a, *b;
  int64_t c_rank, a_rank, b_rank;
  /** Bytes of an element of a and b: 1, 2, 4 or 8. */
  int64_t element;
} vecdsp_choice;
/** y = c ? a : b, where c has a byte for each element. */
int vecdsp_select(vecdsp_device *device, const void *c, const void *a,
                  const void *b, void *y, const vecdsp_choice *choice);

enum vecdsp_type {
  VECDSP_F32 = 0,
  VECDSP_I32 = 1,
  VECDSP_I64 = 2,
  VECDSP_BOOL = 3
};

/** y[i] = x[i] as f32, for i < size, of any type. */
int vecdsp_to_float(vecdsp_device *device, const void *x, float *y,
                    int64_t size, int32_t type);

/*===------------------------------- Moves --------------------------------===*/

/** Move of elements of 1, 2, 4 or 8 bytes. */
typedef struct vecdsp_move {
  /** The shape of x. */
  const int64_t *shape;
  int64_t rank, element;
  /** transpose: dimension i of y is dimension numbers[i] of x.
   * slice: the first position for each of `count` axes, which are the first
   * ones without has_axes, and steps, which are not 0, or 1 without has_steps;
   * positions are clamped as by ONNX.
   * expand: the shape of y, of rank `count`. */
  const int64_t *numbers, *axes, *steps;
  int64_t count;
  bool has_axes, has_steps;
  /** slice: the shape of y. */
  const int64_t *result;
} vecdsp_move;

int vecdsp_transpose(vecdsp_device *device, const void *x, void *y,
                     const vecdsp_move *move);
int vecdsp_slice(vecdsp_device *device, const void *x, void *y,
                 const vecdsp_move *move);
int vecdsp_expand(vecdsp_device *device, const void *x, void *y,
                  const vecdsp_move *move);

/** Tensors side by side: `outer` times sizes[i] bytes of each of `count`. */
typedef struct vecdsp_pieces {
  int64_t outer, count;
  const int64_t *sizes;
} vecdsp_pieces;

/** y is the pieces one after the other. */
int vecdsp_concat(vecdsp_device *device, const void *a, const void *b,
                  const void *c, const void *d, void *y,
                  const vecdsp_pieces *pieces);

/** The pieces of x go to as many addresses (void *) as there are. */
int vecdsp_split(vecdsp_device *device, const void *x,
                 const vecdsp_pieces *pieces, ...);

/** Slices of x [outer][size][inner bytes] at `count` positions. */
typedef struct vecdsp_lookup {
  int64_t outer, size, inner, count;
  /** Bytes of an index: 4 or 8. */
  int64_t index;
} vecdsp_lookup;
/** y [outer][count][inner]. A negative index counts from the end; one that is
 * out of range gives the nearest. */
int vecdsp_gather(vecdsp_device *device, const void *x, const void *indices,
                  void *y, const vecdsp_lookup *lookup);

/*===------------------------- Sums along dimensions ----------------------===*/

enum vecdsp_reduction {
  VECDSP_REDUCE_SUM = 0,
  VECDSP_REDUCE_MEAN = 1,
  VECDSP_REDUCE_MAX = 2,
  VECDSP_REDUCE_MIN = 3,
  VECDSP_REDUCE_PROD = 4,
  VECDSP_REDUCE_SUM_SQUARE = 5,
  VECDSP_REDUCE_L1 = 6,
  VECDSP_REDUCE_L2 = 7
};

typedef struct vecdsp_dims {
  const int64_t *shape, *axes;
  /** No axes are all. */
  int64_t rank, count;
  int32_t reduction;
} vecdsp_dims;

/** Sums in double. The greatest and least are NaN if an element is. */
int vecdsp_reduce(vecdsp_device *device, const float *x, float *y,
                  const vecdsp_dims *dims);

/** x as [outer][size][inner]. */
typedef struct vecdsp_line {
  int64_t outer, size, inner;
  bool log;
} vecdsp_line;

/** Softmax along the middle dimension, or its logarithm. */
int vecdsp_softmax(vecdsp_device *device, const float *x, float *y,
                   const vecdsp_line *line);

/** Rows that are normalised. Element i of row r has the factor and addend at
 * (r * per_row + i / run) % period. */
typedef struct vecdsp_rows {
  int64_t rows, size, per_row, run, period;
  float epsilon;
} vecdsp_rows;
/** y = (x - mean) / sqrt(variance + epsilon) * scale + shift, where shift may
 * be null. */
int vecdsp_normalise(vecdsp_device *device, const float *x, const float *scale,
                     const float *shift, float *y, const vecdsp_rows *rows);

/** y = x / sqrt(mean square + epsilon) * scale. */
int vecdsp_rms_norm(vecdsp_device *device, const float *x, const float *scale,
                    float *y, const vecdsp_rows *rows);

/** Channels with statistics that are given: x [images][channels][size]. */
typedef struct vecdsp_channels {
  int64_t images, channels, size;
  float epsilon;
  vecdsp_activation act;
} vecdsp_channels;
/** y = act((x - mean) / sqrt(var + epsilon) * scale + shift). */
int vecdsp_batch_norm(vecdsp_device *device, const float *x, const float *scale,
                      const float *shift, const float *mean, const float *var,
                      float *y, const vecdsp_channels *channels);

/*===----------------------- Products and windows -------------------------===*/

/** Matrices with leading dimensions that broadcast, as of numpy.matmul. */
typedef struct vecdsp_product {
  /** Shapes; that of the addend broadcasts to the product's. */
  const int64_t *a, *b, *c;
  /** 1 and more; c may be a scalar. */
  int64_t a_rank, b_rank, c_rank;
  bool trans_a, trans_b;
  float alpha, beta;
  vecdsp_activation act;
} vecdsp_product;
/** y = act(alpha * a b + beta * c); c may be null. */
int vecdsp_matmul(vecdsp_device *device, const float *a, const float *b,
                  const float *c, float *y, const vecdsp_product *product);

/** Windows that slide over x [images][channels][height][width]. */
typedef struct vecdsp_window {
  int64_t n, c, h, w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int64_t pad_top, pad_left, pad_bottom, pad_right;
} vecdsp_window;

typedef struct vecdsp_conv {
  vecdsp_window window;
  int64_t out_c, group;
  vecdsp_activation act;
} vecdsp_conv;

/** y = act(conv(x, w) + b), with w [out_c][c / group][kernel_h][kernel_w];
 * b may be null. Padding is 0. */
int vecdsp_conv2d(vecdsp_device *device, const float *x, const float *w,
                  const float *b, float *y, const vecdsp_conv *conv);

typedef struct vecdsp_pool {
  vecdsp_window window;
  bool average;
  /** Padding counts as elements of an average. */
  bool include_pad;
} vecdsp_pool;

/** y = pool(x). Windows may reach beyond the lower and right edge; each has at
 * least one element of x. */
int vecdsp_pool2d(vecdsp_device *device, const float *x, float *y,
                  const vecdsp_pool *pool);

#ifdef __cplusplus
}
#endif

#endif /* VECDSP_H */
