/*===- cmsis_nn_softmax_wide.c - Softmax of int16 by tables -------*- C -*-===
 *
 * A table has 513 points at equal distances; between two of them the function
 * is a line. The upper 9 bits of a number in [-32768, 32767] choose the point,
 * the lower 7 bits the place on the line.
 *
 *===----------------------------------------------------------------------===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_arithmetic.h"

#include <stddef.h>

static int16_t look_up(const int16_t *table, int32_t place) {
  const int32_t point = 256 + (int32_t)nn_floor_shift(place, 7);
  const int32_t offset = place - (int32_t)nn_floor_shift(place, 7) * 128;
  const int32_t slope = table[point + 1] - table[point];
  return (int16_t)(table[point] +
                   (int32_t)nn_floor_shift(slope * offset + 64, 7));
}

/** Zero bits above the highest one of a positive number. */
static int32_t headroom_of(int32_t value) {
  int32_t count = 1;
  while (count < 31 && !(value & (INT32_C(1) << (31 - count))))
    ++count;
  return count;
}

static void softmax_row(const int16_t *input, int32_t size, int32_t mult,
                        int32_t shift, const cmsis_nn_softmax_lut_s16 *tables,
                        int16_t *output) {
  int32_t greatest = input[0];
  for (int32_t i = 1; i < size; ++i)
    greatest = input[i] > greatest ? input[i] : greatest;
  int32_t sum = 0;
  for (int32_t i = 0; i < size; ++i) {
    // -65535 to 0 stand for -10 to 0; the table's middle is -5.
    const int32_t scaled = nn_requantize(input[i] - greatest, mult, shift);
    const int32_t place =
        nn_clamp(nn_wrap((int64_t)scaled + INT16_MAX), INT16_MIN, INT16_MAX);
    output[i] = look_up(tables->exp_lut, place);
    sum += output[i];
  }
  // The sum is 2^(30 - headroom) * (1 + fraction), its fraction in 16 bits.
  const int32_t headroom = headroom_of(sum);
  const int64_t shifted = (int64_t)sum * (INT64_C(1) << (headroom - 1));
  const int32_t rounded = (int32_t)nn_floor_shift(shifted + (1 << 13), 14);
  // All ones may round up to 2, which the library lets wrap to 1.
  const int32_t fraction = (rounded - 65536) & 0xFFFF;
  const int32_t reciprocal = look_up(tables->one_by_one_lut, fraction - 32768);
  for (int32_t i = 0; i < size; ++i) {
    const int64_t product = (int64_t)output[i] * reciprocal;
    const int64_t twice = nn_floor_shift(product, 30 - headroom);
    output[i] = (int16_t)nn_floor_shift(twice + 1, 1);
  }
}

arm_cmsis_nn_status
arm_softmax_s16(const int16_t *input, const int32_t num_rows,
                const int32_t row_size, const int32_t mult, const int32_t shift,
                const cmsis_nn_softmax_lut_s16 *softmax_params,
                int16_t *output) {
  if (!input || !output || row_size < 1 || !softmax_params ||
      !softmax_params->exp_lut || !softmax_params->one_by_one_lut)
    return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t row = 0; row < num_rows; ++row) {
    const size_t offset = (size_t)row * (size_t)row_size;
    softmax_row(input + offset, row_size, mult, shift, softmax_params,
                output + offset);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
