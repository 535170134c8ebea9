/*===- vecdsp_fixture.h - Helpers of the tests of vecdsp ----------*- C -*-===*/

#ifndef PHL_TEST_VECDSP_FIXTURE_H
#define PHL_TEST_VECDSP_FIXTURE_H

#include "check.h"
#include "vecdsp.h"

#include <math.h>
#include <string.h>

/** A small device: `dram` bytes, `depth` commands, `timeout` milliseconds. */
static inline vecdsp_device *vecdsp_small(size_t dram, size_t depth,
                                          int64_t timeout, bool unified) {
  vecdsp_config config = vecdsp_default_config();
  config.dram = dram;
  config.depth = depth;
  config.timeout = timeout;
  config.unified = unified;
  vecdsp_device *device = NULL;
  CHECK_STATUS(vecdsp_open_as(&device, &config), VECDSP_OK);
  return device;
}

static inline vecdsp_device *vecdsp_usual(void) {
  return vecdsp_small(1 << 20, 16, 20000, false);
}

/** Some DRAM. */
static inline void *vecdsp_room(vecdsp_device *device, size_t bytes) {
  void *address = NULL;
  CHECK_STATUS(vecdsp_allocate(device, bytes, &address), VECDSP_OK);
  return address;
}

/** Some DRAM with these bytes of the host's, which have to stay. */
static inline void *vecdsp_upload(vecdsp_device *device, const void *from,
                                  size_t bytes) {
  void *address = vecdsp_room(device, bytes);
  CHECK_STATUS(vecdsp_copy_in(device, address, from, bytes), VECDSP_OK);
  return address;
}

/** Waits, and reads bytes of the DRAM. */
static inline void vecdsp_download(vecdsp_device *device, void *to,
                                   const void *from, size_t bytes) {
  CHECK_STATUS(vecdsp_copy_out(device, to, from, bytes), VECDSP_OK);
  CHECK_STATUS(vecdsp_wait(device), VECDSP_OK);
}

/** Multiples of 1/8 in [-4, 4): sums of their products are exact. */
static inline void vecdsp_fill(float *data, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    data[i] = (float)(seed >> 26) / 8.0f - 4.0f;
  }
}

/** True if two floats are equal, or as near as roundings make them. */
static inline bool vecdsp_near(float a, float b) {
  return (isnan(a) && isnan(b)) || a == b ||
         fabsf(a - b) <= 1e-5f * (1.0f + fabsf(b));
}

#define CHECK_NEAR(got, want, what, place)                                     \
  CHECK(vecdsp_near(got, want), "%s [%d]: %g, expected %g", what,              \
        (int)(place), (double)(got), (double)(want))

#endif /* PHL_TEST_VECDSP_FIXTURE_H */
