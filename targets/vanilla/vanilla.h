/*===- vanilla.h - The vanilla tensor accelerator -----------------*- C -*-===
 *
 * A simulated accelerator for f32 networks: 64 KiB of scratchpad memory, a DMA
 * engine with four channels and a unit of 8x8 multiply-accumulators. It
 * computes for real, and counts the cycles and bytes that the device would
 * take. README.md of runtime-c describes the cycle model.
 *
 * Status. Every function returns VANILLA_OK (0) or another vanilla_status. A
 * call that fails has no effect, unless it says otherwise.
 *
 * Scratchpad. Addresses in it are byte offsets. Instructions read and write
 * only the scratchpad; DMA moves data between it and host memory. After opening
 * it holds NaN, so that data which was never loaded shows in the results.
 *
 * DMA. A transfer is started on an idle channel and runs until it is waited
 * for; the copy takes place at the wait. Between start and wait no instruction
 * and no other transfer may touch the scratchpad bytes that it writes, nor
 * write those that it reads: VANILLA_ERR_HAZARD. The bytes of a strided
 * transfer are taken to be all from the first to the last. The host memory of a
 * transfer belongs to the device until the wait; that is not checked.
 *
 * Alignment. Operands of instructions are at multiples of VANILLA_ALIGNMENT
 * bytes, transfers at multiples of 4 on both sides: VANILLA_ERR_ALIGNMENT.
 *
 * Threads. One thread at a time may use a device; different devices are
 * independent. There is no state outside a device.
 *
 *===----------------------------------------------------------------------===*/

#ifndef VANILLA_H
#define VANILLA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VANILLA_SCRATCHPAD_BYTES 65536u
#define VANILLA_ALIGNMENT 16u
#define VANILLA_CHANNELS 4u
/** Output channels that weights are packed by. */
#define VANILLA_LANES 8u

typedef enum vanilla_status {
  VANILLA_OK = 0,
  /** A null pointer, a size of zero or too large, an unknown enumerator. */
  VANILLA_ERR_ARGUMENT = 1,
  /** Bytes outside the scratchpad. */
  VANILLA_ERR_BOUNDS = 2,
  /** An offset, stride or address that is not aligned. */
  VANILLA_ERR_ALIGNMENT = 3,
  /** Bytes that a transfer which was not waited for reads or writes. */
  VANILLA_ERR_HAZARD = 4,
  /** A channel whose transfer was not waited for. */
  VANILLA_ERR_BUSY = 5,
  /** An output that overlaps an input of the same instruction. */
  VANILLA_ERR_OVERLAP = 6,
  /** No host memory to open a device. */
  VANILLA_ERR_MEMORY = 7
} vanilla_status;

/** A sentence for `status`, never null; the text is static. */
const char *vanilla_status_string(int status);

/** A device. Made by vanilla_open, owned by the caller until vanilla_close. */
typedef struct vanilla_device vanilla_device;

/** Opens a device. Allocates; no other function does.
 * Fails with ARGUMENT, MEMORY. */
int vanilla_open(vanilla_device **out_device);

/** Closes a device; null is allowed. If a transfer was not waited for, the
 * device is closed, the transfer is lost and HAZARD is returned. */
int vanilla_close(vanilla_device *device);

/*===--------------------------------- DMA
 * ---------------------------------===*/

/** The shape of a transfer: a block of up to four dimensions, outermost first,
 * of f32 elements. Unused dimensions have count 1 and any stride. Strides are
 * in bytes; those of the host may be negative or zero, those of the scratchpad
 * are zero only where the count is 1 or the scratchpad is read. */
typedef struct vanilla_dma_shape {
  uint32_t count[4];
  int64_t host_stride[4];
  uint32_t spad_stride[4];
} vanilla_dma_shape;

/** Starts a transfer from `src` in host memory to the scratchpad.
 * Fails with ARGUMENT, BOUNDS, ALIGNMENT, HAZARD, BUSY. */
int vanilla_dma_in_start(vanilla_device *device, uint32_t spad_offset,
                         const void *src, const vanilla_dma_shape *shape,
                         uint32_t channel);

/** Starts a transfer from the scratchpad to `out_dst` in host memory.
 * Fails with ARGUMENT, BOUNDS, ALIGNMENT, HAZARD, BUSY. */
int vanilla_dma_out_start(vanilla_device *device, uint32_t spad_offset,
                          const vanilla_dma_shape *shape, uint32_t channel,
                          void *out_dst);

/** Waits for the transfer of a channel; at once if it is idle.
 * Fails with ARGUMENT. */
int vanilla_dma_wait(vanilla_device *device, uint32_t channel);

/*===----------------------------- Instructions
 * ----------------------------===*/

typedef enum vanilla_activation {
  VANILLA_NONE = 0,
  VANILLA_RELU = 1,
  VANILLA_RELU6 = 2
} vanilla_activation;

/** A convolution of one tile. Dense layouts in the scratchpad:
 * input [in_c][in_h][in_w], output [out_c][out_h][out_w], bias [out_c], weights
 * [ceil(out_c/8)][in_c][kernel_h][kernel_w][8] where lane l of block b belongs
 * to output channel 8*b+l; lanes past out_c are zero.
 * Output row y reads input rows y*stride_h - pad_top + k*dilation_h, columns
 * likewise; what lies outside the input tile is zero. So the pads of a tile are
 * those of the whole image where it touches the border, and zero elsewhere. */
typedef struct vanilla_conv2d_params {
  uint32_t in_c, in_h, in_w;
  uint32_t out_c, out_h, out_w;
  uint32_t kernel_h, kernel_w;
  uint32_t stride_h, stride_w;
  uint32_t dilation_h, dilation_w;
  uint32_t pad_top, pad_left;
  /** 1: add the bias, 0: the bias offset is ignored. */
  uint32_t has_bias;
  /** 1: add to what the output holds, 0: overwrite it. */
  uint32_t accumulate;
  /** A vanilla_activation, applied last. */
  uint32_t activation;
} vanilla_conv2d_params;

/** Computes output = activation(conv(input, weights) [+ bias] [+ output]).
 * Fails with ARGUMENT, BOUNDS, ALIGNMENT, HAZARD, OVERLAP. */
int vanilla_conv2d(vanilla_device *device, const vanilla_conv2d_params *params,
                   uint32_t input, uint32_t weights, uint32_t bias,
                   uint32_t output);

/** A depthwise convolution of one tile: as vanilla_conv2d_params, but channel c
 * of the output reads only channel c of the input, so in_c equals out_c, and
 * the weights are [ceil(out_c/8)][kernel_h][kernel_w][8]. Fails with ARGUMENT,
 * BOUNDS, ALIGNMENT, HAZARD, OVERLAP. */
int vanilla_depthwise(vanilla_device *device,
                      const vanilla_conv2d_params *params, uint32_t input,
                      uint32_t weights, uint32_t bias, uint32_t output);

/** A matrix product of one tile: input [rows][in], output [rows][out], bias
 * [out], weights [ceil(out/8)][in][8] with zero lanes past out. */
typedef struct vanilla_dense_params {
  uint32_t rows, in, out;
  uint32_t has_bias;
  uint32_t accumulate;
  uint32_t activation;
} vanilla_dense_params;

/** Computes output = activation(input * weights [+ bias] [+ output]).
 * Fails with ARGUMENT, BOUNDS, ALIGNMENT, HAZARD, OVERLAP. */
int vanilla_dense(vanilla_device *device, const vanilla_dense_params *params,
                  uint32_t input, uint32_t weights, uint32_t bias,
                  uint32_t output);

/** Computes output[i] = activation(lhs[i] + rhs[i]) for i < count. The output
 * may be an operand itself, but not overlap one otherwise.
 * Fails with ARGUMENT, BOUNDS, ALIGNMENT, HAZARD, OVERLAP. */
int vanilla_add(vanilla_device *device, uint32_t count, uint32_t activation,
                uint32_t lhs, uint32_t rhs, uint32_t output);

/** Computes output[i] = activation(input[i]) for i < count, with the rule of
 * vanilla_add for the output.
 * Fails with ARGUMENT, BOUNDS, ALIGNMENT, HAZARD, OVERLAP. */
int vanilla_activate(vanilla_device *device, uint32_t count,
                     uint32_t activation, uint32_t input, uint32_t output);

/*===------------------------------- Counters
 * ------------------------------===*/

/** Counters of a device since it was opened or they were reset. */
typedef struct vanilla_counters {
  /** Time on the device's clock; DMA and instructions overlap. */
  uint64_t cycles;
  /** Cycles of these in which an instruction ran. */
  uint64_t compute_cycles;
  /** Cycles of these in which a wait stood still. */
  uint64_t stall_cycles;
  /** Cycles in which the DMA engine moved data. */
  uint64_t dma_cycles;
  uint64_t bytes_in;
  uint64_t bytes_out;
  /** Multiply-accumulates that were asked for, without padding lanes. */
  uint64_t macs;
  uint64_t instructions;
  uint64_t transfers;
} vanilla_counters;

/** Reads the counters. Transfers count when they are started.
 * Fails with ARGUMENT. */
int vanilla_get_counters(const vanilla_device *device,
                         vanilla_counters *out_counters);

/** Sets the counters and the clock to zero. Fails with ARGUMENT, and with BUSY
 * while a transfer was not waited for. */
int vanilla_reset_counters(vanilla_device *device);

#ifdef __cplusplus
}
#endif

#endif /* VANILLA_H */
