/*===- gemm16_execute.c - What the commands of gemm16 do -----------*- C
 * -*-===*/

#include "gemm16_device.h"

#include <math.h>
#include <string.h>

/** Use of rows by a command. */
enum use { READS, WRITES };

/* Rows of a memory that a command reads `columns` elements of, or writes. */
static int check_rows(row_state *state, uint32_t limit, uint32_t row,
                      uint32_t step, uint32_t rows, uint32_t columns,
                      enum use use) {
  if (rows == 0 || rows > DIM || columns == 0 || columns > DIM)
    return GEMM16_ERR_TILE;
  if (row >= limit || (uint64_t)row + (uint64_t)step * (rows - 1) >= limit)
    return GEMM16_ERR_BOUNDS;
  for (uint32_t i = 0; i < rows; i++) {
    const row_state *at = &state[row + i * step];
    if (at->channel)
      return GEMM16_ERR_HAZARD;
    if (use == READS && at->filled < columns)
      return GEMM16_ERR_UNFILLED;
  }
  return GEMM16_OK;
}

static int check_scratchpad(gemm16_device *device, uint32_t row, uint32_t step,
                            uint32_t rows, uint32_t columns, enum use use) {
  return check_rows(device->scratchpad_state, device->scratchpad_rows, row,
                    step, rows, columns, use);
}

static int check_accumulator(gemm16_device *device, uint32_t row, uint32_t step,
                             uint32_t rows, uint32_t columns, enum use use) {
  return check_rows(device->accumulator_state, device->accumulator_rows, row,
                    step, rows, columns, use);
}

static void mark(row_state *state, const gemm16_command *c, uint32_t channel,
                 bool fills) {
  for (uint32_t i = 0; i < c->rows; i++) {
    row_state *at = &state[c->row + i * c->step];
    at->channel = (uint8_t)channel;
    if (fills)
      at->filled = (uint8_t)c->columns;
  }
}

/*===------------------------------- Time
 * -----------------------------------===*/

/* check-target: no defects */
static void advance(gemm16_device *device, uint64_t cycles) {
  device->now += cycles;
  if (device->counters.cycles < device->now)
    device->counters.cycles = device->now;
}

static void work(gemm16_device *device, uint64_t cycles) {
  device->counters.array_cycles += cycles;
  advance(device, cycles + ISSUE);
}

/* A move has the way to the host's memory to itself: a cycle for each row of at
 * most 16 bytes. */
static void move(gemm16_device *device, const gemm16_command *c,
                 uint32_t element) {
  uint64_t begin =
      device->now > device->way_free ? device->now : device->way_free;
  uint64_t per_row = ((uint64_t)c->columns * element + DIM - 1) / DIM;
  device->way_free = begin + c->rows * per_row;
  device->done[c->channel] = device->way_free + MOVE_LATENCY;
  device->counters.moves++;
  advance(device, ISSUE);
}
/* check-target: defects */

/*===------------------------------- Moves
 * ----------------------------------===*/

static int mvin(gemm16_device *device, const gemm16_command *c) {
  bool sums = c->opcode == GEMM16_MVIN_ACCUMULATOR;
  if (!c->source || c->channel >= GEMM16_CHANNELS)
    return GEMM16_ERR_ARGUMENT;
  int status = sums ? check_accumulator(device, c->row, c->step, c->rows,
                                        c->columns, WRITES)
                    : check_scratchpad(device, c->row, c->step, c->rows,
                                       c->columns, WRITES);
  if (status != GEMM16_OK)
    return status;
  const uint8_t *from = c->source;
  const uint32_t element = sums ? 4 : 1;
  for (uint32_t i = 0; i < c->rows; i++, from += c->host_stride) {
    uint32_t row = c->row + i * c->step;
    void *to = sums ? (void *)device->accumulator[row].sums
                    : (void *)device->scratchpad[row].data;
    memcpy(to, from, (size_t)c->columns * element);
  }
  mark(sums ? device->accumulator_state : device->scratchpad_state, c,
       c->channel + 1, true);
  device->counters.bytes_in += (uint64_t)c->rows * c->columns * element;
  move(device, c, element);
  return GEMM16_OK;
}

static int8_t requantize(int32_t sum, float scale, const gemm16_command *c) {
  /* Far beyond what int8 holds, as the limits are in it. */
  double value = (double)rintf((float)sum * scale) + c->zero;
  return (int8_t)(value < c->least  ? c->least
                  : value > c->most ? c->most
                                    : (int32_t)value);
}

static int mvout(gemm16_device *device, const gemm16_command *c) {
  if (!c->target || c->channel >= GEMM16_CHANNELS || c->least > c->most ||
      c->least < INT8_MIN || c->most > INT8_MAX)
    return GEMM16_ERR_ARGUMENT;
  int status =
      check_accumulator(device, c->row, c->step, c->rows, c->columns, READS);
  if (status != GEMM16_OK)
    return status;
  int8_t *to = c->target;
  for (uint32_t i = 0; i < c->rows; i++, to += c->host_stride)
    for (uint32_t k = 0; k < c->columns; k++)
      to[k] = requantize(device->accumulator[c->row + i * c->step].sums[k],
                         c->scale[k], c);
  mark(device->accumulator_state, c, c->channel + 1, false);
  device->counters.bytes_out += (uint64_t)c->rows * c->columns;
  move(device, c, 1);
  return GEMM16_OK;
}

static int fence(gemm16_device *device, const gemm16_command *c) {
  if (c->channel >= GEMM16_CHANNELS)
    return GEMM16_ERR_ARGUMENT;
  uint8_t channel = (uint8_t)(c->channel + 1);
  for (uint32_t i = 0; i < device->scratchpad_rows; i++)
    if (device->scratchpad_state[i].channel == channel)
      device->scratchpad_state[i].channel = 0;
  for (uint32_t i = 0; i < device->accumulator_rows; i++)
    if (device->accumulator_state[i].channel == channel)
      device->accumulator_state[i].channel = 0;
  /* check-target: no defects */
  device->counters.fences++;
  if (device->done[c->channel] > device->now) {
    uint64_t stall = device->done[c->channel] - device->now;
    device->counters.stall_cycles += stall;
    advance(device, stall);
  }
  advance(device, ISSUE);
  /* check-target: defects */
  return GEMM16_OK;
}

/*===------------------------------- Array
 * ----------------------------------===*/

static int fill(gemm16_device *device, const gemm16_command *c) {
  int status =
      check_accumulator(device, c->row, c->step, c->rows, c->columns, WRITES);
  const bool zeros = c->other == GEMM16_NONE;
  if (status == GEMM16_OK && !zeros)
    status = check_accumulator(device, c->other, 1, 1, c->columns, READS);
  if (status != GEMM16_OK)
    return status;
  for (uint32_t i = 0; i < c->rows; i++)
    for (uint32_t k = 0; k < c->columns; k++)
      device->accumulator[c->row + i * c->step].sums[k] =
          zeros ? 0 : device->accumulator[c->other].sums[k];
  mark(device->accumulator_state, c, 0, true);
  work(device, c->rows);
  return GEMM16_OK;
}

static int preload(gemm16_device *device, const gemm16_command *c) {
  if (device->outputs_stay)
    return GEMM16_ERR_DATAFLOW;
  int status =
      check_scratchpad(device, c->row, c->step, c->rows, c->columns, READS);
  if (status != GEMM16_OK)
    return status;
  for (uint32_t i = 0; i < c->rows; i++)
    memcpy(device->weights[i], device->scratchpad[c->row + i * c->step].data,
           c->columns);
  device->weight_rows = c->rows;
  device->weight_columns = c->columns;
  work(device, DIM);
  return GEMM16_OK;
}

static int32_t plus(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t product(const gemm16_command *c, const int8_t *data,
                       int8_t (*weights)[DIM], uint32_t column) {
  int32_t sum = 0;
  for (uint32_t k = 0; k < c->inner; k++)
    sum += (data[k] - c->zero) * weights[k][column];
  return sum;
}

static void count(gemm16_device *device, const gemm16_command *c) {
  device->counters.multiplications += (uint64_t)c->rows * c->columns * c->inner;
}

/* The zero point of the input is one of int8. */
static bool is_zero_point(int32_t zero) {
  return zero >= INT8_MIN && zero <= INT8_MAX;
}

static int compute(gemm16_device *device, const gemm16_command *c) {
  if (device->outputs_stay)
    return GEMM16_ERR_DATAFLOW;
  if (!is_zero_point(c->zero))
    return GEMM16_ERR_ARGUMENT;
  if (c->inner > device->weight_rows || c->columns > device->weight_columns)
    return GEMM16_ERR_UNFILLED;
  int status =
      check_scratchpad(device, c->row, c->step, c->rows, c->inner, READS);
  if (status == GEMM16_OK)
    status = check_accumulator(device, c->other, c->other_step, c->rows,
                               c->columns, READS);
  if (status != GEMM16_OK)
    return status;
  for (uint32_t i = 0; i < c->rows; i++) {
    const int8_t *data = device->scratchpad[c->row + i * c->step].data;
    int32_t *sums = device->accumulator[c->other + i * c->other_step].sums;
    for (uint32_t k = 0; k < c->columns; k++)
      sums[k] = plus(sums[k], product(c, data, device->weights, k));
  }
  count(device, c);
  work(device, c->rows);
  return GEMM16_OK;
}

static int compute_in_place(gemm16_device *device, const gemm16_command *c) {
  if (!device->outputs_stay)
    return GEMM16_ERR_DATAFLOW;
  if (!is_zero_point(c->zero))
    return GEMM16_ERR_ARGUMENT;
  int status =
      check_scratchpad(device, c->row, c->step, c->rows, c->inner, READS);
  if (status == GEMM16_OK)
    status = check_scratchpad(device, c->weights, c->weight_step, c->inner,
                              c->columns, READS);
  if (status == GEMM16_OK && (c->first >= DIM || c->first + c->rows > DIM))
    status = GEMM16_ERR_TILE;
  if (status != GEMM16_OK)
    return status;
  for (uint32_t i = 0; i < c->inner; i++)
    memcpy(device->weights[i],
           device->scratchpad[c->weights + i * c->weight_step].data, DIM);
  for (uint32_t i = 0; i < c->rows; i++) {
    const int8_t *data = device->scratchpad[c->row + i * c->step].data;
    int32_t *sums = device->array[c->first + i];
    for (uint32_t k = 0; k < c->columns; k++)
      sums[k] = plus(sums[k], product(c, data, device->weights, k));
  }
  count(device, c);
  work(device, c->inner);
  return GEMM16_OK;
}

static int flush(gemm16_device *device, const gemm16_command *c) {
  if (!device->outputs_stay)
    return GEMM16_ERR_DATAFLOW;
  int status = check_accumulator(device, c->other, c->other_step, c->rows,
                                 c->columns, READS);
  if (status == GEMM16_OK && (c->first >= DIM || c->first + c->rows > DIM))
    status = GEMM16_ERR_TILE;
  if (status != GEMM16_OK)
    return status;
  for (uint32_t i = 0; i < c->rows; i++) {
    int32_t *sums = device->accumulator[c->other + i * c->other_step].sums;
    int32_t *array = device->array[c->first + i];
    for (uint32_t k = 0; k < c->columns; k++) {
      sums[k] = plus(sums[k], array[k]);
      array[k] = 0;
    }
  }
  work(device, DIM);
  return GEMM16_OK;
}

int gemm16_run(gemm16_device *device, const gemm16_command *command) {
  device->counters.commands++;
  switch (command->opcode) {
  case GEMM16_MVIN:
  case GEMM16_MVIN_ACCUMULATOR:
    return mvin(device, command);
  case GEMM16_MVOUT:
    return mvout(device, command);
  case GEMM16_FENCE:
    return fence(device, command);
  case GEMM16_FILL:
    return fill(device, command);
  case GEMM16_PRELOAD:
    return preload(device, command);
  case GEMM16_COMPUTE:
    return compute(device, command);
  case GEMM16_COMPUTE_IN_PLACE:
    return compute_in_place(device, command);
  case GEMM16_FLUSH:
    return flush(device, command);
  default:
    return GEMM16_ERR_ARGUMENT;
  }
}
