/*===- cmsis_nn_elementwise.c - Sums and products of tensors ------*- C -*-===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_arithmetic.h"
#include "cmsis_nn_window.h"

static bool is_valid(const int8_t *a, const int8_t *b, const int8_t *out,
                     int32_t low, int32_t high, int32_t count) {
  const cmsis_nn_activation range = {low, high};
  return a && b && out && count >= 0 && nn_is_range_s8(range);
}

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *input_1_vect, const int8_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_1_mult,
    const int32_t input_1_shift, const int32_t input_2_offset,
    const int32_t input_2_mult, const int32_t input_2_shift,
    const int32_t left_shift, int8_t *output, const int32_t out_offset,
    const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size) {
  if (!is_valid(input_1_vect, input_2_vect, output, out_activation_min,
                out_activation_max, block_size) ||
      left_shift < 0 || left_shift > 22)
    return ARM_CMSIS_NN_ARG_ERROR;
  const int32_t unit = (int32_t)1 << left_shift;
  for (int32_t i = 0; i < block_size; ++i) {
    const int32_t a = (input_1_vect[i] + input_1_offset) * unit;
    const int32_t b = (input_2_vect[i] + input_2_offset) * unit;
    const int64_t sum = (int64_t)nn_requantize(a, input_1_mult, input_1_shift) +
                        nn_requantize(b, input_2_mult, input_2_shift);
    const int64_t result =
        (int64_t)nn_requantize(nn_wrap(sum), out_mult, out_shift) + out_offset;
    output[i] = (int8_t)nn_clamp(nn_wrap(result), out_activation_min,
                                 out_activation_max);
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_mul_s8(
    const int8_t *input_1_vect, const int8_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_2_offset, int8_t *output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size) {
  if (!is_valid(input_1_vect, input_2_vect, output, out_activation_min,
                out_activation_max, block_size))
    return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t i = 0; i < block_size; ++i) {
    const int32_t product =
        (input_1_vect[i] + input_1_offset) * (input_2_vect[i] + input_2_offset);
    const int64_t result =
        (int64_t)nn_requantize(product, out_mult, out_shift) + out_offset;
    output[i] = (int8_t)nn_clamp(nn_wrap(result), out_activation_min,
                                 out_activation_max);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
