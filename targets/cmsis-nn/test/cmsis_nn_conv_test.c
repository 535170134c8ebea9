/*===- cmsis_nn_conv_test.c - Convolutions and products of cmsis-nn *- C -*-===
 *
 * Random layers against sums in double precision.
 *
 *===----------------------------------------------------------------------===*/

#include "cmsis_nn_fixture.h"

/** A random layer and room for its tensors. */
typedef struct {
  cmsis_nn_conv_params params;
  cmsis_nn_dims in, filter, out, bias;
  int32_t ch_mult; /**< 0 for an ordinary convolution. */
  int32_t multipliers[CHANNELS], shifts[CHANNELS], biases[CHANNELS];
  double scales[CHANNELS];
  int8_t x[MOST], w[MOST], y[MOST];
} layer;

static int32_t out_size(int32_t in, int32_t pad, int32_t kernel, int32_t stride,
                        int32_t dilation) {
  return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

static void make_layer(layer *l, int32_t ch_mult, uint32_t *seed) {
  cmsis_nn_conv_params *p = &l->params;
  const int32_t channels = random_in(seed, 1, 8);
  l->ch_mult = ch_mult;
  p->input_offset = random_in(seed, -127, 128);
  p->output_offset = random_in(seed, -128, 127);
  p->stride = (cmsis_nn_tile){random_in(seed, 1, 2), random_in(seed, 1, 3)};
  p->dilation = (cmsis_nn_tile){random_in(seed, 1, 2), random_in(seed, 1, 2)};
  p->padding = (cmsis_nn_tile){random_in(seed, 0, 1), random_in(seed, 0, 2)};
  p->activation = (cmsis_nn_activation){random_in(seed, -128, -60),
                                        random_in(seed, 60, 127)};
  l->in = (cmsis_nn_dims){random_in(seed, 1, 2), random_in(seed, 5, 9),
                          random_in(seed, 5, 9), channels};
  const int32_t kh = random_in(seed, 1, 3), kw = random_in(seed, 1, 3);
  const int32_t outs = ch_mult ? ch_mult * channels : random_in(seed, 1, 9);
  l->filter = ch_mult ? (cmsis_nn_dims){1, kh, kw, outs}
                      : (cmsis_nn_dims){outs, kh, kw, channels};
  l->out = (cmsis_nn_dims){
      l->in.n, out_size(l->in.h, p->padding.h, kh, p->stride.h, p->dilation.h),
      out_size(l->in.w, p->padding.w, kw, p->stride.w, p->dilation.w), outs};
  l->bias = (cmsis_nn_dims){1, 1, 1, outs};
  fill_s8(l->x, MOST, seed);
  fill_s8(l->w, MOST, seed);
  for (int32_t ch = 0; ch < outs; ++ch) {
    l->scales[ch] = random_in(seed, 1, 1000) / 100000.0;
    quantize_real(l->scales[ch], &l->multipliers[ch], &l->shifts[ch]);
    l->biases[ch] = random_in(seed, -20000, 20000);
  }
}

/** The sum of products for one output, with all indices written out. */
static double expected_sum(const layer *l, int32_t n, int32_t oh, int32_t ow,
                           int32_t ch) {
  const cmsis_nn_conv_params *p = &l->params;
  double sum = 0;
  for (int32_t kh = 0; kh < l->filter.h; ++kh)
    for (int32_t kw = 0; kw < l->filter.w; ++kw)
      for (int32_t c = 0; c < l->in.c; ++c) {
        const int32_t h = oh * p->stride.h + kh * p->dilation.h - p->padding.h;
        const int32_t w = ow * p->stride.w + kw * p->dilation.w - p->padding.w;
        const bool outside = h < 0 || w < 0 || h >= l->in.h || w >= l->in.w;
        if (outside || (l->ch_mult && ch / l->ch_mult != c))
          continue;
        const int32_t x = l->x[((n * l->in.h + h) * l->in.w + w) * l->in.c + c];
        const int32_t tap = kh * l->filter.w + kw;
        const int32_t f =
            l->ch_mult
                ? l->w[tap * l->out.c + ch]
                : l->w[(ch * l->filter.h * l->filter.w + tap) * l->in.c + c];
        sum += (double)(x + p->input_offset) * f;
      }
  return sum;
}

static void check_layer(const layer *l, const int32_t *biases) {
  int32_t at = 0;
  for (int32_t n = 0; n < l->out.n; ++n)
    for (int32_t oh = 0; oh < l->out.h; ++oh)
      for (int32_t ow = 0; ow < l->out.w; ++ow)
        for (int32_t ch = 0; ch < l->out.c; ++ch, ++at) {
          const double sum =
              expected_sum(l, n, oh, ow, ch) + (biases ? biases[ch] : 0);
          check_rounded(l->y[at], sum * l->scales[ch] + l->params.output_offset,
                        0.76, l->params.activation.min,
                        l->params.activation.max,
                        l->ch_mult ? "depthwise" : "conv", at);
        }
}

static int run_layer(layer *l, const int32_t *biases) {
  const cmsis_nn_per_channel_quant_params quant = {l->multipliers, l->shifts};
  const cmsis_nn_conv_params *p = &l->params;
  int status;
  if (l->ch_mult) {
    const cmsis_nn_dw_conv_params dw = {
        p->input_offset, p->output_offset, l->ch_mult,   p->stride,
        p->padding,      p->dilation,      p->activation};
    const cmsis_nn_context ctx =
        working_memory(arm_depthwise_conv_wrapper_s8_get_buffer_size(
            &dw, &l->in, &l->filter, &l->out));
    status = arm_depthwise_conv_wrapper_s8(&ctx, &dw, &quant, &l->in, l->x,
                                           &l->filter, l->w, &l->bias, biases,
                                           &l->out, l->y);
    free(ctx.buf);
  } else {
    const cmsis_nn_context ctx =
        working_memory(arm_convolve_wrapper_s8_get_buffer_size(
            p, &l->in, &l->filter, &l->out));
    status = arm_convolve_wrapper_s8(&ctx, p, &quant, &l->in, l->x, &l->filter,
                                     l->w, &l->bias, biases, &l->out, l->y);
    free(ctx.buf);
  }
  return status;
}

static void test_random_layers(void) {
  static layer l;
  uint32_t seed = 7;
  for (int32_t round = 0; round < 120; ++round) {
    make_layer(&l, round % 4, &seed);
    const int32_t *biases = round % 5 ? l.biases : NULL;
    CHECK_STATUS(run_layer(&l, biases), ARM_CMSIS_NN_SUCCESS);
    check_layer(&l, biases);
  }
}

/** Mistakes are found, and nothing is written. */
static void test_wrong_layers(void) {
  static layer l;
  uint32_t seed = 3;
  make_layer(&l, 0, &seed);
  l.y[0] = 99;
  const layer good = l;
  l.filter.c += 1;
  CHECK_STATUS(run_layer(&l, l.biases), ARM_CMSIS_NN_ARG_ERROR);
  l = good;
  l.params.stride.w = 0;
  CHECK_STATUS(run_layer(&l, l.biases), ARM_CMSIS_NN_ARG_ERROR);
  l = good;
  l.params.activation.min = 128;
  CHECK_STATUS(run_layer(&l, l.biases), ARM_CMSIS_NN_ARG_ERROR);
  l = good;
  l.out.n += 1;
  CHECK_STATUS(run_layer(&l, l.biases), ARM_CMSIS_NN_ARG_ERROR);
  CHECK(l.y[0] == 99, "a refused call wrote");

  // A window that must be gathered needs memory.
  l = good;
  l.filter.h = 3;
  const cmsis_nn_per_channel_quant_params quant = {l.multipliers, l.shifts};
  CHECK_STATUS(arm_convolve_wrapper_s8(NULL, &l.params, &quant, &l.in, l.x,
                                       &l.filter, l.w, NULL, NULL, &l.out, l.y),
               ARM_CMSIS_NN_ARG_ERROR);
}

static void test_buffer_sizes(void) {
  const cmsis_nn_dims in = {1, 8, 8, 24}, out = {1, 8, 8, 24};
  const cmsis_nn_dims filter = {24, 5, 3, 24}, dw_filter = {1, 5, 3, 24},
                      point = {24, 1, 1, 24};
  cmsis_nn_conv_params conv = {0};
  conv.dilation = conv.stride = (cmsis_nn_tile){1, 1};
  cmsis_nn_dw_conv_params dw = {0};
  dw.dilation = dw.stride = (cmsis_nn_tile){1, 1};
  dw.ch_mult = 1;
#if defined(ARM_MATH_MVEI)
  const int32_t conv_bytes = 4 * 368, dw_bytes = 4 * 124 * 15, fc = 4 * 24;
  const int32_t pool = 0;
#elif defined(ARM_MATH_DSP)
  const int32_t conv_bytes = 4 * 360, dw_bytes = 2 * 24 * 15, fc = 0;
  const int32_t pool = 4 * 24;
#else
  const int32_t conv_bytes = 4 * 360, dw_bytes = 0, fc = 0, pool = 0;
#endif
  CHECK_STATUS(
      arm_convolve_wrapper_s8_get_buffer_size(&conv, &in, &filter, &out),
      conv_bytes);
  CHECK_STATUS(
      arm_convolve_wrapper_s8_get_buffer_size(&conv, &in, &point, &out), 0);
  CHECK_STATUS(
      arm_depthwise_conv_wrapper_s8_get_buffer_size(&dw, &in, &dw_filter, &out),
      dw_bytes);
  CHECK_STATUS(arm_fully_connected_s8_get_buffer_size(&filter), fc);
  CHECK_STATUS(arm_avgpool_s8_get_buffer_size(8, 24), pool);
}

static void test_products(void) {
  static int8_t x[MOST], w[MOST], y[MOST];
  uint32_t seed = 11;
  for (int32_t round = 0; round < 40; ++round) {
    const int32_t rows = random_in(&seed, 1, 4),
                  depth = random_in(&seed, 1, 90);
    const int32_t outs = random_in(&seed, 1, 20);
    const double scale = random_in(&seed, 1, 900) / 80000.0;
    cmsis_nn_fc_params p = {random_in(&seed, -127, 128),
                            0,
                            random_in(&seed, -128, 127),
                            {random_in(&seed, -128, 0), 127}};
    p.filter_offset = round % 3 ? 0 : random_in(&seed, -3, 3);
    cmsis_nn_per_tensor_quant_params quant;
    quantize_real(scale, &quant.multiplier, &quant.shift);
    const cmsis_nn_dims in = {rows, 1, 1, depth}, filter = {depth, 1, 1, outs};
    const cmsis_nn_dims out = {rows, 1, 1, outs};
    int32_t biases[CHANNELS];
    for (int32_t i = 0; i < outs; ++i)
      biases[i] = random_in(&seed, -9000, 9000);
    fill_s8(x, MOST, &seed);
    fill_s8(w, MOST, &seed);
    const cmsis_nn_context ctx =
        working_memory(arm_fully_connected_s8_get_buffer_size(&filter));
    CHECK_STATUS(arm_fully_connected_s8(&ctx, &p, &quant, &in, x, &filter, w,
                                        &out, biases, &out, y),
                 ARM_CMSIS_NN_SUCCESS);
    free(ctx.buf);
    for (int32_t i = 0; i < rows * outs; ++i) {
      double sum = biases[i % outs];
      for (int32_t k = 0; k < depth; ++k)
        sum += (double)(x[i / outs * depth + k] + p.input_offset) *
               (w[i % outs * depth + k] + p.filter_offset);
      check_rounded(y[i], sum * scale + p.output_offset, 0.76, p.activation.min,
                    p.activation.max, "fully connected", i);
    }
  }
}

void test_cmsis_nn_conv(void) {
  test_random_layers();
  test_wrong_layers();
  test_buffer_sizes();
  test_products();
}
