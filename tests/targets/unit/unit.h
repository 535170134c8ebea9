/* The unit's instructions, as a vendor's header has them. */
#ifndef UNIT_H
#define UNIT_H

#include <stddef.h>
#include <stdint.h>

#if UNIT_SCALE != 1
#error "the header is compiled without the target's flags"
#endif

float unit_floor_of(float x);

static inline void unit_add16(const float *a, const float *b, float *y) {
  for (int i = 0; i < 16; ++i)
    y[i] = a[i] + b[i];
}

#if defined(__SSE__)
static inline void unit_sub4(const float *a, const float *b, float *y) {
  __asm__("movups %1, %%xmm0\n\tmovups %2, %%xmm1\n\tsubps %%xmm1, "
          "%%xmm0\n\tmovups %%xmm0, %0"
          : "=m"(*(float (*)[4])y)
          : "m"(*(const float (*)[4])a), "m"(*(const float (*)[4])b)
          : "xmm0", "xmm1");
}
#elif defined(__aarch64__)
static inline void unit_sub4(const float *a, const float *b, float *y) {
  __asm__(
      "ldr q0, [%0]\n\tldr q1, [%1]\n\tfsub v0.4s, v0.4s, v1.4s\n\tstr q0, [%2]"
      :
      : "r"(a), "r"(b), "r"(y)
      : "v0", "v1", "memory");
}
#else
static inline void unit_sub4(const float *a, const float *b, float *y) {
  for (int i = 0; i < 4; ++i)
    y[i] = a[i] - b[i];
}
#endif

static inline void unit_floor(const float *x, float *y, void *memory,
                              size_t size) {
  float *found = memory;
  for (size_t i = 0; i < size; ++i)
    found[i] = unit_floor_of(x[i]);
  for (size_t i = 0; i < size; ++i)
    y[i] = found[i];
}

/* `rows` rows of 8 columns. */
static inline void unit_row(const float *a, const float *w, float *y,
                            int32_t depth, int32_t rows, size_t a_step,
                            size_t y_step) {
  for (int32_t m = 0; m < rows; ++m, a += a_step, y += y_step) {
    float sum[8] = {0};
    for (int32_t k = 0; k < depth; ++k)
      for (int j = 0; j < 8; ++j)
        sum[j] += a[k] * w[k * 8 + j];
    for (int j = 0; j < 8; ++j)
      y[j] = sum[j];
  }
}

#endif
