/*===- cmsis_nn_convolution.c - Convolutions of the double --------*- C -*-===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_arithmetic.h"
#include "cmsis_nn_limits.h"
#include "cmsis_nn_window.h"

/** Common parameters of both kinds of convolution. */
typedef struct {
  cmsis_nn_conv_params params;
  const cmsis_nn_per_channel_quant_params *quant;
  const cmsis_nn_dims *in_dims;
  const int8_t *in;
  const cmsis_nn_dims *filter_dims;
  const int8_t *filter;
  const int32_t *bias;
  const cmsis_nn_dims *out_dims;
  int8_t *out;
} convolution;

static bool is_valid(const convolution *c) {
  const bool pointers = c->quant && c->quant->multiplier && c->quant->shift &&
                        c->in && c->filter && c->out;
  return pointers && nn_is_size(c->in_dims) && nn_is_size(c->filter_dims) &&
         nn_is_size(c->out_dims) && c->in_dims->n == c->out_dims->n &&
         nn_is_step(c->params.stride) && nn_is_step(c->params.dilation) &&
         nn_is_range_s8(c->params.activation);
}

/**
 * Sum for one output element: over `depth` input channels from `first_in`, with
 * filters of which output channel `filter_n`, or channel `filter_c` of the
 * last dimension, is the first element.
 */
static int32_t window_sum(const convolution *c, int32_t n, int32_t oh,
                          int32_t ow, int32_t first_in, int32_t depth,
                          int32_t filter_n, int32_t filter_c) {
  const cmsis_nn_conv_params *p = &c->params;
  int64_t sum = 0;
  for (int32_t kh = 0; kh < c->filter_dims->h; ++kh) {
    for (int32_t kw = 0; kw < c->filter_dims->w; ++kw) {
      const int32_t h = oh * p->stride.h - p->padding.h + kh * p->dilation.h;
      const int32_t w = ow * p->stride.w - p->padding.w + kw * p->dilation.w;
      if (!nn_is_inside(c->in_dims, h, w))
        continue;
      const int8_t *x = c->in + nn_at(c->in_dims, n, h, w, first_in);
      const int8_t *f =
          c->filter + nn_at(c->filter_dims, filter_n, kh, kw, filter_c);
      for (int32_t i = 0; i < depth; ++i)
        sum += (int64_t)(x[i] + p->input_offset) * f[i];
    }
  }
  return nn_wrap(sum);
}

/** Adds the bias, scales to int8 and stores. */
static void finish(const convolution *c, int32_t sum, int32_t n, int32_t oh,
                   int32_t ow, int32_t channel) {
  if (c->bias)
    sum = nn_wrap((int64_t)sum + c->bias[channel]);
  sum = nn_requantize(sum, c->quant->multiplier[channel],
                      c->quant->shift[channel]);
  sum = nn_wrap((int64_t)sum + c->params.output_offset);
  c->out[nn_at(c->out_dims, n, oh, ow, channel)] =
      (int8_t)nn_clamp(sum, c->params.activation.min, c->params.activation.max);
}

/** Computes all output elements; `ch_mult` is 0 unless depthwise. */
static void convolve(const convolution *c, int32_t ch_mult) {
  const cmsis_nn_dims *out = c->out_dims;
  for (int32_t n = 0; n < out->n; ++n) {
    for (int32_t oh = 0; oh < out->h; ++oh) {
      for (int32_t ow = 0; ow < out->w; ++ow) {
        for (int32_t ch = 0; ch < out->c; ++ch) {
          const int32_t sum =
              ch_mult > 0 ? window_sum(c, n, oh, ow, ch / ch_mult, 1, 0, ch)
                          : window_sum(c, n, oh, ow, 0, c->in_dims->c, ch, 0);
          finish(c, sum, n, oh, ow, ch);
        }
      }
    }
  }
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
    const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  if (!conv_params)
    return ARM_CMSIS_NN_ARG_ERROR;
  const convolution c = {*conv_params, quant_params, input_dims,
                         input_data,   filter_dims,  filter_data,
                         bias_data,    output_dims,  output_data};
  if (!is_valid(&c) || filter_dims->c != input_dims->c ||
      filter_dims->n != output_dims->c ||
      !nn_claim(ctx, arm_convolve_wrapper_s8_get_buffer_size(
                         conv_params, input_dims, filter_dims, output_dims)))
    return ARM_CMSIS_NN_ARG_ERROR;
  if (!nn_can_convolve(conv_params, input_dims, filter_dims, output_dims))
    return ARM_CMSIS_NN_FAILURE;
  convolve(&c, 0);
  return ARM_CMSIS_NN_SUCCESS;
}

/** A depthwise convolution by a function of the library, with its memory. */
static arm_cmsis_nn_status
convolve_depthwise(const convolution *c, const cmsis_nn_dw_conv_params *params,
                   nn_depthwise_kind kind, const cmsis_nn_context *ctx,
                   int32_t bytes) {
  if (!is_valid(c) || params->ch_mult < 1 || c->filter_dims->n != 1 ||
      c->filter_dims->c != c->out_dims->c ||
      (int64_t)c->in_dims->c * params->ch_mult != c->out_dims->c ||
      !nn_claim(ctx, bytes))
    return ARM_CMSIS_NN_ARG_ERROR;
  if (!nn_can_convolve_depthwise(kind, params, c->in_dims, c->filter_dims,
                                 c->out_dims, c->bias != NULL))
    return ARM_CMSIS_NN_FAILURE;
  convolve(c, params->ch_mult);
  return ARM_CMSIS_NN_SUCCESS;
}

static convolution
depthwise_layer(const cmsis_nn_dw_conv_params *p,
                const cmsis_nn_per_channel_quant_params *quant_params,
                const cmsis_nn_dims *input_dims, const int8_t *input_data,
                const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
                const int32_t *bias_data, const cmsis_nn_dims *output_dims,
                int8_t *output_data) {
  return (convolution){{p->input_offset, p->output_offset, p->stride,
                        p->padding, p->dilation, p->activation},
                       quant_params,
                       input_dims,
                       input_data,
                       filter_dims,
                       filter_data,
                       bias_data,
                       output_dims,
                       output_data};
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
    const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  if (!dw_conv_params || !nn_is_size(input_dims) || !nn_is_size(filter_dims))
    return ARM_CMSIS_NN_ARG_ERROR;
  const convolution c = depthwise_layer(
      dw_conv_params, quant_params, input_dims, input_data, filter_dims,
      filter_data, bias_data, output_dims, output_data);
  return convolve_depthwise(
      &c, dw_conv_params,
      nn_kind_of_depthwise(dw_conv_params, input_dims, filter_dims), ctx,
      arm_depthwise_conv_wrapper_s8_get_buffer_size(dw_conv_params, input_dims,
                                                    filter_dims, output_dims));
}

arm_cmsis_nn_status arm_depthwise_conv_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims, const int32_t *bias_data,
    const cmsis_nn_dims *output_dims, int8_t *output_data) {
  (void)bias_dims;
  if (!dw_conv_params)
    return ARM_CMSIS_NN_ARG_ERROR;
  const convolution c = depthwise_layer(
      dw_conv_params, quant_params, input_dims, input_data, filter_dims,
      filter_data, bias_data, output_dims, output_data);
  return convolve_depthwise(&c, dw_conv_params, NN_DEPTHWISE_ANY, ctx, 0);
}
