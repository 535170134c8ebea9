/*===- cmsis_nn_test.c - Arithmetic, pools, sums of cmsis-nn ------*- C -*-===*/

#include "cmsis_nn_arithmetic.h"
#include "cmsis_nn_fixture.h"

/** The cases in which rounding rules differ. */
static void test_rounding(void) {
  const int32_t half = INT32_C(1) << 30;
#ifdef CMSIS_NN_USE_SINGLE_ROUNDING
  // One rounding, with halves up.
  CHECK_STATUS(nn_requantize(6, half, -1), 2);
  CHECK_STATUS(nn_requantize(-6, half, -1), -1);
  CHECK_STATUS(nn_requantize(-7, half, -1), -2);
  CHECK_STATUS(nn_requantize(5, half, -1), 1);
#else
  // A product with 1/2 rounds halves up ...
  CHECK_STATUS(nn_requantize(3, half, 0), 2);
  CHECK_STATUS(nn_requantize(-3, half, 0), -1);
  CHECK_STATUS(nn_requantize(-1, half, 0), 0);
  // ... a shift rounds them away from zero.
  CHECK_STATUS(nn_requantize(6, half, -1), 2);
  CHECK_STATUS(nn_requantize(-6, half, -1), -2);
  CHECK_STATUS(nn_requantize(5, half, -1), 2);
  CHECK_STATUS(nn_requantize(-5, half, -1), -1);
#endif
  CHECK_STATUS(nn_requantize(5, half, 3), 20);
  CHECK_STATUS(nn_rounded_shift(-7, 2), -2);
  CHECK_STATUS(nn_rounded_shift(-6, 2), -2);
  CHECK_STATUS(nn_rounded_shift(-5, 2), -1);
  CHECK_STATUS(nn_rounded_shift(INT32_MIN, 31), -1);
  CHECK_STATUS(nn_saturating_high_product(INT32_MIN, INT32_MIN), INT32_MAX);
  CHECK_STATUS(nn_saturating_high_product(-3, half), -1);
  CHECK_STATUS(nn_saturating_high_product(3, half), 2);
  CHECK_STATUS(nn_wrap(INT64_C(0x180000000)), INT32_MIN);

  uint32_t seed = 5;
  for (int32_t i = 0; i < 20000; ++i) {
    const double real = (next_random(&seed) % 100000 + 1) / 70000.0;
    const int32_t value = random_in(&seed, -100000, 100000);
    int32_t multiplier, shift;
    quantize_real(real, &multiplier, &shift);
    check_rounded(nn_requantize(value, multiplier, shift), value * real, 0.76,
                  INT32_MIN, INT32_MAX, "requantize", i);
  }
}

typedef struct {
  cmsis_nn_pool_params params;
  cmsis_nn_dims in, filter, out;
  int8_t x[MOST], mean[MOST], greatest[MOST];
} pool_case;

static void check_pool(const pool_case *p, int32_t oh, int32_t ow, int32_t n,
                       int32_t c) {
  double sum = 0, greatest = -128;
  int32_t count = 0;
  for (int32_t h = oh * p->params.stride.h - p->params.padding.h, i = 0;
       i < p->filter.h; ++i, ++h)
    for (int32_t w = ow * p->params.stride.w - p->params.padding.w, j = 0;
         j < p->filter.w; ++j, ++w) {
      if (h < 0 || w < 0 || h >= p->in.h || w >= p->in.w)
        continue;
      const int8_t x = p->x[((n * p->in.h + h) * p->in.w + w) * p->in.c + c];
      sum += x;
      ++count;
      greatest = fmax(greatest, x);
    }
  const int32_t at = ((n * p->out.h + oh) * p->out.w + ow) * p->out.c + c;
  const cmsis_nn_activation range = p->params.activation;
  // round() takes halves away from zero, as the pool does.
  check_rounded(p->mean[at], round(sum / count), 0, range.min, range.max,
                "mean", at);
  check_rounded(p->greatest[at], greatest, 0, range.min, range.max, "max", at);
}

static void test_pools(void) {
  static pool_case p;
  uint32_t seed = 21;
  for (int32_t round = 0; round < 60; ++round) {
    const int32_t kernel = random_in(&seed, 1, 4);
    const int32_t pad = random_in(&seed, 0, kernel / 2);
    const int32_t stride = random_in(&seed, 1, 3);
    const int32_t size = random_in(&seed, kernel, 9);
    const int32_t outs = (size + 2 * pad - kernel) / stride + 1;
    const int32_t c = random_in(&seed, 1, 9);
    p.params = (cmsis_nn_pool_params){
        {stride, stride}, {pad, pad}, {random_in(&seed, -128, -90), 100}};
    p.in = (cmsis_nn_dims){2, size, size, c};
    p.filter = (cmsis_nn_dims){1, kernel, kernel, 1};
    p.out = (cmsis_nn_dims){2, outs, outs, c};
    fill_s8(p.x, MOST, &seed);
    const cmsis_nn_context ctx =
        working_memory(arm_avgpool_s8_get_buffer_size(outs, c));
    CHECK_STATUS(
        arm_avgpool_s8(&ctx, &p.params, &p.in, p.x, &p.filter, &p.out, p.mean),
        ARM_CMSIS_NN_SUCCESS);
    free(ctx.buf);
    CHECK_STATUS(arm_max_pool_s8(NULL, &p.params, &p.in, p.x, &p.filter, &p.out,
                                 p.greatest),
                 ARM_CMSIS_NN_SUCCESS);
    for (int32_t i = 0; i < outs * outs * 2 * c; ++i)
      check_pool(&p, i / c / outs % outs, i / c % outs, i / c / outs / outs,
                 i % c);
  }
  p.params.padding.w = 40; // The first window sees nothing.
  CHECK_STATUS(arm_max_pool_s8(NULL, &p.params, &p.in, p.x, &p.filter, &p.out,
                               p.greatest),
               ARM_CMSIS_NN_ARG_ERROR);
}

/** Sums as TensorFlow Lite sets them up: 20 bits up, twice the greater scale.
 */
static void test_sums(void) {
  static int8_t a[MOST], b[MOST], y[MOST];
  uint32_t seed = 31;
  for (int32_t round = 0; round < 40; ++round) {
    const double sa = random_in(&seed, 1, 999) / 5000.0;
    const double sb = random_in(&seed, 1, 999) / 5000.0;
    const double sy = random_in(&seed, 100, 999) / 2500.0;
    const double twice = 2 * fmax(sa, sb);
    int32_t ma, na, mb, nb, my, ny;
    quantize_real(sa / twice, &ma, &na);
    quantize_real(sb / twice, &mb, &nb);
    quantize_real(twice / (sy * (1 << 20)), &my, &ny);
    const int32_t za = random_in(&seed, -128, 127);
    const int32_t zb = random_in(&seed, -128, 127);
    const int32_t zy = random_in(&seed, -128, 127);
    fill_s8(a, 100, &seed);
    fill_s8(b, 100, &seed);
    CHECK_STATUS(arm_elementwise_add_s8(a, b, -za, ma, na, -zb, mb, nb, 20, y,
                                        zy, my, ny, -100, 127, 100),
                 ARM_CMSIS_NN_SUCCESS);
    for (int32_t i = 0; i < 100; ++i)
      check_rounded(y[i], (sa * (a[i] - za) + sb * (b[i] - zb)) / sy + zy, 0.51,
                    -100, 127, "sum", i);
    quantize_real(sa * sb / sy, &my, &ny);
    CHECK_STATUS(
        arm_elementwise_mul_s8(a, b, -za, -zb, y, zy, my, ny, -128, 90, 100),
        ARM_CMSIS_NN_SUCCESS);
    for (int32_t i = 0; i < 100; ++i)
      check_rounded(y[i], sa * (a[i] - za) * sb * (b[i] - zb) / sy + zy, 0.76,
                    -128, 90, "product", i);
  }
  CHECK_STATUS(
      arm_elementwise_mul_s8(a, b, 0, 0, NULL, 0, 1, 0, -128, 127, 100),
      ARM_CMSIS_NN_ARG_ERROR);
}

/** The functions for int16, which have no zero points. */
static void test_wide(void) {
  static int16_t a[MOST], b[MOST], y[MOST], most[MOST];
  uint32_t seed = 51;
  for (int32_t i = 0; i < MOST; ++i) {
    a[i] = (int16_t)random_in(&seed, -32768, 32767);
    b[i] = (int16_t)random_in(&seed, -32768, 32767);
  }
  const double sa = 0.0011, sb = 0.0007, sy = 0.0019, twice = 2 * sa;
  int32_t ma, na, mb, nb, my, ny;
  quantize_real(sa / twice, &ma, &na);
  quantize_real(sb / twice, &mb, &nb);
  quantize_real(twice / (sy * (1 << 15)), &my, &ny);
  CHECK_STATUS(arm_elementwise_add_s16(a, b, 0, ma, na, 0, mb, nb, 15, y, 0, my,
                                       ny, -20000, 32767, MOST),
               ARM_CMSIS_NN_SUCCESS);
  for (int32_t i = 0; i < MOST; ++i)
    check_rounded(y[i], (sa * a[i] + sb * b[i]) / sy, 0.51, -20000, 32767,
                  "wide sum", i);
  quantize_real(sa * sb / sy, &my, &ny);
  CHECK_STATUS(
      arm_elementwise_mul_s16(a, b, 0, 0, y, 0, my, ny, -32768, 9000, MOST),
      ARM_CMSIS_NN_SUCCESS);
  for (int32_t i = 0; i < MOST; ++i)
    check_rounded(y[i], sa * a[i] * sb * b[i] / sy, 0.76, -32768, 9000,
                  "wide product", i);

  // Windows of 2x1 without overlap: pairs of elements.
  const cmsis_nn_pool_params params = {{1, 2}, {0, 0}, {-30000, 32767}};
  const cmsis_nn_dims in = {1, MOST / 8, 4, 2}, window = {1, 2, 1, 1};
  const cmsis_nn_dims out = {1, MOST / 16, 4, 2};
  const cmsis_nn_context ctx =
      working_memory(arm_avgpool_s16_get_buffer_size(4, 2));
  CHECK_STATUS(arm_avgpool_s16(&ctx, &params, &in, a, &window, &out, y),
               ARM_CMSIS_NN_SUCCESS);
  free(ctx.buf);
  CHECK_STATUS(arm_max_pool_s16(NULL, &params, &in, a, &window, &out, most),
               ARM_CMSIS_NN_SUCCESS);
  for (int32_t i = 0; i < MOST / 2; ++i) {
    const double first = a[i / 8 * 16 + i % 8],
                 other = a[i / 8 * 16 + 8 + i % 8];
    check_rounded(y[i], round((first + other) / 2), 0, -30000, 32767,
                  "wide mean", i);
    check_rounded(most[i], fmax(first, other), 0, -30000, 32767, "wide max", i);
  }
}

static void test_softmax(void) {
  static int8_t x[MOST], y[MOST];
  uint32_t seed = 41;
  const int32_t rows = 8;
  for (int32_t round = 0; round < 60; ++round) {
    const int32_t size = random_in(&seed, 1, 300);
    const double scale = random_in(&seed, 1, 4000) / 10000.0;
    int32_t mult, shift;
    quantize_real(scale * (1 << 26), &mult, &shift);
    const int32_t diff_min = -(int32_t)floor(31 * ldexp(1, 26 - shift));
    fill_s8(x, rows * size, &seed);
    arm_softmax_s8(x, rows, size, mult, shift, diff_min, y);
    for (int32_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (int32_t i = 0; i < size; ++i)
        sum += exp(scale * x[row * size + i]);
      for (int32_t i = 0; i < size; ++i) {
        const double exact = exp(scale * x[row * size + i]) / sum;
        check_rounded(y[row * size + i], exact * 256 - 128, 0.55, -128, 127,
                      "softmax", i);
      }
    }
  }
}

void test_cmsis_nn(void) {
  test_rounding();
  test_pools();
  test_sums();
  test_wide();
  test_softmax();
}
