/*===- gemm16.c - Opening, queue and status of gemm16 --------------*- C
 * -*-===*/

#include "gemm16_device.h"

#include <stdlib.h>
#include <string.h>

int gemm16_open(gemm16_device **out_device, int64_t scratchpad,
                int64_t accumulator, const char *dataflow) {
  if (!out_device || !dataflow || scratchpad < DIM || accumulator < 4 * DIM ||
      scratchpad > GEMM16_MAX_SCRATCHPAD ||
      accumulator > GEMM16_MAX_ACCUMULATOR)
    return GEMM16_ERR_ARGUMENT;
  bool outputs = strcmp(dataflow, "outputs") == 0;
  if (!outputs && strcmp(dataflow, "weights") != 0)
    return GEMM16_ERR_ARGUMENT;
  gemm16_device *device = calloc(1, sizeof *device);
  if (!device)
    return GEMM16_ERR_MEMORY;
  device->scratchpad_rows = (uint32_t)(scratchpad / DIM);
  device->accumulator_rows = (uint32_t)(accumulator / (4 * DIM));
  device->outputs_stay = outputs;
  *out_device = device;
  return GEMM16_OK;
}

int gemm16_close(gemm16_device *device) {
  free(device);
  return GEMM16_OK;
}

const char *gemm16_status_string(int status) {
  switch (status) {
  case GEMM16_OK:
    return "no error";
  case GEMM16_ERR_MEMORY:
    return "no memory to open the device";
  case GEMM16_ERR_ARGUMENT:
    return "a null pointer, an unknown command, or a size that no memory has";
  case GEMM16_ERR_BOUNDS:
    return "a command names a row outside of its memory";
  case GEMM16_ERR_ALIGNMENT:
    return "an address is inside of a row";
  case GEMM16_ERR_TILE:
    return "a command has more than 16 rows or columns, or none";
  case GEMM16_ERR_UNFILLED:
    return "a command reads elements that nothing has filled";
  case GEMM16_ERR_HAZARD:
    return "a command uses a row of a move that no fence has waited for";
  case GEMM16_ERR_DATAFLOW:
    return "a command is of the other dataflow";
  default:
    return "unknown status of gemm16";
  }
}

void gemm16_read_counters(const gemm16_device *device,
                          gemm16_counters *counters) {
  *counters = device->counters;
}

int gemm16_fence(gemm16_device *device) {
  int status = GEMM16_OK;
  for (uint32_t i = 0; i < device->queued && status == GEMM16_OK; i++)
    status = gemm16_run(device, &device->queue[i]);
  device->queued = 0;
  if (status == GEMM16_OK)
    return status;
  /* Commands under way are lost. */
  for (uint32_t i = 0; i < SCRATCHPAD_ROWS; i++)
    device->scratchpad_state[i] = (row_state){0, 0};
  for (uint32_t i = 0; i < ACCUMULATOR_ROWS; i++)
    device->accumulator_state[i] = (row_state){0, 0};
  memset(device->array, 0, sizeof device->array);
  device->weight_rows = device->weight_columns = 0;
  return status;
}

int gemm16_enqueue(gemm16_device *device, const gemm16_command *command) {
  if (!device || !command)
    return GEMM16_ERR_ARGUMENT;
  if (device->queued == QUEUE) {
    int status = gemm16_fence(device);
    if (status != GEMM16_OK)
      return status;
  }
  device->queue[device->queued++] = *command;
  return GEMM16_OK;
}

int gemm16_wait(gemm16_device *device, uint32_t channel) {
  gemm16_command fence = {.opcode = GEMM16_FENCE, .channel = channel};
  return gemm16_enqueue(device, &fence);
}

int gemm16_wait_sums(gemm16_device *device, uint32_t channel) {
  int status = gemm16_wait(device, channel);
  return status == GEMM16_OK ? gemm16_fence(device) : status;
}
