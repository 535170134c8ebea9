/*===- vanilla_dma_test.c - Tests of vanilla's DMA and its checks -*- C -*-===*/

#include "vanilla_fixture.h"

#include <math.h>

static void test_strided(void) {
  /* A 2x3x4x5 block out of a 4x6x8x10 tensor, every second column, written
   * with gaps and transposed in the last two dimensions. */
  enum { N = 4 * 6 * 8 * 10 };
  static float host[N], back[N], spad[400];
  for (int i = 0; i < N; ++i) {
    host[i] = (float)i;
    back[i] = -1.0f;
  }
  vanilla_device *device = open_device();
  const vanilla_dma_shape shape = {{2, 3, 4, 5},
                                   {6 * 8 * 10 * 4, 8 * 10 * 4, 10 * 4, 2 * 4},
                                   {3 * 32 * 4, 32 * 4, 4, 6 * 4}};
  CHECK_STATUS(vanilla_dma_in_start(device, 64, host + 21, &shape, 3),
               VANILLA_OK);
  CHECK_STATUS(vanilla_dma_wait(device, 3), VANILLA_OK);
  unload(device, 64, spad, 2 * 3 * 32);
  CHECK_STATUS(vanilla_dma_out_start(device, 64, &shape, 1, back + 21),
               VANILLA_OK);
  CHECK_STATUS(vanilla_dma_wait(device, 1), VANILLA_OK);
  int copied = 0;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 4; ++c)
        for (int d = 0; d < 5; ++d, ++copied) {
          const int at = 21 + a * 480 + b * 80 + c * 10 + d * 2;
          const float got = spad[a * 96 + b * 32 + c + d * 6];
          CHECK(got == host[at], "element %d is %f", at, (double)got);
          CHECK(back[at] == host[at], "element %d came back as %f", at,
                (double)back[at]);
          back[at] = -1.0f;
        }
  for (int i = 0; i < N; ++i)
    CHECK(back[i] == -1.0f, "element %d was written", i);
  CHECK(isnan(spad[4]), "a gap was written");
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

static void test_negative_and_broadcast_strides(void) {
  vanilla_device *device = open_device();
  const float host[4] = {1, 2, 3, 4};
  float got[8];
  const vanilla_dma_shape shape = {{1, 1, 2, 4}, {0, 0, 0, -4}, {0, 0, 16, 4}};
  CHECK_STATUS(vanilla_dma_in_start(device, 0, host + 3, &shape, 0),
               VANILLA_OK);
  CHECK_STATUS(vanilla_dma_wait(device, 0), VANILLA_OK);
  unload(device, 0, got, 8);
  for (int i = 0; i < 8; ++i)
    CHECK(got[i] == host[3 - i % 4], "element %d is %f", i, (double)got[i]);
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

/** The copy takes place at the wait: what the source holds then is copied. */
static void test_copy_at_wait(void) {
  vanilla_device *device = open_device();
  float host[4] = {1, 2, 3, 4}, got[4];
  const vanilla_dma_shape shape = line(4);
  CHECK_STATUS(vanilla_dma_in_start(device, 0, host, &shape, 2), VANILLA_OK);
  host[1] = 7;
  CHECK_STATUS(vanilla_dma_wait(device, 2), VANILLA_OK);
  host[1] = 8;
  CHECK_STATUS(vanilla_dma_wait(device, 2), VANILLA_OK);
  unload(device, 0, got, 4);
  CHECK(got[1] == 7, "got %f", (double)got[1]);
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

static void test_dma_hazards(void) {
  vanilla_device *device = open_device();
  float host[64] = {0}, other[64];
  const vanilla_dma_shape shape = line(16);
  CHECK_STATUS(vanilla_dma_in_start(device, 64, host, &shape, 0), VANILLA_OK);
  CHECK_STATUS(vanilla_dma_in_start(device, 0, host, &shape, 0),
               VANILLA_ERR_BUSY);
  CHECK_STATUS(vanilla_dma_in_start(device, 124, host, &shape, 1),
               VANILLA_ERR_HAZARD);
  CHECK_STATUS(vanilla_dma_out_start(device, 4, &shape, 1, other),
               VANILLA_ERR_HAZARD);
  CHECK_STATUS(vanilla_dma_in_start(device, 0, host, &shape, 1), VANILLA_OK);
  CHECK_STATUS(vanilla_dma_in_start(device, 128, host, &shape, 2), VANILLA_OK);
  for (uint32_t channel = 0; channel < 3; ++channel)
    CHECK_STATUS(vanilla_dma_wait(device, channel), VANILLA_OK);
  /* Two may read the same bytes, but nothing may write them meanwhile. */
  CHECK_STATUS(vanilla_dma_out_start(device, 64, &shape, 0, other), VANILLA_OK);
  CHECK_STATUS(vanilla_dma_out_start(device, 64, &shape, 1, other + 16),
               VANILLA_OK);
  CHECK_STATUS(vanilla_dma_in_start(device, 64, host, &shape, 2),
               VANILLA_ERR_HAZARD);
  CHECK_STATUS(vanilla_reset_counters(device), VANILLA_ERR_BUSY);
  CHECK_STATUS(vanilla_close(device), VANILLA_ERR_HAZARD);
}

static void test_instruction_hazards(void) {
  vanilla_device *device = open_device();
  const float host[64] = {0};
  float other[64];
  const vanilla_dma_shape shape = line(16);
  load(device, 0, host, 64);
  load(device, 256, host, 64);
  CHECK_STATUS(vanilla_dma_in_start(device, 0, host, &shape, 0), VANILLA_OK);
  CHECK_STATUS(vanilla_dma_out_start(device, 256, &shape, 1, other),
               VANILLA_OK);
  /* Reading what is written, writing it, and writing what is read. */
  CHECK_STATUS(vanilla_activate(device, 16, VANILLA_RELU, 48, 512),
               VANILLA_ERR_HAZARD);
  CHECK_STATUS(vanilla_activate(device, 16, VANILLA_RELU, 128, 48),
               VANILLA_ERR_HAZARD);
  CHECK_STATUS(vanilla_activate(device, 16, VANILLA_RELU, 128, 304),
               VANILLA_ERR_HAZARD);
  CHECK_STATUS(vanilla_add(device, 16, VANILLA_NONE, 128, 0, 512),
               VANILLA_ERR_HAZARD);
  CHECK_STATUS(vanilla_activate(device, 16, VANILLA_RELU, 256, 512),
               VANILLA_OK);
  const vanilla_dense_params dense = {
      .rows = 1, .in = 2, .out = 8, .has_bias = 1};
  CHECK_STATUS(vanilla_dense(device, &dense, 128, 512, 0, 1024),
               VANILLA_ERR_HAZARD);
  CHECK_STATUS(vanilla_dma_wait(device, 0), VANILLA_OK);
  CHECK_STATUS(vanilla_dense(device, &dense, 128, 512, 0, 1024), VANILLA_OK);
  CHECK_STATUS(vanilla_dma_wait(device, 1), VANILLA_OK);
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

static void test_shapes_refused(void) {
  vanilla_device *device = open_device();
  _Alignas(16) float host[16] = {0};
  const vanilla_dma_shape good = line(16);
  vanilla_dma_shape bad = good;
#define IN(offset, from) vanilla_dma_in_start(device, offset, from, &bad, 0)
  CHECK_STATUS(IN(VANILLA_SCRATCHPAD_BYTES - 60, host), VANILLA_ERR_BOUNDS);
  CHECK_STATUS(IN(UINT32_MAX - 3, host), VANILLA_ERR_BOUNDS);
  CHECK_STATUS(IN(2, host), VANILLA_ERR_ALIGNMENT);
  CHECK_STATUS(IN(0, (const char *)host + 1), VANILLA_ERR_ALIGNMENT);
  CHECK_STATUS(IN(0, NULL), VANILLA_ERR_ARGUMENT);
  bad.count[2] = 0;
  CHECK_STATUS(IN(0, host), VANILLA_ERR_ARGUMENT);
  bad.count[2] = 65536;
  bad.spad_stride[2] = UINT32_MAX - 3;
  CHECK_STATUS(IN(0, host), VANILLA_ERR_BOUNDS);
  bad.count[2] = 2;
  CHECK_STATUS(IN(0, host), VANILLA_ERR_BOUNDS);
  bad.spad_stride[2] = 0;
  CHECK_STATUS(IN(0, host), VANILLA_ERR_ARGUMENT);
  bad.spad_stride[2] = 66;
  CHECK_STATUS(IN(0, host), VANILLA_ERR_ALIGNMENT);
  bad.spad_stride[2] = 64;
  bad.host_stride[2] = INT64_MIN;
  CHECK_STATUS(IN(0, host), VANILLA_ERR_ARGUMENT);
  bad.host_stride[2] = 0;
  CHECK_STATUS(vanilla_dma_out_start(device, 0, &bad, 0, host),
               VANILLA_ERR_ARGUMENT);
#undef IN
  CHECK_STATUS(vanilla_dma_in_start(device, 0, host, &good, VANILLA_CHANNELS),
               VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_dma_in_start(device, 0, host, NULL, 0),
               VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_dma_in_start(NULL, 0, host, &good, 0),
               VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_dma_out_start(device, 0, &good, 0, NULL),
               VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_dma_wait(device, VANILLA_CHANNELS),
               VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_dma_wait(NULL, 0), VANILLA_ERR_ARGUMENT);
  vanilla_counters counters;
  CHECK_STATUS(vanilla_get_counters(device, &counters), VANILLA_OK);
  CHECK(counters.transfers == 0, "a refused transfer was counted");
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

static void test_status_strings(void) {
  for (int i = VANILLA_OK; i <= VANILLA_ERR_MEMORY; ++i)
    for (int j = i + 1; j <= VANILLA_ERR_MEMORY + 1; ++j)
      CHECK(strcmp(vanilla_status_string(i), vanilla_status_string(j)) != 0,
            "statuses %d and %d read the same", i, j);
}

void test_vanilla_dma(void) {
  test_strided();
  test_negative_and_broadcast_strides();
  test_copy_at_wait();
  test_dma_hazards();
  test_instruction_hazards();
  test_shapes_refused();
  test_status_strings();
  CHECK_STATUS(vanilla_open(NULL), VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_close(NULL), VANILLA_OK);
}
