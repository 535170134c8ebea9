/*===- vanilla_kernels.h - What the instructions compute ----------*- C -*-===
 *
 * Part of vanilla.c. The functions trust their operands: vanilla.c has checked
 * that all of them lie in the scratchpad and do not overlap.
 *
 *===----------------------------------------------------------------------===*/

#ifndef VANILLA_KERNELS_H
#define VANILLA_KERNELS_H

#include "vanilla.h"

#include <stddef.h>
#include <string.h>

enum { LANES = 8, STRIP = 8 };

/** Sums of a strip of output positions, for the lanes of one block. */
typedef float vanilla_sums[STRIP][LANES];

static inline float vanilla_activate_one(float x, uint32_t activation) {
  /* Written so that NaN stays NaN. */
  if (activation != VANILLA_NONE && x < 0.0f)
    return 0.0f;
  return activation == VANILLA_RELU6 && x > 6.0f ? 6.0f : x;
}

/** Adds x[p] * w[lane] to each sum. */
static inline void vanilla_mac(vanilla_sums sums, const float *x,
                               const float *w) {
  for (size_t p = 0; p < STRIP; ++p) {
    const float value = x[p];
    for (size_t lane = 0; lane < LANES; ++lane)
      sums[p][lane] += value * w[lane];
  }
}

/** Reads one strip of input values along a row: value p is column
 * first + p * stride, or zero outside the row or from `count` on. */
static inline void vanilla_gather(float x[STRIP], const float *row,
                                  int64_t width, int64_t first, int64_t stride,
                                  int64_t count) {
  for (int64_t p = 0; p < STRIP; ++p) {
    int64_t column = first + p * stride;
    x[p] = p < count && column >= 0 && column < width ? row[column] : 0.0f;
  }
}

/** Destination of the results of one strip: element (p, lane) is at
 * out[p * position_stride + lane * lane_stride]. */
typedef struct vanilla_target {
  float *out;
  const float *bias;
  size_t positions, lanes, position_stride, lane_stride;
  uint32_t accumulate, activation;
} vanilla_target;

static void vanilla_store(const vanilla_target *to, vanilla_sums sums) {
  for (size_t lane = 0; lane < to->lanes; ++lane) {
    float bias = to->bias ? to->bias[lane] : 0.0f;
    for (size_t p = 0; p < to->positions; ++p) {
      float *out = to->out + p * to->position_stride + lane * to->lane_stride;
      float sum = sums[p][lane] + bias;
      if (to->accumulate)
        sum += *out;
      *out = vanilla_activate_one(sum, to->activation);
    }
  }
}

/** One strip of one output row: `count` columns from `x0` of row `y`. */
static void vanilla_conv_strip(const vanilla_conv2d_params *p, const float *in,
                               const float *w, int64_t y, int64_t x0,
                               int64_t count, vanilla_sums out_sums) {
  /* A copy of its own, so that the compiler sees that nothing else names it. */
  vanilla_sums sums = {{0.0f}};
  const int64_t in_h = p->in_h, in_w = p->in_w, step = p->stride_w;
  const int64_t top = y * p->stride_h - p->pad_top;
  const int64_t left = x0 * step - p->pad_left;
  const int64_t dilation_h = p->dilation_h, dilation_w = p->dilation_w;
  for (int64_t c = 0; c < p->in_c; ++c) {
    const float *plane = in + c * in_h * in_w;
    for (int64_t ky = 0; ky < p->kernel_h; ++ky) {
      const int64_t iy = top + ky * dilation_h;
      if (iy < 0 || iy >= in_h) {
        w += (size_t)p->kernel_w * LANES;
        continue;
      }
      const float *row = plane + iy * in_w;
      for (int64_t kx = 0; kx < p->kernel_w; ++kx, w += LANES) {
        const int64_t first = left + kx * dilation_w;
        if (step == 1 && first >= 0 && first + STRIP <= in_w) {
          vanilla_mac(sums, row + first, w);
          continue;
        }
        float x[STRIP];
        vanilla_gather(x, row, in_w, first, step, count);
        vanilla_mac(sums, x, w);
      }
    }
  }
  memcpy(out_sums, sums, sizeof sums);
}

static void vanilla_conv_run(const vanilla_conv2d_params *params,
                             const float *in, const float *weights,
                             const float *bias, float *out) {
  vanilla_conv2d_params p = *params;
  if (p.kernel_h == 1 && p.kernel_w == 1 && p.stride_h == 1 &&
      p.stride_w == 1 && p.pad_top == 0 && p.pad_left == 0 &&
      p.in_h == p.out_h && p.in_w == p.out_w) {
    /* Rows follow each other without a gap, so they are one long row. */
    p.in_w = p.out_w = p.in_w * p.in_h;
    p.in_h = p.out_h = 1;
  }
  const size_t plane = (size_t)p.out_h * p.out_w;
  const size_t block_size = (size_t)p.in_c * p.kernel_h * p.kernel_w * LANES;
  for (uint32_t channel = 0; channel < p.out_c; channel += LANES) {
    const float *w = weights + channel / LANES * block_size;
    const uint32_t lanes =
        p.out_c - channel < LANES ? p.out_c - channel : LANES;
    for (uint32_t y = 0; y < p.out_h; ++y)
      for (uint32_t x0 = 0; x0 < p.out_w; x0 += STRIP) {
        const uint32_t count = p.out_w - x0 < STRIP ? p.out_w - x0 : STRIP;
        vanilla_sums sums;
        vanilla_conv_strip(&p, in, w, y, x0, count, sums);
        const vanilla_target to = {.out = out + channel * plane +
                                          (size_t)y * p.out_w + x0,
                                   .bias = bias ? bias + channel : NULL,
                                   .positions = count,
                                   .lanes = lanes,
                                   .position_stride = 1,
                                   .lane_stride = plane,
                                   .accumulate = p.accumulate,
                                   .activation = p.activation};
        vanilla_store(&to, sums);
      }
  }
}

/** One row of one channel of a depthwise convolution. */
static void vanilla_depthwise_row(const vanilla_conv2d_params *p,
                                  const float *plane, const float *w, int64_t y,
                                  float bias, float *out) {
  const int64_t step = p->stride_w, dilation_h = p->dilation_h;
  const int64_t dilation_w = p->dilation_w, in_w = p->in_w;
  const int64_t top = y * p->stride_h - p->pad_top;
  const int64_t pad_left = p->pad_left, width = p->out_w;
  for (int64_t x = 0; x < width; ++x)
    out[x] = p->accumulate ? out[x] + bias : bias;
  for (int64_t ky = 0; ky < p->kernel_h; ++ky) {
    const int64_t iy = top + ky * dilation_h;
    if (iy < 0 || iy >= p->in_h)
      continue;
    const float *row = plane + iy * in_w;
    for (int64_t kx = 0; kx < p->kernel_w; ++kx) {
      const float weight = w[(ky * p->kernel_w + kx) * LANES];
      const int64_t left = kx * dilation_w - pad_left;
      /* The columns whose input is inside: left + x * step in [0, in_w). */
      int64_t begin = left >= 0 ? 0 : (-left + step - 1) / step;
      int64_t end = left >= in_w ? 0 : (in_w - left + step - 1) / step;
      end = end < width ? end : width;
      for (int64_t x = begin; x < end; ++x)
        out[x] += weight * row[left + x * step];
    }
  }
  for (int64_t x = 0; x < width; ++x)
    out[x] = vanilla_activate_one(out[x], p->activation);
}

static void vanilla_depthwise_run(const vanilla_conv2d_params *p,
                                  const float *in, const float *weights,
                                  const float *bias, float *out) {
  const size_t in_plane = (size_t)p->in_h * p->in_w;
  const size_t out_plane = (size_t)p->out_h * p->out_w;
  const size_t taps = (size_t)p->kernel_h * p->kernel_w;
  for (uint32_t c = 0; c < p->out_c; ++c)
    for (uint32_t y = 0; y < p->out_h; ++y)
      vanilla_depthwise_row(
          p, in + c * in_plane, weights + c / LANES * taps * LANES + c % LANES,
          y, bias ? bias[c] : 0.0f, out + c * out_plane + (size_t)y * p->out_w);
}

static void vanilla_dense_run(const vanilla_dense_params *p, const float *in,
                              const float *weights, const float *bias,
                              float *out) {
  for (uint32_t channel = 0; channel < p->out; channel += LANES) {
    const float *block = weights + (size_t)channel * p->in;
    const uint32_t lanes = p->out - channel < LANES ? p->out - channel : LANES;
    for (uint32_t row = 0; row < p->rows; row += STRIP) {
      const uint32_t count = p->rows - row < STRIP ? p->rows - row : STRIP;
      const float *first = in + (size_t)row * p->in;
      vanilla_sums sums = {{0.0f}};
      for (size_t k = 0; k < p->in; ++k)
        for (size_t r = 0; r < count; ++r)
          for (size_t lane = 0; lane < LANES; ++lane)
            sums[r][lane] += first[r * p->in + k] * block[k * LANES + lane];
      const vanilla_target to = {.out = out + (size_t)row * p->out + channel,
                                 .bias = bias ? bias + channel : NULL,
                                 .positions = count,
                                 .lanes = lanes,
                                 .position_stride = p->out,
                                 .lane_stride = 1,
                                 .accumulate = p->accumulate,
                                 .activation = p->activation};
      vanilla_store(&to, sums);
    }
  }
}

#endif /* VANILLA_KERNELS_H */
