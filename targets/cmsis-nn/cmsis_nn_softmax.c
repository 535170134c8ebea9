/*===- cmsis_nn_softmax.c - Softmax in fixed point ----------------*- C -*-===
 *
 * Numbers Qm.n have n fractional bits and m integer bits beside the sign. The
 * exponential is a polynomial near -1/8 times powers of e that the bits of the
 * argument select; the reciprocal is three steps of Newton's method. These are
 * the ways of the gemmlowp library, which TensorFlow Lite defines softmax by.
 *
 *===----------------------------------------------------------------------===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_arithmetic.h"

#include <stddef.h>

/** Integer bits of the sum of exponentials: Q12.19. */
enum { SUM_BITS = 12 };

/** value * 2^bits, or the nearest number there is. */
static int32_t scale_up(int32_t value, int bits) {
  const int64_t wide = (int64_t)value * (INT64_C(1) << bits);
  return wide > INT32_MAX   ? INT32_MAX
         : wide < INT32_MIN ? INT32_MIN
                            : (int32_t)wide;
}

/** e^x for x in Q5.26, x <= 0, in Q0.31. */
static int32_t exp_of_negative(int32_t x) {
  // e^-(1/4), e^-(1/2), e^-1, ... e^-16 in Q0.31.
  static const int32_t powers[] = {1672461947, 1302514674, 790015084, 290630308,
                                   39332535,   720401,     242};
  const int32_t quarter = (int32_t)1 << 24;
  if (x == 0)
    return INT32_MAX;
  // x = fine - rest, with fine in [-1/4, 0) and rest a multiple of 1/4.
  const int32_t fine = (int32_t)(x - nn_floor_shift(x, 24) * quarter) - quarter;
  const int32_t rest = nn_wrap((int64_t)fine - x);
  // Taylor's series around -1/8, in Q0.31.
  const int32_t t = fine * 32 + ((int32_t)1 << 28);
  const int32_t t2 = nn_saturating_high_product(t, t);
  const int32_t t3 = nn_saturating_high_product(t2, t);
  const int32_t t4 = nn_saturating_high_product(t2, t2);
  const int32_t third = 715827883, at_eighth = 1895147668;
  const int32_t high =
      nn_saturating_high_product(nn_rounded_shift(t4, 2) + t3, third);
  const int32_t series = t + nn_rounded_shift(high + t2, 1);
  int32_t result = at_eighth + nn_saturating_high_product(at_eighth, series);
  for (int bit = 0; bit < 7; ++bit)
    if (rest & (quarter << bit))
      result = nn_saturating_high_product(result, powers[bit]);
  return result;
}

/** 1 / (1 + x) for x in Q0.31, 0 <= x, in Q0.31. */
static int32_t reciprocal_of_one_plus(int32_t x) {
  const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  // 48/17 - 32/17 * half in Q2.29 is at most 1/17 off the reciprocal.
  int32_t y = 1515870810 + nn_saturating_high_product(half, -1010580540);
  for (int step = 0; step < 3; ++step) {
    const int32_t error =
        ((int32_t)1 << 29) - nn_saturating_high_product(half, y);
    y += scale_up(nn_saturating_high_product(y, error), 2);
  }
  return scale_up(y, 1);
}

/** Zero bits above the highest one; 32 for 0. */
static int leading_zeros(uint32_t value) {
  int count = 0;
  for (uint32_t bit = UINT32_C(1) << 31; bit && !(value & bit); bit >>= 1)
    ++count;
  return count;
}

/** e^difference in Q0.31; the difference is in steps of the input's scale. */
static int32_t exponential(int32_t difference, int32_t mult, int32_t shift) {
  const int32_t scaled = nn_wrap((int64_t)difference * (INT64_C(1) << shift));
  return exp_of_negative(nn_saturating_high_product(scaled, mult));
}

static void softmax_row(const int8_t *input, int32_t size, int32_t mult,
                        int32_t shift, int32_t diff_min, int8_t *output) {
  int32_t greatest = input[0];
  for (int32_t i = 1; i < size; ++i)
    greatest = input[i] > greatest ? input[i] : greatest;
  int32_t sum = 0;
  for (int32_t i = 0; i < size; ++i)
    if (input[i] - greatest >= diff_min)
      sum =
          nn_wrap((int64_t)sum +
                  nn_rounded_shift(
                      exponential(input[i] - greatest, mult, shift), SUM_BITS));
  // The sum is 2^(SUM_BITS - zeros) * (1 + fraction).
  const int zeros = leading_zeros((uint32_t)sum);
  const uint32_t fraction =
      sum > 0 ? ((uint32_t)sum << zeros) - (UINT32_C(1) << 31) : 0;
  const int32_t scale = reciprocal_of_one_plus((int32_t)fraction);
  const int bits = SUM_BITS - zeros + 23;
  for (int32_t i = 0; i < size; ++i) {
    int32_t result = INT8_MIN;
    if (input[i] - greatest >= diff_min) {
      const int32_t e = exponential(input[i] - greatest, mult, shift);
      result += nn_rounded_shift(nn_saturating_high_product(scale, e), bits);
    }
    output[i] = (int8_t)nn_clamp(result, INT8_MIN, INT8_MAX);
  }
}

void arm_softmax_s8(const int8_t *input, const int32_t num_rows,
                    const int32_t row_size, const int32_t mult,
                    const int32_t shift, const int32_t diff_min,
                    int8_t *output) {
  if (!input || !output || row_size < 1 || shift < 0 || shift > 31)
    return;
  for (int32_t row = 0; row < num_rows; ++row) {
    const size_t offset = (size_t)row * (size_t)row_size;
    softmax_row(input + offset, row_size, mult, shift, diff_min,
                output + offset);
  }
}
