/*===- cmsis_nn_pooling.c - Pools of the double -------------------*- C -*-===*/

#include "arm_nnfunctions.h"
#include "cmsis_nn_arithmetic.h"
#include "cmsis_nn_window.h"

/** A tensor's elements, of one of two types. */
typedef struct {
  const int8_t *s8;
  const int16_t *s16;
} elements;

/** Statistics of a window. */
typedef struct {
  int32_t count; /**< Elements inside of the image. */
  int32_t sum;
  int32_t greatest;
} window;

static window look(const cmsis_nn_pool_params *params,
                   const cmsis_nn_dims *in_dims, elements in,
                   const cmsis_nn_dims *filter_dims, int32_t n, int32_t oh,
                   int32_t ow, int32_t channel) {
  window found = {0, 0, INT16_MIN};
  for (int32_t kh = 0; kh < filter_dims->h; ++kh) {
    for (int32_t kw = 0; kw < filter_dims->w; ++kw) {
      const int32_t h = oh * params->stride.h - params->padding.h + kh;
      const int32_t w = ow * params->stride.w - params->padding.w + kw;
      if (!nn_is_inside(in_dims, h, w))
        continue;
      const size_t at = nn_at(in_dims, n, h, w, channel);
      const int32_t x = in.s8 ? in.s8[at] : in.s16[at];
      found.count += 1;
      found.sum += x;
      found.greatest = x > found.greatest ? x : found.greatest;
    }
  }
  return found;
}

/** Quotient rounded to nearest, halves away from zero. */
static int32_t mean(window found) {
  const int32_t half = found.count / 2;
  return (found.sum > 0 ? found.sum + half : found.sum - half) / found.count;
}

/** Destination of results; one of the pointers is NULL. */
typedef struct {
  int8_t *s8;
  int16_t *s16;
} results;

static bool is_valid(const cmsis_nn_pool_params *params,
                     const cmsis_nn_dims *in_dims, elements in,
                     const cmsis_nn_dims *filter_dims,
                     const cmsis_nn_dims *out_dims, results out) {
  const int32_t most = out.s8 ? INT8_MAX : INT16_MAX;
  return params && (in.s8 || in.s16) && (out.s8 || out.s16) && filter_dims &&
         filter_dims->h > 0 && filter_dims->w > 0 && nn_is_size(in_dims) &&
         nn_is_size(out_dims) && in_dims->n == out_dims->n &&
         in_dims->c == out_dims->c && nn_is_step(params->stride) &&
         nn_is_range(params->activation, -most - 1, most);
}

static arm_cmsis_nn_status pool(const cmsis_nn_pool_params *params,
                                const cmsis_nn_dims *in_dims, elements in,
                                const cmsis_nn_dims *filter_dims,
                                const cmsis_nn_dims *out_dims, results out,
                                bool is_mean) {
  if (!is_valid(params, in_dims, in, filter_dims, out_dims, out))
    return ARM_CMSIS_NN_ARG_ERROR;
  const cmsis_nn_activation range = params->activation;
  for (int32_t n = 0; n < out_dims->n; ++n) {
    for (int32_t oh = 0; oh < out_dims->h; ++oh) {
      for (int32_t ow = 0; ow < out_dims->w; ++ow) {
        for (int32_t ch = 0; ch < out_dims->c; ++ch) {
          const window found =
              look(params, in_dims, in, filter_dims, n, oh, ow, ch);
          if (found.count == 0)
            return ARM_CMSIS_NN_ARG_ERROR;
          const int32_t value = nn_clamp(is_mean ? mean(found) : found.greatest,
                                         range.min, range.max);
          const size_t at = nn_at(out_dims, n, oh, ow, ch);
          if (out.s8)
            out.s8[at] = (int8_t)value;
          else
            out.s16[at] = (int16_t)value;
        }
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

/** Claims the memory of a mean; false if sizes are missing or memory is. */
static bool claim_mean(const cmsis_nn_context *ctx,
                       const cmsis_nn_dims *in_dims,
                       const cmsis_nn_dims *out_dims) {
  return in_dims && out_dims &&
         nn_claim(ctx, arm_avgpool_s8_get_buffer_size(out_dims->w, in_dims->c));
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx,
                                   const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims,
                                   const int8_t *input_data,
                                   const cmsis_nn_dims *filter_dims,
                                   const cmsis_nn_dims *output_dims,
                                   int8_t *output_data) {
  const elements in = {input_data, NULL};
  const results out = {output_data, NULL};
  if (!claim_mean(ctx, input_dims, output_dims))
    return ARM_CMSIS_NN_ARG_ERROR;
  return pool(pool_params, input_dims, in, filter_dims, output_dims, out, true);
}

arm_cmsis_nn_status arm_avgpool_s16(const cmsis_nn_context *ctx,
                                    const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims,
                                    const int16_t *input_data,
                                    const cmsis_nn_dims *filter_dims,
                                    const cmsis_nn_dims *output_dims,
                                    int16_t *output_data) {
  const elements in = {NULL, input_data};
  const results out = {NULL, output_data};
  if (!claim_mean(ctx, input_dims, output_dims))
    return ARM_CMSIS_NN_ARG_ERROR;
  return pool(pool_params, input_dims, in, filter_dims, output_dims, out, true);
}

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *ctx,
                                    const cmsis_nn_pool_params *pool_params,
                                    const cmsis_nn_dims *input_dims,
                                    const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims,
                                    const cmsis_nn_dims *output_dims,
                                    int8_t *output_data) {
  const elements in = {input_data, NULL};
  const results out = {output_data, NULL};
  (void)ctx;
  return pool(pool_params, input_dims, in, filter_dims, output_dims, out,
              false);
}

arm_cmsis_nn_status arm_max_pool_s16(const cmsis_nn_context *ctx,
                                     const cmsis_nn_pool_params *pool_params,
                                     const cmsis_nn_dims *input_dims,
                                     const int16_t *input_data,
                                     const cmsis_nn_dims *filter_dims,
                                     const cmsis_nn_dims *output_dims,
                                     int16_t *output_data) {
  const elements in = {NULL, input_data};
  const results out = {NULL, output_data};
  (void)ctx;
  return pool(pool_params, input_dims, in, filter_dims, output_dims, out,
              false);
}
