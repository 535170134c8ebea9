/*===- cmsis_nn_arithmetic.h - Fixed-point numbers of the double --*- C -*-===
 *
 * Arithmetic of all functions of the double. Shifts of negative numbers
 * are divisions here, so that nothing depends on the compiler.
 *
 *===----------------------------------------------------------------------===*/

#ifndef CMSIS_NN_ARITHMETIC_H
#define CMSIS_NN_ARITHMETIC_H

#include <stdint.h>

/* The option of the target that the double is compiled for. */
#ifdef PHL_ROUNDING_single
#define CMSIS_NN_USE_SINGLE_ROUNDING
#endif

static inline int32_t nn_clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

/** The low 32 bits, which is what a register of the processor keeps. */
static inline int32_t nn_wrap(int64_t value) {
  const uint32_t low = (uint32_t)((uint64_t)value & UINT32_MAX);
  return low > INT32_MAX ? (int32_t)((int64_t)low - ((int64_t)UINT32_MAX + 1))
                         : (int32_t)low;
}

/** floor(value / 2^bits). */
static inline int64_t nn_floor_shift(int64_t value, int bits) {
  const int64_t divisor = INT64_C(1) << bits;
  const int64_t quotient = value / divisor;
  return quotient - (value % divisor < 0);
}

/** round(a * b / 2^31), halves up. */
static inline int32_t nn_high_product(int32_t a, int32_t b) {
  return nn_wrap(nn_floor_shift((int64_t)a * b + (INT64_C(1) << 30), 31));
}

/** The same, where the one product that does not fit gives the greatest. */
static inline int32_t nn_saturating_high_product(int32_t a, int32_t b) {
  return a == INT32_MIN && b == INT32_MIN ? INT32_MAX : nn_high_product(a, b);
}

/** round(value / 2^bits), halves away from zero; 0 <= bits <= 62. */
static inline int32_t nn_rounded_shift(int32_t value, int bits) {
  const int64_t divisor = INT64_C(1) << bits;
  const int64_t quotient = nn_floor_shift(value, bits);
  const int64_t remainder = value - quotient * divisor;
  const int64_t threshold = (divisor - 1) / 2 + (value < 0);
  return (int32_t)(quotient + (remainder > threshold));
}

/**
 * value * multiplier / 2^31 * 2^shift, with TensorFlow Lite's two roundings, or
 * as the library does if it is built with CMSIS_NN_USE_SINGLE_ROUNDING: with
 * one, halves up.
 */
static inline int32_t nn_requantize(int32_t value, int32_t multiplier,
                                    int32_t shift) {
#ifdef CMSIS_NN_USE_SINGLE_ROUNDING
  const int64_t twice = nn_floor_shift((int64_t)value * multiplier, 30 - shift);
  return (int32_t)nn_floor_shift((int64_t)nn_wrap(twice) + 1, 1);
#else
  const int left = shift > 0 ? (int)shift : 0;
  const int right = shift > 0 ? 0 : (int)-shift;
  const int32_t shifted = nn_wrap((int64_t)value * (INT64_C(1) << left));
  return nn_rounded_shift(nn_high_product(shifted, multiplier), right);
#endif
}

/** A Q31 multiplier with the 15 bits that functions with int64 sums keep. */
static inline int32_t nn_reduced_multiplier(int32_t multiplier) {
  return multiplier < 0x7FFF0000
             ? (int32_t)nn_floor_shift((int64_t)multiplier + (1 << 15), 16)
             : 0x7FFF;
}

/** The same as nn_requantize for an int64 value: halves are rounded up. */
static inline int32_t nn_requantize_wide(int64_t value, int32_t multiplier,
                                         int32_t shift) {
  const int64_t product = value * nn_reduced_multiplier(multiplier);
  const int32_t result = nn_wrap(nn_floor_shift(product, 14 - shift));
  return (int32_t)nn_floor_shift((int64_t)result + 1, 1);
}

#endif /* CMSIS_NN_ARITHMETIC_H */
