/*===- vanilla_cycles_test.c - Tests of vanilla's cycle model -----*- C -*-===*/

#include "vanilla_fixture.h"

static vanilla_counters counters_of(const vanilla_device *device) {
  vanilla_counters counters;
  CHECK_STATUS(vanilla_get_counters(device, &counters), VANILLA_OK);
  return counters;
}

#define CHECK_COUNT(value, expected)                                           \
  CHECK((value) == (expected), "it is %llu, expected %llu",                    \
        (unsigned long long)(value), (unsigned long long)(expected))

/** One transfer alone: latency and 16 bytes a cycle for each run of bytes. */
static void test_transfers(void) {
  static float host[1024];
  vanilla_device *device = open_device();
  load(device, 0, host, 100);
  vanilla_counters c = counters_of(device);
  CHECK_COUNT(c.cycles, 32 + 25u);
  CHECK_COUNT(c.stall_cycles, 57u);
  CHECK_COUNT(c.bytes_in, 400u);
  CHECK_COUNT(c.bytes_out, 0u);
  CHECK_STATUS(vanilla_reset_counters(device), VANILLA_OK);
  /* Rows of 5 floats take two cycles each; dense rows count as one run. */
  vanilla_dma_shape rows = {{1, 2, 3, 5}, {0, 240, 80, 4}, {0, 60, 20, 4}};
  CHECK_STATUS(vanilla_dma_in_start(device, 0, host, &rows, 0), VANILLA_OK);
  CHECK_COUNT(counters_of(device).dma_cycles, 32 + 6 * 2u);
  CHECK_STATUS(vanilla_dma_wait(device, 0), VANILLA_OK);
  rows.host_stride[1] = 60;
  rows.host_stride[2] = 20;
  CHECK_STATUS(vanilla_dma_out_start(device, 0, &rows, 0, host), VANILLA_OK);
  CHECK_STATUS(vanilla_dma_wait(device, 0), VANILLA_OK);
  c = counters_of(device);
  CHECK_COUNT(c.cycles, 32 + 12 + 32 + 8u);
  CHECK_COUNT(c.bytes_out, 120u);
  CHECK_COUNT(c.transfers, 2u);
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

/** While an instruction runs, transfers run too, one after another. */
static void test_overlap(void) {
  static float host[8192];
  vanilla_device *device = open_device();
  load(device, 0, host, 4096);
  CHECK_STATUS(vanilla_reset_counters(device), VANILLA_OK);
  const vanilla_dma_shape shape = line(1024);
  CHECK_STATUS(vanilla_dma_in_start(device, 32768, host, &shape, 0),
               VANILLA_OK);
  CHECK_STATUS(vanilla_dma_in_start(device, 36864, host, &shape, 1),
               VANILLA_OK);
  CHECK_COUNT(counters_of(device).cycles, 0u);
  /* 16 to set up, and 2 blocks x 1 strip x 160. */
  const vanilla_dense_params p = {.rows = 8, .in = 160, .out = 16};
  CHECK_STATUS(vanilla_dense(device, &p, 0, 5120, 0, 16384), VANILLA_OK);
  vanilla_counters c = counters_of(device);
  CHECK_COUNT(c.compute_cycles, 16 + 320u);
  CHECK_COUNT(c.cycles, 336u);
  CHECK_COUNT(c.macs, 8 * 160 * 16u);
  /* The first ended at 32 + 256 = 288, the second ends at 576. */
  CHECK_STATUS(vanilla_dma_wait(device, 0), VANILLA_OK);
  CHECK_COUNT(counters_of(device).cycles, 336u);
  CHECK_STATUS(vanilla_dma_wait(device, 1), VANILLA_OK);
  c = counters_of(device);
  CHECK_COUNT(c.cycles, 576u);
  CHECK_COUNT(c.stall_cycles, 240u);
  CHECK_COUNT(c.cycles, c.compute_cycles + c.stall_cycles);
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

static void test_instructions(void) {
  static float host[8192];
  vanilla_device *device = open_device();
  load(device, 0, host, 8192);
  CHECK_STATUS(vanilla_reset_counters(device), VANILLA_OK);
  const vanilla_conv2d_params p = {.in_c = 3,
                                   .in_h = 9,
                                   .in_w = 9,
                                   .out_c = 9,
                                   .out_h = 7,
                                   .out_w = 7,
                                   .kernel_h = 3,
                                   .kernel_w = 3,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .dilation_h = 1,
                                   .dilation_w = 1};
  CHECK_STATUS(vanilla_conv2d(device, &p, 0, 2048, 0, 8192), VANILLA_OK);
  CHECK_COUNT(counters_of(device).cycles, 16 + 2 * 7 * 27u);
  CHECK_STATUS(vanilla_add(device, 17, VANILLA_NONE, 0, 0, 0), VANILLA_OK);
  const vanilla_counters c = counters_of(device);
  CHECK_COUNT(c.cycles, 16 + 2 * 7 * 27 + 16 + 3u);
  CHECK_COUNT(c.instructions, 2u);
  CHECK_COUNT(c.dma_cycles, 0u);
  CHECK_STATUS(vanilla_get_counters(NULL, NULL), VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_reset_counters(NULL), VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

void test_vanilla_cycles(void) {
  test_transfers();
  test_overlap();
  test_instructions();
}
