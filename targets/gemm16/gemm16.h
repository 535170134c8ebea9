/*===- gemm16.h - A simulated systolic array of 16 by 16 ----------*- C -*-===
 *
 * An array of 16 x 16 multipliers for int8 networks. It has a scratchpad of
 * rows with 16 int8, an accumulator of rows with 16 int32, and takes commands
 * from a queue. The simulator computes for real, and counts cycles, bytes and
 * commands; README.md has the model.
 *
 * Commands. gemm16_command enqueues one; the functions behind it enqueue those
 * of a block that is moved or of a layer. The queue is worked off in order when
 * it is full and when gemm16_fence or the wait for a store asks for it. Moves
 * go on beside later commands until a fence of their channel; the array is done
 * with a command before the next one begins.
 *
 * Status. What is wrong shows when the queue is worked off: the commands that
 * are left are dropped, and the function returns the status. Then the device
 * takes commands again.
 *
 * One thread at a time uses a device. Host memory that is moved to or from
 * stays as it is, or is not read, until the channel's fence is worked off.
 *
 *===----------------------------------------------------------------------===*/

#ifndef GEMM16_H
#define GEMM16_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Rows and columns of the array, and elements of a row of its memories. */
#define GEMM16_DIM 16
/** Greatest sizes of the memories in bytes. */
#define GEMM16_MAX_SCRATCHPAD 262144
#define GEMM16_MAX_ACCUMULATOR 65536
/** Channels of moves: those of the scratchpad, then of the accumulator. */
#define GEMM16_CHANNELS 8
/** The first channel of the accumulator. */
#define GEMM16_ACCUMULATOR_CHANNEL 4

enum gemm16_status {
  GEMM16_OK = 0,
  /** No host memory to open a device. */
  GEMM16_ERR_MEMORY = 1,
  /** A null pointer, an unknown opcode, or a size that no memory has. */
  GEMM16_ERR_ARGUMENT = 2,
  /** A row outside of the memory. */
  GEMM16_ERR_BOUNDS = 3,
  /** An address inside of a row. */
  GEMM16_ERR_ALIGNMENT = 4,
  /** More rows or columns than the array has. */
  GEMM16_ERR_TILE = 5,
  /** A row, or a part of one, that nothing has filled. */
  GEMM16_ERR_UNFILLED = 6,
  /** A row of a move that no fence has waited for. */
  GEMM16_ERR_HAZARD = 7,
  /** A command of the other dataflow. */
  GEMM16_ERR_DATAFLOW = 8
};

enum gemm16_opcode {
  /** `rows` rows of `columns` elements from `host`, `host_stride` bytes apart,
   * into the scratchpad at `row`, `step` rows apart. */
  GEMM16_MVIN = 1,
  /** The same into the accumulator; elements are int32. */
  GEMM16_MVIN_ACCUMULATOR = 2,
  /** From the accumulator to `host` as int8: element c of a row, times
   * scale[c], rounded half to even, plus `zero`, limited to [least, most]. */
  GEMM16_MVOUT = 3,
  /** Waits for the moves of `channel`. */
  GEMM16_FENCE = 4,
  /** Sets `rows` rows of the accumulator to the row `other`, or to zeros if
   * `other` is GEMM16_NONE. */
  GEMM16_FILL = 5,
  /** Weights stay: `rows` x `columns` of the scratchpad into the array. */
  GEMM16_PRELOAD = 6,
  /** Weights stay: `rows` rows of the scratchpad at `row`, `inner` elements
   * each less `zero`, times the weights in the array; `columns` sums are added
   * to each row of the accumulator from `other` on, `other_step` rows apart. */
  GEMM16_COMPUTE = 7,
  /** Sums stay: the same with weights from `weights` on, added up in the array
   * from its row `first` on. */
  GEMM16_COMPUTE_IN_PLACE = 8,
  /** Sums stay: rows `first` to `first + rows` of the array are added to the
   * accumulator from `other` on, and are zero then. */
  GEMM16_FLUSH = 9
};

/** No row. */
#define GEMM16_NONE UINT32_MAX

/** A command. What an opcode does not name is ignored. */
typedef struct gemm16_command {
  uint32_t opcode, channel;
  uint32_t row, step, rows, columns, inner;
  uint32_t other, other_step;
  uint32_t weights, weight_step, first;
  int32_t zero, least, most;
  int64_t host_stride;
  const void *source;
  void *target;
  float scale[GEMM16_DIM];
} gemm16_command;

typedef struct gemm16_device gemm16_device;

/** Counters of a device since it was opened. */
typedef struct gemm16_counters {
  /** End of the last command, on the device's clock. */
  uint64_t cycles;
  /** Cycles of these in which the array worked, and in which a fence stood
   * still. */
  uint64_t array_cycles, stall_cycles;
  uint64_t bytes_in, bytes_out;
  uint64_t commands, moves, fences, multiplications;
} gemm16_counters;

/** Opens a device with memories of so many bytes. `dataflow` is "weights" or
 * "outputs": what stays in the array. */
int gemm16_open(gemm16_device **out_device, int64_t scratchpad,
                int64_t accumulator, const char *dataflow);

/** Closes a device, with what is in its queue; null is allowed. */
int gemm16_close(gemm16_device *device);

/** A sentence for a status. */
const char *gemm16_status_string(int status);

/** Reads the counters of the commands that are worked off. */
void gemm16_read_counters(const gemm16_device *device,
                          gemm16_counters *counters);

/** Enqueues a command. */
int gemm16_enqueue(gemm16_device *device, const gemm16_command *command);

/** Works off the queue. */
int gemm16_fence(gemm16_device *device);

/*===------------------------- Blocks and layers
 * ------------------------------===*/

/** A block that is moved: counts of elements of `element` bytes and strides in
 * bytes, outermost first; the innermost elements are adjacent. */
typedef struct gemm16_block {
  uint32_t count[4];
  int64_t host_stride[4], tile_stride[4];
  uint32_t element;
} gemm16_block;

/** Requantization of sums on the store. `scales` has an element for each
 * of `channels` channels, which are innermost. */
typedef struct gemm16_output {
  const float *scales;
  uint32_t channels;
  int32_t zero, least, most;
} gemm16_output;

/** Moves a block into the scratchpad; `tile` is a byte. */
int gemm16_load(gemm16_device *device, uint32_t tile, const void *host,
                const gemm16_block *block, uint32_t channel);

/** Moves a block of int32 into the accumulator; `tile` is a byte. */
int gemm16_load_sums(gemm16_device *device, uint32_t tile, const void *host,
                     const gemm16_block *block, uint32_t channel);

/** Moves a block of sums out as int8; `tile` is a byte of the accumulator. */
int gemm16_store(gemm16_device *device, uint32_t tile, int8_t *host,
                 const gemm16_block *block, const gemm16_output *output,
                 uint32_t channel);

/** Waits for the moves of a channel of the scratchpad: what is enqueued later
 * begins when they are done. Does not work off the queue. */
int gemm16_wait(gemm16_device *device, uint32_t channel);

/** The same for a channel of the accumulator, and works off the queue: the
 * host's memory has what was stored. */
int gemm16_wait_sums(gemm16_device *device, uint32_t channel);

/** A convolution of a tile, or a product: an image of one row. The input is
 * [in_h][in_w][in_c], weights [kernel_h][kernel_w][in_c][out_c], the result
 * [out_h][out_w][out_c], the bias [out_c]; channels fill whole rows. `first`
 * sets the sums to the bias, or zeros without `has_bias`, before it adds. */
typedef struct gemm16_layer {
  uint32_t in_h, in_w, in_c, out_h, out_w, out_c;
  uint32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  uint32_t pad_top, pad_left;
  uint32_t first, has_bias;
  int32_t zero;
} gemm16_layer;

/** Enqueues the commands of a layer; operands are bytes, of which `x` and `w`
 * are in the scratchpad, `bias` and `y` in the accumulator. */
int gemm16_compute(gemm16_device *device, const gemm16_layer *layer, uint32_t x,
                   uint32_t w, uint32_t bias, uint32_t y);

#ifdef __cplusplus
}
#endif

#endif /* GEMM16_H */
