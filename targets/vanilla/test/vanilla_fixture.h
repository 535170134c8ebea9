/*===- vanilla_fixture.h - Helpers of the tests of vanilla --------*- C -*-===*/

#ifndef PHL_TEST_VANILLA_FIXTURE_H
#define PHL_TEST_VANILLA_FIXTURE_H

#include "check.h"
#include "vanilla.h"

#include <string.h>

static inline vanilla_device *open_device(void) {
  vanilla_device *device = NULL;
  CHECK_STATUS(vanilla_open(&device), VANILLA_OK);
  return device;
}

/** A shape of `count` adjacent elements on both sides. */
static inline vanilla_dma_shape line(uint32_t count) {
  const vanilla_dma_shape shape = {
      {1, 1, 1, count}, {0, 0, 0, 4}, {0, 0, 0, 4}};
  return shape;
}

static inline void load(vanilla_device *device, uint32_t offset,
                        const float *from, uint32_t count) {
  const vanilla_dma_shape shape = line(count);
  CHECK_STATUS(vanilla_dma_in_start(device, offset, from, &shape, 0),
               VANILLA_OK);
  CHECK_STATUS(vanilla_dma_wait(device, 0), VANILLA_OK);
}

static inline void unload(vanilla_device *device, uint32_t offset, float *to,
                          uint32_t count) {
  const vanilla_dma_shape shape = line(count);
  CHECK_STATUS(vanilla_dma_out_start(device, offset, &shape, 0, to),
               VANILLA_OK);
  CHECK_STATUS(vanilla_dma_wait(device, 0), VANILLA_OK);
}

static inline uint32_t align_up(uint32_t offset) {
  return (offset + VANILLA_ALIGNMENT - 1) / VANILLA_ALIGNMENT *
         VANILLA_ALIGNMENT;
}

/** Fills with multiples of 1/8 in [-4, 4): sums of their products are exact. */
static inline void fill(float *data, size_t count, uint32_t *seed) {
  for (size_t i = 0; i < count; ++i) {
    *seed = *seed * 1664525u + 1013904223u;
    data[i] = (float)(*seed >> 26) / 8.0f - 4.0f;
  }
}

#endif /* PHL_TEST_VANILLA_FIXTURE_H */
