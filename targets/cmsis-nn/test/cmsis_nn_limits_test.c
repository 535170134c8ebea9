/*===- cmsis_nn_limits_test.c - Layers that cmsis-nn refuses ------*- C -*-===
 *
 * Calls that the double refuses because the real library computes them wrongly
 * or leaves its memory, on the core that it is compiled for; found by random
 * calls of both.
 *
 *===----------------------------------------------------------------------===*/

#include "cmsis_nn_fixture.h"

#if defined(ARM_MATH_MVEI)
enum { HELIUM = 1, DSP = 0 };
#elif defined(ARM_MATH_DSP)
enum { HELIUM = 0, DSP = 1 };
#else
enum { HELIUM = 0, DSP = 0 };
#endif

/** Sizes are of height and width; padding is before and after the image. */
typedef struct {
  int32_t channels, in[2], kernel[2], stride[2], before[2], after[2];
  bool expected; /**< Whether the call is taken. */
} limit_case;

static const cmsis_nn_activation full_range = {-128, 127};

static cmsis_nn_dims output_of(const limit_case *c) {
  cmsis_nn_dims out = {1, 0, 0, c->channels};
  int32_t *sizes[2] = {&out.h, &out.w};
  for (int i = 0; i < 2; ++i)
    *sizes[i] =
        (c->in[i] + c->before[i] + c->after[i] - c->kernel[i]) / c->stride[i] +
        1;
  return out;
}

static void check_status(const limit_case *c, int index, int status,
                         const char *what) {
  CHECK(status == (c->expected ? ARM_CMSIS_NN_SUCCESS : ARM_CMSIS_NN_FAILURE),
        "%s %d: status %d", what, index, status);
}

static void test_convolutions(void) {
  const limit_case cases[] = {
      // 1x1: windows must lie within the image, for steps of 1 and of more.
      {3, {5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, true},
      {3, {5, 5}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, false},
      {3, {5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 1}, false},
      {3, {5, 5}, {1, 1}, {2, 2}, {0, 0}, {1, 1}, true},
      {3, {5, 6}, {1, 1}, {2, 2}, {0, 0}, {0, 1}, false},
      {3, {5, 5}, {1, 1}, {1, 1}, {1, 0}, {1, 1}, true},
      // Rows with Helium: symmetric, one more behind, causal.
      {4, {1, 9}, {1, 3}, {1, 1}, {0, 1}, {0, 1}, true},
      {4, {1, 8}, {1, 3}, {1, 2}, {0, 0}, {0, 1}, true},
      {4, {1, 9}, {1, 3}, {1, 1}, {0, 2}, {0, 0}, !HELIUM},
      {4, {1, 8}, {1, 3}, {1, 2}, {0, 1}, {0, 1}, !HELIUM},
      // A column is left over; a step beyond the last window is read.
      {4, {1, 9}, {1, 2}, {1, 2}, {0, 0}, {0, 0}, !HELIUM},
      {4, {1, 8}, {1, 2}, {1, 2}, {0, 0}, {0, 0}, !HELIUM},
      {4, {1, 11}, {1, 2}, {1, 3}, {0, 0}, {0, 0}, !HELIUM},
      // Padding of the height; more than one column of a window behind.
      {4, {1, 9}, {1, 3}, {1, 1}, {1, 1}, {0, 1}, !HELIUM},
      {4, {1, 7}, {1, 5}, {1, 2}, {0, 2}, {0, 2}, !HELIUM},
      // Shorter than the kernel. Three channels are no vector of four.
      {4, {1, 2}, {1, 3}, {1, 1}, {0, 1}, {0, 1}, !HELIUM},
      {3, {1, 9}, {1, 3}, {1, 1}, {0, 2}, {0, 0}, true},
      // Along the height all is well.
      {4, {9, 1}, {3, 1}, {1, 1}, {2, 0}, {0, 0}, true},
  };
  static int8_t x[MOST], w[MOST], y[MOST];
  static int32_t multipliers[CHANNELS], shifts[CHANNELS];
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); ++i) {
    const limit_case *c = &cases[i];
    const cmsis_nn_dims in = {1, c->in[0], c->in[1], c->channels},
                        out = output_of(c);
    const cmsis_nn_dims filter = {c->channels, c->kernel[0], c->kernel[1],
                                  c->channels};
    const cmsis_nn_conv_params p = {0,
                                    0,
                                    {c->stride[1], c->stride[0]},
                                    {c->before[1], c->before[0]},
                                    {1, 1},
                                    full_range};
    const cmsis_nn_per_channel_quant_params quant = {multipliers, shifts};
    const cmsis_nn_context ctx = working_memory(
        arm_convolve_wrapper_s8_get_buffer_size(&p, &in, &filter, &out));
    check_status(c, i,
                 arm_convolve_wrapper_s8(&ctx, &p, &quant, &in, x, &filter, w,
                                         NULL, NULL, &out, y),
                 "convolution");
    free(ctx.buf);
  }
}

enum { MANY = 130 };

static int run_depthwise(const limit_case *c, const int32_t *bias, bool slow) {
  static int8_t x[MANY * 64], w[MANY * 16], y[MANY * 128];
  static int32_t multipliers[MANY], shifts[MANY];
  const cmsis_nn_dims in = {1, c->in[0], c->in[1], c->channels},
                      out = output_of(c);
  const cmsis_nn_dims filter = {1, c->kernel[0], c->kernel[1], c->channels};
  const cmsis_nn_dw_conv_params p = {0,
                                     0,
                                     1,
                                     {c->stride[1], c->stride[0]},
                                     {c->before[1], c->before[0]},
                                     {1, 1},
                                     full_range};
  const cmsis_nn_per_channel_quant_params quant = {multipliers, shifts};
  const cmsis_nn_context ctx = working_memory(
      arm_depthwise_conv_wrapper_s8_get_buffer_size(&p, &in, &filter, &out));
  const int status =
      slow ? arm_depthwise_conv_s8(&ctx, &p, &quant, &in, x, &filter, w, NULL,
                                   bias, &out, y)
           : arm_depthwise_conv_wrapper_s8(&ctx, &p, &quant, &in, x, &filter, w,
                                           NULL, bias, &out, y);
  free(ctx.buf);
  return status;
}

static void test_depthwise(void) {
  const limit_case cases[] = {
      // 3x3: the middle column of the last window is in the image, or it is
      // not.
      {4, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
      {4, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {2, 1}, true},
      {4, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 2}, HELIUM},
      {4, {5, 5}, {3, 3}, {1, 1}, {0, 0}, {0, 2}, HELIUM},
      {4, {5, 5}, {3, 3}, {1, 2}, {0, 0}, {0, 2}, HELIUM},
      {4, {5, 6}, {3, 3}, {1, 2}, {0, 0}, {0, 2}, true},
      // More rows of padding than the kernel has.
      {4, {3, 5}, {2, 2}, {1, 1}, {2, 0}, {2, 0}, true},
      {4, {3, 5}, {2, 2}, {1, 1}, {3, 0}, {0, 0}, !DSP},
      {4, {3, 5}, {2, 2}, {1, 1}, {0, 0}, {3, 0}, !DSP},
      {4, {3, 5}, {2, 2}, {1, 1}, {0, 3}, {0, 3}, true},
      // No bias, for more channels than a block has.
      {124, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, true},
      {125, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, !HELIUM},
  };
  static const int32_t zeros[MANY];
  for (int i = 0; i < (int)(sizeof cases / sizeof *cases); ++i) {
    check_status(&cases[i], i, run_depthwise(&cases[i], NULL, false),
                 "depthwise");
    limit_case taken = cases[i];
    taken.expected = true;
    check_status(&taken, i, run_depthwise(&taken, zeros, true), "slow");
  }
  CHECK_STATUS(run_depthwise(&cases[11], zeros, false), ARM_CMSIS_NN_SUCCESS);
}

void test_cmsis_nn_limits(void) {
  test_convolutions();
  test_depthwise();
}
