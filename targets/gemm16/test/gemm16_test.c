/*===- gemm16_test.c - Tests of gemm16 ----------------------------*- C -*-===*/

#include "check.h"
#include "gemm16.h"

#include <string.h>

static gemm16_device *open_device(const char *dataflow) {
  gemm16_device *device = NULL;
  CHECK_STATUS(gemm16_open(&device, 4096, 4096, dataflow), GEMM16_OK);
  return device;
}

static int one(gemm16_device *device, gemm16_command command) {
  CHECK_STATUS(gemm16_enqueue(device, &command), GEMM16_OK);
  return gemm16_fence(device);
}

static void fill_rows(gemm16_device *device, const int8_t *from, uint32_t row,
                      uint32_t rows, uint32_t columns) {
  const gemm16_command move = {.opcode = GEMM16_MVIN,
                               .row = row,
                               .step = 1,
                               .rows = rows,
                               .columns = columns,
                               .host_stride = columns,
                               .source = from};
  const gemm16_command fence = {.opcode = GEMM16_FENCE};
  CHECK_STATUS(one(device, move), GEMM16_OK);
  CHECK_STATUS(one(device, fence), GEMM16_OK);
}

static void fill_sums(gemm16_device *device, uint32_t row, uint32_t rows,
                      uint32_t columns) {
  const gemm16_command zeros = {.opcode = GEMM16_FILL,
                                .row = row,
                                .step = 1,
                                .rows = rows,
                                .columns = columns,
                                .other = GEMM16_NONE};
  CHECK_STATUS(one(device, zeros), GEMM16_OK);
}

static gemm16_command product(void) {
  const gemm16_command c = {.opcode = GEMM16_COMPUTE,
                            .step = 1,
                            .rows = 3,
                            .columns = 2,
                            .inner = 4,
                            .other_step = 1,
                            .zero = 1};
  return c;
}

static gemm16_command stored(int8_t *to) {
  const gemm16_command c = {.opcode = GEMM16_MVOUT,
                            .channel = 5,
                            .step = 1,
                            .rows = 3,
                            .columns = 2,
                            .least = -128,
                            .most = 127,
                            .zero = 1,
                            .host_stride = 2,
                            .target = to,
                            .scale = {0.5f, 0.25f}};
  return c;
}

static const int8_t pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4};
static const int8_t filters[] = {1, 2, 3, 4, 5, 6, 7, 8};
/* Half, and a quarter, of 34, 40; 98, 120; -66, -80; plus one. */
static const int8_t results[] = {18, 11, 50, 31, -32, -19};

static void check_results(gemm16_device *device) {
  int8_t y[6] = {0};
  const gemm16_command fence = {.opcode = GEMM16_FENCE, .channel = 5};
  CHECK_STATUS(one(device, stored(y)), GEMM16_OK);
  CHECK_STATUS(one(device, fence), GEMM16_OK);
  CHECK(memcmp(y, results, sizeof y) == 0, "gemm16");
}

void test_gemm16_weights_stay(void) {
  gemm16_device *device = open_device("weights");
  fill_rows(device, pixels, 0, 3, 4);
  fill_rows(device, filters, 8, 4, 2);
  fill_sums(device, 0, 3, 2);
  gemm16_command load = {
      .opcode = GEMM16_PRELOAD, .row = 8, .step = 1, .rows = 4, .columns = 2};
  CHECK_STATUS(one(device, load), GEMM16_OK);
  CHECK_STATUS(one(device, product()), GEMM16_OK);
  check_results(device);
  gemm16_counters counters;
  gemm16_read_counters(device, &counters);
  CHECK(counters.multiplications == 3 * 2 * 4, "gemm16");
  CHECK(counters.bytes_in == 12 + 8 && counters.bytes_out == 6, "gemm16");
  CHECK(counters.moves == 3 && counters.fences == 3, "gemm16");
  CHECK(counters.cycles > counters.array_cycles + counters.stall_cycles,
        "gemm16");
  CHECK(counters.array_cycles == 3 + 16 + 3, "gemm16");
  CHECK_STATUS(gemm16_close(device), GEMM16_OK);
}

void test_gemm16_sums_stay(void) {
  gemm16_device *device = open_device("outputs");
  fill_rows(device, pixels, 0, 3, 4);
  fill_rows(device, filters, 8, 4, 2);
  fill_sums(device, 0, 3, 2);
  gemm16_command c = product();
  c.opcode = GEMM16_COMPUTE_IN_PLACE;
  c.weights = 8;
  c.weight_step = 1;
  c.first = 2;
  CHECK_STATUS(one(device, c), GEMM16_OK);
  gemm16_command flush = {.opcode = GEMM16_FLUSH,
                          .rows = 3,
                          .columns = 2,
                          .first = 2,
                          .other_step = 1};
  CHECK_STATUS(one(device, flush), GEMM16_OK);
  check_results(device);
  c.first = 14;
  CHECK_STATUS(one(device, c), GEMM16_ERR_TILE);
  CHECK_STATUS(gemm16_close(device), GEMM16_OK);
}

void test_gemm16_refuses(void) {
  gemm16_device *device = open_device("weights");
  fill_sums(device, 0, 3, 2);
  /* No weights; then no input. */
  CHECK_STATUS(one(device, product()), GEMM16_ERR_UNFILLED);
  fill_rows(device, filters, 8, 4, 2);
  fill_sums(device, 0, 3, 2);
  gemm16_command load = {
      .opcode = GEMM16_PRELOAD, .row = 8, .step = 1, .rows = 4, .columns = 3};
  CHECK_STATUS(one(device, load), GEMM16_ERR_UNFILLED);
  fill_rows(device, filters, 8, 4, 2);
  load.columns = 17;
  CHECK_STATUS(one(device, load), GEMM16_ERR_TILE);
  load.columns = 2;
  load.row = 4096 / 16;
  CHECK_STATUS(one(device, load), GEMM16_ERR_BOUNDS);
  load.opcode = 77;
  CHECK_STATUS(one(device, load), GEMM16_ERR_ARGUMENT);
  gemm16_command other = product();
  other.opcode = GEMM16_COMPUTE_IN_PLACE;
  CHECK_STATUS(one(device, other), GEMM16_ERR_DATAFLOW);
  CHECK_STATUS(gemm16_close(device), GEMM16_OK);
}

void test_gemm16_hazards(void) {
  gemm16_device *device = open_device("weights");
  const gemm16_command move = {.opcode = GEMM16_MVIN,
                               .channel = 2,
                               .step = 1,
                               .rows = 4,
                               .columns = 2,
                               .host_stride = 2,
                               .source = filters};
  const gemm16_command load = {
      .opcode = GEMM16_PRELOAD, .step = 1, .rows = 4, .columns = 2};
  gemm16_command fence = {.opcode = GEMM16_FENCE, .channel = 1};
  CHECK_STATUS(one(device, move), GEMM16_OK);
  CHECK_STATUS(one(device, fence), GEMM16_OK);
  CHECK_STATUS(one(device, load), GEMM16_ERR_HAZARD);
  CHECK_STATUS(one(device, move), GEMM16_OK);
  fence.channel = 2;
  CHECK_STATUS(one(device, fence), GEMM16_OK);
  CHECK_STATUS(one(device, load), GEMM16_OK);
  /* Sums that are on their way out stay as they are. */
  int8_t y[6];
  fill_sums(device, 0, 3, 2);
  CHECK_STATUS(one(device, stored(y)), GEMM16_OK);
  const gemm16_command zeros = {.opcode = GEMM16_FILL,
                                .step = 1,
                                .rows = 1,
                                .columns = 1,
                                .other = GEMM16_NONE};
  CHECK_STATUS(one(device, zeros), GEMM16_ERR_HAZARD);
  CHECK_STATUS(gemm16_close(device), GEMM16_OK);
}

void test_gemm16_blocks(void) {
  gemm16_device *device = open_device("weights");
  const gemm16_block block = {{1, 1, 2, 2}, {0, 0, 2, 1}, {0, 0, 16, 1}, 1};
  CHECK_STATUS(gemm16_load(device, 8, filters, &block, 0),
               GEMM16_ERR_ALIGNMENT);
  CHECK_STATUS(gemm16_load(device, 0, filters, &block, 9), GEMM16_OK);
  CHECK_STATUS(gemm16_fence(device), GEMM16_ERR_ARGUMENT);
  gemm16_layer layer = {1, 2, 2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0};
  CHECK_STATUS(gemm16_compute(device, &layer, 0, 8, 0, 0),
               GEMM16_ERR_ALIGNMENT);
  layer.out_w = 4096;
  CHECK_STATUS(gemm16_compute(device, &layer, 0, 0, 0, 0), GEMM16_ERR_BOUNDS);
  gemm16_device *none = NULL;
  CHECK_STATUS(gemm16_open(&none, 4096, 4096, "both"), GEMM16_ERR_ARGUMENT);
  CHECK(strstr(gemm16_status_string(GEMM16_ERR_HAZARD), "fence") != NULL,
        "gemm16");
  CHECK_STATUS(gemm16_close(device), GEMM16_OK);
}
