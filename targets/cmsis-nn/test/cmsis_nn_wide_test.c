/*===- cmsis_nn_wide_test.c - Layers of int16 of cmsis-nn ---------*- C -*-===
 *
 * Random layers against sums in double precision, and softmax against exp().
 *
 *===----------------------------------------------------------------------===*/

#include "cmsis_nn_arithmetic.h"
#include "cmsis_nn_fixture.h"

enum { SIDE = 6, IN = 4, TAPS = 3, WIDE_BIAS = 3000000 };

typedef struct {
  cmsis_nn_dims in, filter, out;
  int32_t multipliers[CHANNELS], shifts[CHANNELS], biases[CHANNELS];
  int64_t wide_biases[CHANNELS];
  double scales[CHANNELS];
  int16_t x[MOST], y[MOST];
  int8_t w[MOST];
} wide_layer;

static void make_layer(wide_layer *l, int32_t outs, bool depthwise,
                       uint32_t *seed) {
  const int32_t side = SIDE - TAPS + 1;
  l->in = (cmsis_nn_dims){1, SIDE, SIDE, IN};
  l->filter = depthwise ? (cmsis_nn_dims){1, TAPS, TAPS, outs}
                        : (cmsis_nn_dims){outs, TAPS, TAPS, IN};
  l->out = (cmsis_nn_dims){1, side, side, outs};
  for (int32_t i = 0; i < MOST; ++i)
    l->x[i] = (int16_t)random_in(seed, -32768, 32767);
  fill_s8(l->w, MOST, seed);
  for (int32_t ch = 0; ch < outs; ++ch) {
    l->scales[ch] = random_in(seed, 1, 1000) / 200000.0;
    quantize_real(l->scales[ch], &l->multipliers[ch], &l->shifts[ch]);
    l->biases[ch] = random_in(seed, -WIDE_BIAS, WIDE_BIAS);
    l->wide_biases[ch] = l->biases[ch];
  }
}

static double expected(const wide_layer *l, int32_t oh, int32_t ow, int32_t ch,
                       int32_t ch_mult) {
  double sum = l->biases[ch];
  for (int32_t h = 0; h < TAPS; ++h)
    for (int32_t w = 0; w < TAPS; ++w)
      for (int32_t c = 0; c < IN; ++c) {
        if (ch_mult && ch / ch_mult != c)
          continue;
        const int32_t tap = h * TAPS + w;
        const int32_t f = ch_mult ? l->w[tap * l->out.c + ch]
                                  : l->w[(ch * TAPS * TAPS + tap) * IN + c];
        sum += (double)l->x[((oh + h) * SIDE + ow + w) * IN + c] * f;
      }
  return sum * l->scales[ch];
}

/** A multiplier of 15 bits is up to 2^-15 off, which is 1 at the far end. */
static void check_layer(const wide_layer *l, int32_t ch_mult, double error,
                        const char *what) {
  for (int32_t at = 0; at < l->out.h * l->out.w * l->out.c; ++at) {
    const int32_t pixel = at / l->out.c;
    const double exact =
        expected(l, pixel / l->out.w, pixel % l->out.w, at % l->out.c, ch_mult);
    check_rounded(l->y[at], exact, error, -30000, 32000, what, at);
  }
}

static void test_wide_convolutions(void) {
  static wide_layer l;
  uint32_t seed = 61;
  const cmsis_nn_activation range = {-30000, 32000};
  const cmsis_nn_tile one = {1, 1}, none = {0, 0};
  const cmsis_nn_conv_params p = {0, 0, one, none, one, range};
  for (int32_t round = 0; round < 40; ++round) {
    const bool narrow = round % 2;
    make_layer(&l, random_in(&seed, 1, 9), false, &seed);
    const cmsis_nn_per_channel_quant_params quant = {l.multipliers, l.shifts};
    const cmsis_nn_bias_data bias = {
        narrow ? (const void *)l.biases : (const void *)l.wide_biases, narrow};
    const cmsis_nn_context ctx = working_memory(
        arm_convolve_wrapper_s16_get_buffer_size(&p, &l.in, &l.filter, &l.out));
    CHECK_STATUS(arm_convolve_wrapper_s16(&ctx, &p, &quant, &l.in, l.x,
                                          &l.filter, l.w, NULL, &bias, &l.out,
                                          l.y),
                 ARM_CMSIS_NN_SUCCESS);
    CHECK_STATUS(arm_convolve_wrapper_s16(NULL, &p, &quant, &l.in, l.x,
                                          &l.filter, l.w, NULL, &bias, &l.out,
                                          l.y),
                 ARM_CMSIS_NN_ARG_ERROR);
    free(ctx.buf);
    check_layer(&l, 0, narrow ? 0.76 : 1.51, "wide conv");
  }
}

static void test_wide_depthwise(void) {
  static wide_layer l;
  uint32_t seed = 71;
  const cmsis_nn_activation range = {-30000, 32000};
  const cmsis_nn_tile one = {1, 1}, none = {0, 0};
  for (int32_t round = 0; round < 40; ++round) {
    const int32_t ch_mult = random_in(&seed, 1, 3);
    const cmsis_nn_dw_conv_params p = {0, 0, ch_mult, one, none, one, range};
    make_layer(&l, IN * ch_mult, true, &seed);
    const cmsis_nn_per_channel_quant_params quant = {l.multipliers, l.shifts};
    const cmsis_nn_context ctx =
        working_memory(arm_depthwise_conv_wrapper_s16_get_buffer_size(
            &p, &l.in, &l.filter, &l.out));
    CHECK_STATUS(arm_depthwise_conv_wrapper_s16(&ctx, &p, &quant, &l.in, l.x,
                                                &l.filter, l.w, NULL,
                                                l.wide_biases, &l.out, l.y),
                 ARM_CMSIS_NN_SUCCESS);
    free(ctx.buf);
    check_layer(&l, ch_mult, 1.51, "wide depthwise");
  }
}

/** Rows of more products than int32 has room for. */
static void test_wide_products(void) {
  static int16_t x[MOST], y[CHANNELS];
  static int8_t w[MOST];
  uint32_t seed = 81;
  const int32_t depth = 1000;
  for (int32_t i = 0; i < MOST; ++i) {
    x[i] = (int16_t)(i % 3 ? 32767 : random_in(&seed, -32768, 32767));
    w[i] = (int8_t)(i % 5 ? 127 : random_in(&seed, -128, 127));
  }
  cmsis_nn_fc_params p = {0, 0, 0, {-32768, 32767}};
  cmsis_nn_per_tensor_quant_params quant;
  const double scale = 6e-6;
  quantize_real(scale, &quant.multiplier, &quant.shift);
  const cmsis_nn_dims in = {2, 1, 1, depth}, filter = {depth, 1, 1, 4};
  const cmsis_nn_dims out = {2, 1, 1, 4};
  const cmsis_nn_context ctx = {NULL, 0};
  const int64_t biases[] = {INT64_C(-4000000000), 0, 5, INT64_C(99999999)};
  CHECK_STATUS(arm_fully_connected_s16(&ctx, &p, &quant, &in, x, &filter, w,
                                       &out, biases, &out, y),
               ARM_CMSIS_NN_SUCCESS);
  for (int32_t i = 0; i < 8; ++i) {
    double sum = (double)biases[i % 4];
    for (int32_t k = 0; k < depth; ++k)
      sum += (double)x[i / 4 * depth + k] * w[i % 4 * depth + k];
    check_rounded(y[i], sum * scale, 1.51, -32768, 32767, "wide product", i);
  }
  p.activation.max = 40000;
  CHECK_STATUS(arm_fully_connected_s16(&ctx, &p, &quant, &in, x, &filter, w,
                                       &out, biases, &out, y),
               ARM_CMSIS_NN_ARG_ERROR);
}

static void test_wide_softmax(void) {
  static int16_t x[MOST], y[MOST], exps[513], reciprocals[513];
  uint32_t seed = 91;
  for (int32_t i = 0; i < 513; ++i) {
    exps[i] = (int16_t)fmin(32767, round(32768 * exp(i * 10 / 512.0 - 10)));
    reciprocals[i] = (int16_t)fmin(32767, round(32768 * 512 / (512.0 + i)));
  }
  const cmsis_nn_softmax_lut_s16 tables = {exps, reciprocals};
  for (int32_t round = 0; round < 40; ++round) {
    const int32_t size = random_in(&seed, 1, 200), rows = 4;
    const double scale = random_in(&seed, 1, 300) / 100000.0;
    int32_t mult, shift;
    quantize_real(scale * 6553.5, &mult, &shift);
    for (int32_t i = 0; i < rows * size; ++i)
      x[i] = (int16_t)random_in(&seed, -3000, 3000);
    CHECK_STATUS(arm_softmax_s16(x, rows, size, mult, shift, &tables, y),
                 ARM_CMSIS_NN_SUCCESS);
    for (int32_t at = 0; at < rows * size; ++at) {
      double sum = 0;
      for (int32_t i = 0; i < size; ++i)
        sum += exp(scale * (x[at / size * size + i] - x[at]));
      check_rounded(y[at], 32768 / sum, 8, 0, 32767, "wide softmax", at);
    }
  }
  CHECK_STATUS(arm_softmax_s16(x, 1, 4, 1, 0, NULL, y), ARM_CMSIS_NN_ARG_ERROR);
}

void test_cmsis_nn_wide(void) {
  test_wide_convolutions();
  test_wide_depthwise();
  test_wide_products();
  test_wide_softmax();
}
