/*===- cmsis_nn_wide.c - Layers of int16 with int8 weights --------*- C -*-===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_arithmetic.h"
#include "cmsis_nn_limits.h"
#include "cmsis_nn_window.h"

/** Common parameters of both kinds of convolution. There are no zero points. */
typedef struct {
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation range;
  const cmsis_nn_per_channel_quant_params *quant;
  const cmsis_nn_dims *in_dims;
  const int16_t *in;
  const cmsis_nn_dims *filter_dims;
  const int8_t *filter;
  const cmsis_nn_dims *out_dims;
  int16_t *out;
  const int32_t *narrow_bias; /**< If sums are int32. */
  const int64_t *wide_bias;
  bool is_narrow;
} wide_convolution;

static bool is_valid(const wide_convolution *c) {
  const bool pointers = c->quant && c->quant->multiplier && c->quant->shift &&
                        c->in && c->filter && c->out;
  return pointers && nn_is_size(c->in_dims) && nn_is_size(c->filter_dims) &&
         nn_is_size(c->out_dims) && c->in_dims->n == c->out_dims->n &&
         nn_is_step(c->stride) && nn_is_step(c->dilation) &&
         nn_is_range_s16(c->range);
}

/** Sum of a window; the last four arguments are as in cmsis_nn_convolution.c.
 */
static int64_t window_sum(const wide_convolution *c, int32_t n, int32_t oh,
                          int32_t ow, int32_t first_in, int32_t depth,
                          int32_t filter_n, int32_t filter_c) {
  int64_t sum = 0;
  for (int32_t kh = 0; kh < c->filter_dims->h; ++kh) {
    for (int32_t kw = 0; kw < c->filter_dims->w; ++kw) {
      const int32_t h = oh * c->stride.h - c->padding.h + kh * c->dilation.h;
      const int32_t w = ow * c->stride.w - c->padding.w + kw * c->dilation.w;
      if (!nn_is_inside(c->in_dims, h, w))
        continue;
      const int16_t *x = c->in + nn_at(c->in_dims, n, h, w, first_in);
      const int8_t *f =
          c->filter + nn_at(c->filter_dims, filter_n, kh, kw, filter_c);
      for (int32_t i = 0; i < depth; ++i)
        sum += (int64_t)x[i] * f[i];
    }
  }
  return sum;
}

/** Adds the bias and scales to int16. */
static int16_t finish(const wide_convolution *c, int64_t sum, int32_t channel) {
  const int32_t multiplier = c->quant->multiplier[channel];
  const int32_t shift = c->quant->shift[channel];
  int32_t result;
  if (c->is_narrow) {
    const int32_t bias = c->narrow_bias ? c->narrow_bias[channel] : 0;
    result = nn_requantize(nn_wrap(sum + bias), multiplier, shift);
  } else {
    const int64_t bias = c->wide_bias ? c->wide_bias[channel] : 0;
    result = nn_requantize_wide(sum + bias, multiplier, shift);
  }
  return (int16_t)nn_clamp(result, c->range.min, c->range.max);
}

/** Computes all output elements; `ch_mult` is 0 unless depthwise. */
static void convolve(const wide_convolution *c, int32_t ch_mult) {
  const cmsis_nn_dims *out = c->out_dims;
  for (int32_t n = 0; n < out->n; ++n) {
    for (int32_t oh = 0; oh < out->h; ++oh) {
      for (int32_t ow = 0; ow < out->w; ++ow) {
        for (int32_t ch = 0; ch < out->c; ++ch) {
          const int64_t sum =
              ch_mult > 0 ? window_sum(c, n, oh, ow, ch / ch_mult, 1, 0, ch)
                          : window_sum(c, n, oh, ow, 0, c->in_dims->c, ch, 0);
          c->out[nn_at(out, n, oh, ow, ch)] = finish(c, sum, ch);
        }
      }
    }
  }
}

arm_cmsis_nn_status arm_convolve_wrapper_s16(
    const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int16_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const cmsis_nn_bias_data *bias_data,
    const cmsis_nn_dims *output_dims, int16_t *output_data) {
  (void)bias_dims;
  if (!conv_params || !bias_data)
    return ARM_CMSIS_NN_ARG_ERROR;
  const cmsis_nn_conv_params *p = conv_params;
  const bool narrow = bias_data->is_int32_bias;
  const wide_convolution c = {
      .stride = p->stride,
      .padding = p->padding,
      .dilation = p->dilation,
      .range = p->activation,
      .quant = quant_params,
      .in_dims = input_dims,
      .in = input_data,
      .filter_dims = filter_dims,
      .filter = filter_data,
      .out_dims = output_dims,
      .out = output_data,
      .narrow_bias = narrow ? (const int32_t *)bias_data->data : NULL,
      .wide_bias = narrow ? NULL : (const int64_t *)bias_data->data,
      .is_narrow = narrow};
  if (!is_valid(&c) || filter_dims->c != input_dims->c ||
      filter_dims->n != output_dims->c ||
      !nn_claim(ctx, arm_convolve_wrapper_s16_get_buffer_size(
                         p, input_dims, filter_dims, output_dims)))
    return ARM_CMSIS_NN_ARG_ERROR;
  convolve(&c, 0);
  return ARM_CMSIS_NN_SUCCESS;
}

/** A depthwise convolution by a function of the library, with its memory. */
static arm_cmsis_nn_status convolve_depthwise(
    const wide_convolution *c, const cmsis_nn_dw_conv_params *params,
    nn_depthwise_kind kind, const cmsis_nn_context *ctx, int32_t bytes) {
  // The functions are made for one image.
  if (!is_valid(c) || params->ch_mult < 1 || c->filter_dims->n != 1 ||
      c->in_dims->n != 1 || c->filter_dims->c != c->out_dims->c ||
      (int64_t)c->in_dims->c * params->ch_mult != c->out_dims->c ||
      !nn_claim(ctx, bytes))
    return ARM_CMSIS_NN_ARG_ERROR;
  if (!nn_can_convolve_depthwise(kind, params, c->in_dims, c->filter_dims,
                                 c->out_dims, true))
    return ARM_CMSIS_NN_FAILURE;
  convolve(c, params->ch_mult);
  return ARM_CMSIS_NN_SUCCESS;
}

static wide_convolution
depthwise_layer(const cmsis_nn_dw_conv_params *p,
                const cmsis_nn_per_channel_quant_params *quant_params,
                const cmsis_nn_dims *input_dims, const int16_t *input_data,
                const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                const int64_t *bias_data, const cmsis_nn_dims *output_dims,
                int16_t *output_data) {
  return (wide_convolution){.stride = p->stride,
                            .padding = p->padding,
                            .dilation = p->dilation,
                            .range = p->activation,
                            .quant = quant_params,
                            .in_dims = input_dims,
                            .in = input_data,
                            .filter_dims = filter_dims,
                            .filter = filter_data,
                            .out_dims = output_dims,
                            .out = output_data,
                            .wide_bias = bias_data};
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s16(
    const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int16_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
    const cmsis_nn_dims *output_dims, int16_t *output_data) {
  (void)bias_dims;
  if (!dw_conv_params || !nn_is_size(input_dims) || !nn_is_size(filter_dims))
    return ARM_CMSIS_NN_ARG_ERROR;
  const wide_convolution c = depthwise_layer(
      dw_conv_params, quant_params, input_dims, input_data, filter_dims,
      filter_data, bias_data, output_dims, output_data);
  return convolve_depthwise(
      &c, dw_conv_params,
      nn_kind_of_wide_depthwise(dw_conv_params, filter_dims), ctx,
      arm_depthwise_conv_wrapper_s16_get_buffer_size(dw_conv_params, input_dims,
                                                     filter_dims, output_dims));
}

arm_cmsis_nn_status arm_fully_connected_s16(
    const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_per_tensor_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int16_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int64_t *bias_data,
    const cmsis_nn_dims *output_dims, int16_t *output_data) {
  (void)ctx;
  (void)bias_dims;
  if (!fc_params || !quant_params || !input_dims || !input_data ||
      !filter_dims || !filter_data || !output_dims || !output_data ||
      input_dims->n < 1 || filter_dims->n < 1 || output_dims->c < 1 ||
      filter_dims->c != output_dims->c ||
      !nn_is_range_s16(fc_params->activation))
    return ARM_CMSIS_NN_ARG_ERROR;
  const int32_t depth = filter_dims->n;
  for (int32_t row = 0; row < input_dims->n; ++row) {
    const int16_t *x = input_data + (size_t)row * (size_t)depth;
    int16_t *y = output_data + (size_t)row * (size_t)output_dims->c;
    for (int32_t ch = 0; ch < output_dims->c; ++ch) {
      const int8_t *f = filter_data + (size_t)ch * (size_t)depth;
      int64_t sum = bias_data ? bias_data[ch] : 0;
      for (int32_t i = 0; i < depth; ++i)
        sum += (int64_t)x[i] * f[i];
      const int32_t result = nn_requantize_wide(sum, quant_params->multiplier,
                                                quant_params->shift);
      y[ch] = (int16_t)nn_clamp(result, fc_params->activation.min,
                                fc_params->activation.max);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}
