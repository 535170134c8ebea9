/*===- cmsis_nn_window.h - Windows over images in the double ------*- C -*-===*/

#ifndef CMSIS_NN_WINDOW_H
#define CMSIS_NN_WINDOW_H

#include "arm_nn_types.h"

#include <stddef.h>

/** Offset of an element of a dense NHWC tensor. */
static inline size_t nn_at(const cmsis_nn_dims *dims, int32_t n, int32_t h,
                           int32_t w, int32_t c) {
  const size_t row = ((size_t)n * (size_t)dims->h + (size_t)h);
  return (row * (size_t)dims->w + (size_t)w) * (size_t)dims->c + (size_t)c;
}

static inline bool nn_is_inside(const cmsis_nn_dims *dims, int32_t h,
                                int32_t w) {
  return h >= 0 && h < dims->h && w >= 0 && w < dims->w;
}

static inline bool nn_is_size(const cmsis_nn_dims *dims) {
  return dims && dims->n > 0 && dims->h > 0 && dims->w > 0 && dims->c > 0;
}

static inline bool nn_is_step(cmsis_nn_tile step) {
  return step.w > 0 && step.h > 0;
}

/** True for a range that is not empty and within the limits of a type. */
static inline bool nn_is_range(cmsis_nn_activation range, int32_t least,
                               int32_t most) {
  return range.min <= range.max && range.min >= least && range.max <= most;
}

static inline bool nn_is_range_s8(cmsis_nn_activation range) {
  return nn_is_range(range, INT8_MIN, INT8_MAX);
}

static inline bool nn_is_range_s16(cmsis_nn_activation range) {
  return nn_is_range(range, INT16_MIN, INT16_MAX);
}

/**
 * Claims `bytes` of a call's working memory. The double needs none, but writes
 * all of it, so that memory which is missing, too small or in use shows.
 */
static inline bool nn_claim(const cmsis_nn_context *ctx, int32_t bytes) {
  if (bytes <= 0)
    return true;
  if (!ctx || !ctx->buf)
    return false;
  unsigned char *memory = (unsigned char *)ctx->buf;
  for (int32_t i = 0; i < bytes; ++i)
    memory[i] = 0xA5;
  return true;
}

#endif /* CMSIS_NN_WINDOW_H */
