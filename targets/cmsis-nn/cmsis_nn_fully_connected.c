/*===- cmsis_nn_fully_connected.c - Products with a matrix --------*- C -*-===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_arithmetic.h"
#include "cmsis_nn_window.h"

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_per_tensor_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
    const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  if (!fc_params || !quant_params || !input_dims || !input_data ||
      !filter_dims || !filter_data || !output_dims || !output_data ||
      input_dims->n < 1 || filter_dims->n < 1 || output_dims->c < 1 ||
      filter_dims->c != output_dims->c ||
      !nn_is_range_s8(fc_params->activation) ||
      !nn_claim(ctx, arm_fully_connected_s8_get_buffer_size(filter_dims)))
    return ARM_CMSIS_NN_ARG_ERROR;
  const int32_t depth = filter_dims->n;
  for (int32_t row = 0; row < input_dims->n; ++row) {
    const int8_t *x = input_data + (size_t)row * (size_t)depth;
    int8_t *y = output_data + (size_t)row * (size_t)output_dims->c;
    for (int32_t ch = 0; ch < output_dims->c; ++ch) {
      const int8_t *f = filter_data + (size_t)ch * (size_t)depth;
      int64_t sum = bias_data ? bias_data[ch] : 0;
      for (int32_t i = 0; i < depth; ++i)
        sum += (int64_t)(x[i] + fc_params->input_offset) *
               (f[i] + fc_params->filter_offset);
      int32_t result = nn_requantize(nn_wrap(sum), quant_params->multiplier,
                                     quant_params->shift);
      result = nn_wrap((int64_t)result + fc_params->output_offset);
      y[ch] = (int8_t)nn_clamp(result, fc_params->activation.min,
                               fc_params->activation.max);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
