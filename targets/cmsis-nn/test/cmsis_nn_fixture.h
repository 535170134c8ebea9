/*===- cmsis_nn_fixture.h - Helpers of the tests of cmsis-nn ------*- C -*-===*/

#ifndef PHL_TEST_CMSIS_NN_FIXTURE_H
#define PHL_TEST_CMSIS_NN_FIXTURE_H

#include "arm_nnfunctions.h"
#include "check.h"

#include <math.h>

/** The most elements that a tensor of these tests has, and channels. */
enum { MOST = 4096, CHANNELS = 32 };

static inline uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/** A number in [low, high]. */
static inline int32_t random_in(uint32_t *seed, int32_t low, int32_t high) {
  return low + (int32_t)(next_random(seed) % (uint32_t)(high - low + 1));
}

static inline void fill_s8(int8_t *data, int32_t count, uint32_t *seed) {
  for (int32_t i = 0; i < count; ++i)
    data[i] = (int8_t)random_in(seed, -128, 127);
}

/** The Q31 multiplier and shift that stand for a positive real. */
static inline void quantize_real(double real, int32_t *multiplier,
                                 int32_t *shift) {
  int exponent;
  const double fraction = frexp(real, &exponent);
  int64_t q = (int64_t)llround(ldexp(fraction, 31));
  if (q == INT64_C(1) << 31) {
    q /= 2;
    ++exponent;
  }
  *multiplier = (int32_t)q;
  *shift = exponent;
}

/**
 * Checks a result against the real number that it rounds. The two roundings of
 * a requantization make the error at most 3/4, and 1/2 when nothing is shifted.
 */
static inline void check_rounded(int32_t found, double exact, double error,
                                 int32_t low, int32_t high, const char *what,
                                 int32_t at) {
  const double clamped = fmin(fmax(exact, low), high);
  CHECK(fabs(found - clamped) <= error, "%s[%d] is %d, expected %.4f", what,
        (int)at, (int)found, clamped);
}

/** Working memory of exactly `bytes`, for sanitizers to guard. */
static inline cmsis_nn_context working_memory(int32_t bytes) {
  cmsis_nn_context ctx = {NULL, bytes};
  if (bytes > 0) {
    ctx.buf = malloc((size_t)bytes);
    CHECK(ctx.buf != NULL, "no memory");
  }
  return ctx;
}

#endif /* PHL_TEST_CMSIS_NN_FIXTURE_H */
