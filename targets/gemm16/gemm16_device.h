/*===- gemm16_device.h - The inside of the simulator ---------------*- C
 * -*-===*/

#ifndef GEMM16_DEVICE_H
#define GEMM16_DEVICE_H

#include "gemm16.h"

enum {
  DIM = GEMM16_DIM,
  QUEUE = 64,
  SCRATCHPAD_ROWS = GEMM16_MAX_SCRATCHPAD / DIM,
  ACCUMULATOR_ROWS = GEMM16_MAX_ACCUMULATOR / (4 * DIM),
  /* The cycle model; README.md explains it. */
  MOVE_LATENCY = 12,
  ISSUE = 1
};

/** State of a row besides its elements. */
typedef struct row_state {
  /** Number of its elements that something has filled. */
  uint8_t filled;
  /** 1 + the channel of a move that no fence has waited for; 0 for none. */
  uint8_t channel;
} row_state;

typedef struct sums_row {
  int32_t sums[DIM];
} sums_row;

typedef struct data_row {
  int8_t data[DIM];
} data_row;

struct gemm16_device {
  gemm16_counters counters;
  uint32_t scratchpad_rows, accumulator_rows;
  bool outputs_stay;
  gemm16_command queue[QUEUE];
  uint32_t queued;
  /** Times at which the next command begins, each channel is done, and the way
   * to the host's memory is free. */
  uint64_t now, done[GEMM16_CHANNELS], way_free;
  data_row scratchpad[SCRATCHPAD_ROWS];
  row_state scratchpad_state[SCRATCHPAD_ROWS];
  sums_row accumulator[ACCUMULATOR_ROWS];
  row_state accumulator_state[ACCUMULATOR_ROWS];
  /** The array: weights, or sums, and how much of it holds weights. */
  int8_t weights[DIM][DIM];
  uint32_t weight_rows, weight_columns;
  int32_t array[DIM][DIM];
};

/** Runs one command. */
int gemm16_run(gemm16_device *device, const gemm16_command *command);

#endif /* GEMM16_DEVICE_H */
