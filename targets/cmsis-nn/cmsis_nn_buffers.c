/*===- cmsis_nn_buffers.c - Working memory of the double's calls --*- C -*-===
 *
 * Working memory of the real library on the core of cmsis_nn_limits.h.
 *
 *===----------------------------------------------------------------------===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_limits.h"

/** Channels that the depthwise kernel for Helium has in work at once. */
enum { MVE_CHANNELS = 124 };

static int32_t round_up(int32_t count, int32_t step) {
  return (count + step - 1) / step * step;
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(
    const cmsis_nn_conv_params *conv_params, const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims) {
  switch (nn_kind_of_convolution(conv_params, input_dims, filter_dims)) {
  case NN_CONVOLVE_1X1:
    return 0;
  case NN_CONVOLVE_ROWS:
    return nn_bytes_of_rows(conv_params, input_dims, filter_dims, output_dims);
  case NN_CONVOLVE_ANY:
    break;
  }
  // Windows are gathered: four of them in int8 for Helium, two in int16 else.
  const int32_t window = input_dims->c * filter_dims->h * filter_dims->w;
  return 4 * round_up(window, nn_has_helium() ? 16 : 4);
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims) {
  (void)output_dims;
  const int32_t kernel = filter_dims->h * filter_dims->w;
  if (nn_kind_of_depthwise(dw_conv_params, input_dims, filter_dims) !=
      NN_DEPTHWISE_GATHERED)
    return 0;
  return nn_has_helium() ? 4 * MVE_CHANNELS * kernel
                         : 2 * input_dims->c * kernel;
}

int32_t arm_convolve_wrapper_s16_get_buffer_size(
    const cmsis_nn_conv_params *conv_params, const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims) {
  (void)conv_params;
  (void)output_dims;
  // Windows of any size are gathered: four of them for Helium, two else.
  const int32_t window = input_dims->c * filter_dims->h * filter_dims->w;
  return nn_has_helium() ? 4 * 2 * round_up(window, 8) : 2 * 2 * window;
}

int32_t arm_depthwise_conv_wrapper_s16_get_buffer_size(
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims) {
  (void)output_dims;
  const int32_t kernel = filter_dims->h * filter_dims->w;
  if (nn_kind_of_wide_depthwise(dw_conv_params, filter_dims) !=
      NN_DEPTHWISE_GATHERED)
    return 0;
  return nn_has_helium() ? 4 * 2 * input_dims->c * kernel + 8
                         : 2 * input_dims->c * kernel;
}

int32_t
arm_fully_connected_s16_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  (void)filter_dims;
  return 0;
}

int32_t
arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  return nn_has_helium() ? 4 * filter_dims->c : 0;
}

int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width,
                                       const int ch_src) {
  (void)dim_dst_width;
  return nn_has_dsp() ? 4 * ch_src : 0;
}

int32_t arm_avgpool_s16_get_buffer_size(const int dim_dst_width,
                                        const int ch_src) {
  return arm_avgpool_s8_get_buffer_size(dim_dst_width, ch_src);
}
