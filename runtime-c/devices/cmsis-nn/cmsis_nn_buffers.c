/*===- cmsis_nn_buffers.c - Working memory of the double's calls --*- C -*-===
 *
 * How much memory the real library asks for: with ARM_MATH_MVEI that of a core
 * with Helium (Cortex-M55, M85), with ARM_MATH_DSP that of one with the DSP
 * extension (Cortex-M4, M7, M33), else that of a core with neither.
 *
 *===----------------------------------------------------------------------===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_window.h"

#if defined(ARM_MATH_MVEI)
enum { HAS_MVE = 1, HAS_DSP = 0 };
#elif defined(ARM_MATH_DSP)
enum { HAS_MVE = 0, HAS_DSP = 1 };
#else
enum { HAS_MVE = 0, HAS_DSP = 0 };
#endif

/** Channels that the depthwise kernel for Helium has in work at once. */
enum { MVE_CHANNELS = 124 };

static int32_t round_up(int32_t count, int32_t step) {
  return (count + step - 1) / step * step;
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(
    const cmsis_nn_conv_params *conv_params, const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims) {
  (void)output_dims;
  const bool is_1x1 =
      filter_dims->h == 1 && filter_dims->w == 1 &&
      conv_params->padding.h == 0 && conv_params->padding.w == 0 &&
      conv_params->dilation.h == 1 && conv_params->dilation.w == 1;
  if (is_1x1)
    return 0;
  // Windows are gathered: four of them in int8 for Helium, two in int16 else.
  const int32_t window = input_dims->c * filter_dims->h * filter_dims->w;
  return 4 * round_up(window, HAS_MVE ? 16 : 4);
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims) {
  const int32_t kernel = filter_dims->h * filter_dims->w;
  const bool is_optimised =
      input_dims->c == output_dims->c && input_dims->n == 1 &&
      dw_conv_params->dilation.h == 1 && dw_conv_params->dilation.w == 1;
  const bool is_3x3 = filter_dims->h == 3 && filter_dims->w == 3 &&
                      dw_conv_params->padding.h <= 1 &&
                      dw_conv_params->padding.w <= 1;
  if (!is_optimised)
    return 0;
  if (HAS_MVE)
    return 4 * MVE_CHANNELS * kernel;
  return HAS_DSP && !is_3x3 ? 2 * input_dims->c * kernel : 0;
}

int32_t arm_convolve_wrapper_s16_get_buffer_size(
    const cmsis_nn_conv_params *conv_params, const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims) {
  (void)conv_params;
  (void)output_dims;
  // Windows of any size are gathered: four of them for Helium, two else.
  const int32_t window = input_dims->c * filter_dims->h * filter_dims->w;
  return HAS_MVE ? 4 * 2 * round_up(window, 8) : 2 * 2 * window;
}

int32_t arm_depthwise_conv_wrapper_s16_get_buffer_size(
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims) {
  (void)output_dims;
  const int32_t kernel = filter_dims->h * filter_dims->w;
  const bool is_optimised = dw_conv_params->ch_mult == 1 &&
                            dw_conv_params->dilation.h == 1 &&
                            dw_conv_params->dilation.w == 1 && kernel < 512;
  if (!is_optimised)
    return 0;
  if (HAS_MVE)
    return 4 * 2 * input_dims->c * kernel + 8;
  return HAS_DSP ? 2 * input_dims->c * kernel : 0;
}

int32_t
arm_fully_connected_s16_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  (void)filter_dims;
  return 0;
}

int32_t
arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims) {
  return HAS_MVE ? 4 * filter_dims->c : 0;
}

int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width,
                                       const int ch_src) {
  (void)dim_dst_width;
  return HAS_DSP ? 4 * ch_src : 0;
}

int32_t arm_avgpool_s16_get_buffer_size(const int dim_dst_width,
                                        const int ch_src) {
  return arm_avgpool_s8_get_buffer_size(dim_dst_width, ch_src);
}
