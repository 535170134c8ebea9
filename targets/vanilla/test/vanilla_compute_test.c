/*===- vanilla_compute_test.c - Instructions against references ---*- C -*-===
 *
 * The values make every sum exact, so results are compared for equality.
 *
 *===----------------------------------------------------------------------===*/

#include "vanilla_fixture.h"

#include <math.h>

enum { FLOATS = VANILLA_SCRATCHPAD_BYTES / 4 };

static float input[FLOATS], kernel[FLOATS], packed[FLOATS], bias[FLOATS];
static float before[FLOATS], expected[FLOATS], got[FLOATS];

static float activate(float x, uint32_t activation) {
  if (activation == VANILLA_NONE)
    return x;
  const float positive = x > 0.0f ? x : 0.0f;
  return activation == VANILLA_RELU6 ? fminf(positive, 6.0f) : positive;
}

/** The input of plane `plane` at a position that may be outside. */
static float pixel(const vanilla_conv2d_params *p, int64_t plane, int64_t y,
                   int64_t x) {
  if (y < 0 || y >= p->in_h || x < 0 || x >= p->in_w)
    return 0.0f;
  return input[(plane * p->in_h + y) * p->in_w + x];
}

/** One output by the definition; kernels have `kernel_c` channels, of which
 * the first reads input plane `plane`. */
static float conv_at(const vanilla_conv2d_params *p, int64_t plane,
                     int64_t kernel_c, int64_t c, int64_t y, int64_t x) {
  float sum = 0.0f;
  for (int64_t k = 0; k < kernel_c; ++k)
    for (int64_t i = 0; i < p->kernel_h; ++i)
      for (int64_t j = 0; j < p->kernel_w; ++j)
        sum += pixel(p, plane + k,
                     y * p->stride_h + i * p->dilation_h - p->pad_top,
                     x * p->stride_w + j * p->dilation_w - p->pad_left) *
               kernel[((c * kernel_c + k) * p->kernel_h + i) * p->kernel_w + j];
  return sum;
}

static void expect_conv(const vanilla_conv2d_params *p, int depthwise) {
  const int64_t kernel_c = depthwise ? 1 : p->in_c;
  size_t at = 0;
  for (int64_t c = 0; c < p->out_c; ++c)
    for (int64_t y = 0; y < p->out_h; ++y)
      for (int64_t x = 0; x < p->out_w; ++x, ++at) {
        float sum = conv_at(p, depthwise ? c : 0, kernel_c, c, y, x);
        sum += p->has_bias ? bias[c] : 0.0f;
        sum += p->accumulate ? before[at] : 0.0f;
        expected[at] = activate(sum, p->activation);
      }
}

/** Packs kernel [out][taps] to [out/8][taps][8]; returns its size. */
static uint32_t pack(uint32_t out, uint32_t taps) {
  const uint32_t blocks = (out + 7) / 8;
  for (uint32_t b = 0; b < blocks; ++b)
    for (uint32_t t = 0; t < taps; ++t)
      for (uint32_t lane = 0; lane < 8; ++lane) {
        const uint32_t c = b * 8 + lane;
        packed[(b * taps + t) * 8 + lane] = c < out ? kernel[c * taps + t] : 0;
      }
  return blocks * taps * 8;
}

typedef struct places {
  uint32_t input, weights, bias, output, end;
} places;

/** Loads the operands one after another, with the old output. */
static places place(vanilla_device *device, uint32_t in, uint32_t weights,
                    uint32_t biases, uint32_t out) {
  places at = {.input = 0};
  at.weights = align_up(in * 4);
  at.bias = align_up(at.weights + weights * 4);
  at.output = align_up(at.bias + biases * 4);
  at.end = at.output + out * 4;
  CHECK(at.end + 4 <= VANILLA_SCRATCHPAD_BYTES, "the test needs %u bytes",
        at.end);
  load(device, at.input, input, in);
  load(device, at.weights, packed, weights);
  load(device, at.bias, bias, biases);
  load(device, at.output, before, out);
  return at;
}

static void compare(vanilla_device *device, const places *at, uint32_t count,
                    const char *what) {
  /* One more, which nobody wrote and which must still be what it was. */
  unload(device, at->output, got, count + 1);
  for (uint32_t i = 0; i < count; ++i)
    CHECK(got[i] == expected[i], "%s: element %u is %f, not %f", what, i,
          (double)got[i], (double)expected[i]);
  CHECK(isnan(got[count]), "%s wrote past its output", what);
}

static void check_conv(const vanilla_conv2d_params *p, int depthwise,
                       const char *what) {
  static uint32_t seed = 1;
  const uint32_t taps = (depthwise ? 1 : p->in_c) * p->kernel_h * p->kernel_w;
  const uint32_t in = p->in_c * p->in_h * p->in_w;
  const uint32_t out = p->out_c * p->out_h * p->out_w;
  fill(input, in, &seed);
  fill(kernel, (size_t)p->out_c * taps, &seed);
  fill(bias, p->out_c, &seed);
  fill(before, out, &seed);
  vanilla_device *device = open_device();
  const places at = place(device, in, pack(p->out_c, taps), p->out_c, out);
  expect_conv(p, depthwise);
  CHECK_STATUS((depthwise ? vanilla_depthwise : vanilla_conv2d)(
                   device, p, at.input, at.weights, at.bias, at.output),
               VANILLA_OK);
  compare(device, &at, out, what);
  vanilla_counters counters;
  CHECK_STATUS(vanilla_get_counters(device, &counters), VANILLA_OK);
  CHECK(counters.macs == (uint64_t)out * taps, "%s: %llu macs", what,
        (unsigned long long)counters.macs);
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

/* in_c, in_h, in_w, out_c, out_h, out_w, kernel, stride, dilation, pads, bias,
 * accumulate, activation. */
static const vanilla_conv2d_params convs[] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, VANILLA_NONE},
    {3, 7, 9, 5, 7, 9, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, VANILLA_RELU},
    {16, 8, 8, 16, 8, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0, VANILLA_RELU6},
    {4, 9, 33, 9, 7, 31, 3, 3, 1, 1, 1, 1, 0, 0, 0, 1, VANILLA_NONE},
    {3, 19, 23, 17, 10, 12, 7, 7, 2, 2, 1, 1, 3, 3, 1, 1, VANILLA_RELU},
    {5, 13, 11, 8, 5, 4, 3, 5, 3, 2, 1, 1, 2, 0, 0, 0, VANILLA_RELU},
    {2, 15, 17, 3, 9, 9, 3, 3, 1, 1, 3, 4, 0, 0, 1, 0, VANILLA_NONE},
    {7, 6, 20, 24, 3, 10, 1, 1, 2, 2, 1, 1, 0, 0, 0, 1, VANILLA_RELU6},
    /* Tiles at the borders: only some sides are padded, and far outside. */
    {3, 4, 12, 8, 5, 11, 3, 3, 1, 1, 1, 1, 2, 0, 1, 0, VANILLA_NONE},
    {3, 4, 5, 8, 4, 16, 3, 3, 1, 1, 1, 1, 0, 9, 1, 0, VANILLA_NONE},
    {2, 3, 3, 2, 9, 9, 2, 2, 1, 1, 2, 2, 5, 5, 1, 0, VANILLA_NONE},
    /* 1x1 without a gap, except that the output is smaller than the input. */
    {4, 6, 6, 8, 4, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, VANILLA_NONE},
    {4, 6, 5, 8, 4, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, VANILLA_NONE},
    {4, 4, 6, 8, 4, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, VANILLA_NONE},
};

static const vanilla_conv2d_params depthwises[] = {
    {1, 5, 5, 1, 5, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0, VANILLA_NONE},
    {19, 14, 14, 19, 14, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1, 0, VANILLA_RELU6},
    {12, 15, 13, 12, 8, 7, 3, 3, 2, 2, 1, 1, 1, 1, 0, 1, VANILLA_RELU},
    {8, 6, 7, 8, 10, 12, 5, 4, 1, 1, 2, 3, 6, 7, 1, 0, VANILLA_NONE},
    {3, 4, 5, 3, 4, 16, 3, 3, 1, 2, 1, 1, 0, 9, 1, 1, VANILLA_NONE},
};

static void check_dense(const vanilla_dense_params *p) {
  static uint32_t seed = 9;
  fill(input, (size_t)p->rows * p->in, &seed);
  fill(kernel, (size_t)p->out * p->in, &seed);
  fill(bias, p->out, &seed);
  fill(before, (size_t)p->rows * p->out, &seed);
  for (uint32_t r = 0; r < p->rows; ++r)
    for (uint32_t o = 0; o < p->out; ++o) {
      float sum = p->has_bias ? bias[o] : 0.0f;
      for (uint32_t k = 0; k < p->in; ++k)
        sum += input[r * p->in + k] * kernel[o * p->in + k];
      sum += p->accumulate ? before[r * p->out + o] : 0.0f;
      expected[r * p->out + o] = activate(sum, p->activation);
    }
  vanilla_device *device = open_device();
  const places at = place(device, p->rows * p->in, pack(p->out, p->in), p->out,
                          p->rows * p->out);
  CHECK_STATUS(
      vanilla_dense(device, p, at.input, at.weights, at.bias, at.output),
      VANILLA_OK);
  compare(device, &at, p->rows * p->out, "dense");
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

static void test_elementwise(void) {
  const float values[5] = {-1.5f, 0.0f, 7.0f, 2.0f, NAN};
  const float sums[5] = {0.0f, 0.0f, 6.0f, 4.0f, NAN};
  const float relus[5] = {0.0f, 0.0f, 7.0f, 2.0f, NAN};
  vanilla_device *device = open_device();
  load(device, 0, values, 5);
  CHECK_STATUS(vanilla_activate(device, 5, VANILLA_RELU, 0, 32), VANILLA_OK);
  CHECK_STATUS(vanilla_add(device, 5, VANILLA_RELU6, 0, 0, 64), VANILLA_OK);
  CHECK_STATUS(vanilla_activate(device, 5, VANILLA_RELU, 0, 0), VANILLA_OK);
  CHECK_STATUS(vanilla_activate(device, 5, VANILLA_NONE, 0, 16),
               VANILLA_ERR_OVERLAP);
  CHECK_STATUS(vanilla_add(device, 5, VANILLA_NONE, 128, 0, 16),
               VANILLA_ERR_OVERLAP);
  float out[21];
  unload(device, 0, out, 21);
  for (int i = 0; i < 4; ++i) {
    CHECK(out[i] == relus[i] && out[8 + i] == relus[i] &&
              out[16 + i] == sums[i],
          "element %d is %f, %f, %f", i, (double)out[i], (double)out[8 + i],
          (double)out[16 + i]);
  }
  CHECK(isnan(out[4]) && isnan(out[12]) && isnan(out[20]), "NaN was lost");
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

static void test_refused(void) {
  vanilla_device *device = open_device();
  const vanilla_conv2d_params good = convs[2];
  static float zeros[FLOATS];
  load(device, 0, zeros, FLOATS);
#define CONV(in, w, b, out) vanilla_conv2d(device, &p, in, w, b, out)
  vanilla_conv2d_params p = good;
  CHECK_STATUS(CONV(0, 4096, 16384, 20480), VANILLA_OK);
  CHECK_STATUS(CONV(8, 4112, 16384, 20480), VANILLA_ERR_ALIGNMENT);
  CHECK_STATUS(CONV(0, 4096, 16388, 20480), VANILLA_ERR_ALIGNMENT);
  CHECK_STATUS(CONV(0, 4096, 16384, 65536 - 4080), VANILLA_ERR_BOUNDS);
  CHECK_STATUS(CONV(0, UINT32_MAX - 15, 16384, 20480), VANILLA_ERR_BOUNDS);
  CHECK_STATUS(CONV(0, 4096, 16384, 4080), VANILLA_ERR_OVERLAP);
  CHECK_STATUS(CONV(0, 4096, 16384, 0), VANILLA_ERR_OVERLAP);
  CHECK_STATUS(CONV(0, 4096, 20480, 20480), VANILLA_ERR_OVERLAP);
  p.has_bias = 0; /* Then its place does not matter. */
  CHECK_STATUS(CONV(0, 4096, 20480 + 3, 20480), VANILLA_OK);
  p.in_c = 65536;
  p.in_h = 65536;
  p.in_w = 65536;
  CHECK_STATUS(CONV(0, 4096, 0, 20480), VANILLA_ERR_BOUNDS);
  uint32_t *const fields[] = {&p.in_c,     &p.in_h,       &p.in_w,
                              &p.out_c,    &p.out_h,      &p.out_w,
                              &p.kernel_h, &p.kernel_w,   &p.stride_h,
                              &p.stride_w, &p.dilation_h, &p.dilation_w};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
    p = good;
    *fields[i] = 0;
    CHECK_STATUS(CONV(0, 4096, 16384, 20480), VANILLA_ERR_ARGUMENT);
    *fields[i] = UINT32_MAX;
    CHECK_STATUS(CONV(0, 4096, 16384, 20480), VANILLA_ERR_ARGUMENT);
  }
  p = good;
  p.activation = 3;
  CHECK_STATUS(CONV(0, 4096, 16384, 20480), VANILLA_ERR_ARGUMENT);
  p = good;
  p.accumulate = 2;
  CHECK_STATUS(CONV(0, 4096, 16384, 20480), VANILLA_ERR_ARGUMENT);
#undef CONV
  p = good;
  p.in_c = 8;
  CHECK_STATUS(vanilla_depthwise(device, &p, 0, 4096, 16384, 20480),
               VANILLA_ERR_ARGUMENT);
  const vanilla_dense_params dense = {.rows = 0, .in = 1, .out = 1};
  CHECK_STATUS(vanilla_dense(device, &dense, 0, 4096, 16384, 20480),
               VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_activate(device, 0, VANILLA_RELU, 0, 64),
               VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_activate(NULL, 1, VANILLA_RELU, 0, 64),
               VANILLA_ERR_ARGUMENT);
  CHECK_STATUS(vanilla_conv2d(device, NULL, 0, 0, 0, 0), VANILLA_ERR_ARGUMENT);
  vanilla_counters counters;
  CHECK_STATUS(vanilla_get_counters(device, &counters), VANILLA_OK);
  CHECK(counters.instructions == 2, "a refused instruction was counted");
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

/** Without a load the scratchpad holds NaN, and the result shows it. */
static void test_unloaded(void) {
  vanilla_device *device = open_device();
  const vanilla_dense_params p = {.rows = 1, .in = 1, .out = 1};
  CHECK_STATUS(vanilla_dense(device, &p, 0, 64, 0, 128), VANILLA_OK);
  float out = 0;
  unload(device, 128, &out, 1);
  CHECK(isnan(out), "an operand that was never loaded gave %f", (double)out);
  CHECK_STATUS(vanilla_close(device), VANILLA_OK);
}

void test_vanilla_compute(void) {
  for (size_t i = 0; i < sizeof convs / sizeof convs[0]; ++i)
    check_conv(&convs[i], 0, "conv2d");
  for (size_t i = 0; i < sizeof depthwises / sizeof depthwises[0]; ++i)
    check_conv(&depthwises[i], 1, "depthwise");
  static const uint32_t sizes[] = {1, 3, 8, 17, 33};
  for (uint32_t r = 0; r < 5; ++r)
    for (uint32_t k = 0; k < 5; ++k)
      for (uint32_t o = 0; o < 5; ++o) {
        const vanilla_dense_params p = {sizes[r],    sizes[k],
                                        sizes[o],    (r + k) % 2,
                                        (k + o) % 2, (r + k + o) % 3};
        check_dense(&p);
      }
  test_elementwise();
  test_refused();
  test_unloaded();
}
