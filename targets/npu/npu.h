/*===- npu.h - A simulated command-stream accelerator -------------*- C -*-===
 *
 * An accelerator for int8 networks that takes its work as one stream of bytes,
 * and computes from its own SRAM: every operand of a command is brought in by
 * DMA, and its result is brought out. Weights are fetched in bursts of 16
 * bytes, the last one to its end. npu_submit runs a stream to its end.
 *
 * Numbers. q stands for (q - zero) * scale. Products are summed exactly in 32
 * bits; a sum becomes an output by one multiplication with a float, rounded
 * half to even, plus the output's zero point, limited to [low, high].
 *
 * Images are n x h x w x c, filters out x kernel_h x kernel_w x in; those of a
 * depthwise convolution are kernel_h x kernel_w x out.
 *
 * The format of streams is that of Phaseline's src/codegen/stream.rs. The
 * arguments of each opcode are in npu.c, beside what it does.
 *
 *===----------------------------------------------------------------------===*/

#ifndef NPU_H
#define NPU_H

#include <stdint.h>

/** The SRAM of the device. */
#define NPU_SRAM_BYTES 1048576u

enum npu_opcode {
  NPU_CONV2D = 1,
  NPU_DEPTHWISE = 2,
  NPU_DENSE = 3,
  NPU_MAX_POOL = 4,
  NPU_AVERAGE_POOL = 5,
  NPU_ADD = 6
};

enum npu_status {
  NPU_OK = 0,
  /** No host memory to open a device. */
  NPU_ERR_MEMORY = 1,
  /** No stream, one of another version, or one that is cut off. */
  NPU_ERR_STREAM = 2,
  /** An unknown opcode, or arguments that do not fit it. */
  NPU_ERR_COMMAND = 3,
  /** The operands of a command do not fit into the SRAM. */
  NPU_ERR_SRAM = 4
};

typedef struct npu_device npu_device;

/** Counters of a device since it was opened. */
typedef struct npu_counters {
  uint64_t commands, multiplications, dma_bytes, submissions;
} npu_counters;

/** Opens a device. Allocates; no other function does. */
int npu_open(npu_device **out_device);

/** Closes a device; null is allowed. */
int npu_close(npu_device *device);

/** A sentence for a status. */
const char *npu_status_string(int status);

/** Runs a stream. `weights` and `scratch` are what the stream's buffers in
 * these spaces are in; the addresses of `inputs` inputs and `outputs` outputs
 * follow. Stops at the first command that fails. */
int npu_submit(npu_device *device, const void *stream, int64_t bytes,
               const void *weights, void *scratch, int inputs, int outputs,
               ...);

/** Reads the counters. */
void npu_read_counters(const npu_device *device, npu_counters *counters);

#endif /* NPU_H */
