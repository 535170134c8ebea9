/*===- cmsis_nn_elementwise.c - Sums and products of tensors ------*- C -*-===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_arithmetic.h"
#include "cmsis_nn_window.h"

/** Rescaling of two numbers with scales of their own to one. */
typedef struct {
  int32_t unit; /**< What a step of an input is before it is scaled. */
  int32_t mult_1, shift_1, mult_2, shift_2, out_mult, out_shift;
} scaling;

static int32_t sum(const scaling *s, int32_t a, int32_t b) {
  const int64_t total =
      (int64_t)nn_requantize(a * s->unit, s->mult_1, s->shift_1) +
      nn_requantize(b * s->unit, s->mult_2, s->shift_2);
  return nn_requantize(nn_wrap(total), s->out_mult, s->out_shift);
}

static bool is_valid(const void *a, const void *b, const void *out,
                     cmsis_nn_activation range, int32_t least, int32_t most,
                     int32_t count) {
  return a && b && out && count >= 0 && nn_is_range(range, least, most);
}

static int32_t moved(int32_t value, int32_t offset, cmsis_nn_activation range) {
  return nn_clamp(nn_wrap((int64_t)value + offset), range.min, range.max);
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
  const cmsis_nn_activation range = {out_activation_min, out_activation_max};
  if (!is_valid(input_1_vect, input_2_vect, output, range, INT8_MIN, INT8_MAX,
                block_size) ||
      left_shift < 0 || left_shift > 22)
    return ARM_CMSIS_NN_ARG_ERROR;
  const scaling s = {(int32_t)1 << left_shift,
                     input_1_mult,
                     input_1_shift,
                     input_2_mult,
                     input_2_shift,
                     out_mult,
                     out_shift};
  for (int32_t i = 0; i < block_size; ++i) {
    const int32_t value = sum(&s, input_1_vect[i] + input_1_offset,
                              input_2_vect[i] + input_2_offset);
    output[i] = (int8_t)moved(value, out_offset, range);
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_add_s16(
    const int16_t *input_1_vect, const int16_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_1_mult,
    const int32_t input_1_shift, const int32_t input_2_offset,
    const int32_t input_2_mult, const int32_t input_2_shift,
    const int32_t left_shift, int16_t *output, const int32_t out_offset,
    const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size) {
  (void)input_1_offset;
  (void)input_2_offset;
  (void)out_offset;
  const cmsis_nn_activation range = {out_activation_min, out_activation_max};
  if (!is_valid(input_1_vect, input_2_vect, output, range, INT16_MIN, INT16_MAX,
                block_size) ||
      left_shift < 0 || left_shift > 15)
    return ARM_CMSIS_NN_ARG_ERROR;
  const scaling s = {(int32_t)1 << left_shift,
                     input_1_mult,
                     input_1_shift,
                     input_2_mult,
                     input_2_shift,
                     out_mult,
                     out_shift};
  for (int32_t i = 0; i < block_size; ++i) {
    const int32_t value = sum(&s, input_1_vect[i], input_2_vect[i]);
    output[i] = (int16_t)moved(value, 0, range);
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_mul_s8(
    const int8_t *input_1_vect, const int8_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_2_offset, int8_t *output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size) {
  const cmsis_nn_activation range = {out_activation_min, out_activation_max};
  if (!is_valid(input_1_vect, input_2_vect, output, range, INT8_MIN, INT8_MAX,
                block_size))
    return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t i = 0; i < block_size; ++i) {
    const int32_t product =
        (input_1_vect[i] + input_1_offset) * (input_2_vect[i] + input_2_offset);
    output[i] = (int8_t)moved(nn_requantize(product, out_mult, out_shift),
                              out_offset, range);
  }
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_mul_s16(
    const int16_t *input_1_vect, const int16_t *input_2_vect,
    const int32_t input_1_offset, const int32_t input_2_offset, int16_t *output,
    const int32_t out_offset, const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max,
    const int32_t block_size) {
  (void)input_1_offset;
  (void)input_2_offset;
  (void)out_offset;
  const cmsis_nn_activation range = {out_activation_min, out_activation_max};
  if (!is_valid(input_1_vect, input_2_vect, output, range, INT16_MIN, INT16_MAX,
                block_size))
    return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t i = 0; i < block_size; ++i) {
    const int32_t product = input_1_vect[i] * input_2_vect[i];
    output[i] =
        (int16_t)moved(nn_requantize(product, out_mult, out_shift), 0, range);
  }
  return ARM_CMSIS_NN_SUCCESS;
}
