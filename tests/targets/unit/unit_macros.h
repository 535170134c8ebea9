/* Instructions of the unit that are macros. */
#ifndef UNIT_MACROS_H
#define UNIT_MACROS_H

#include "unit.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#define UNIT_MUL4(a, b, y)                                                     \
  _mm_storeu_ps((y), _mm_mul_ps(_mm_loadu_ps(a), _mm_loadu_ps(b)))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define UNIT_MUL4(a, b, y) vst1q_f32((y), vmulq_f32(vld1q_f32(a), vld1q_f32(b)))
#else
#define UNIT_MUL4(a, b, y)                                                     \
  for (int unit_i = 0; unit_i < 4; ++unit_i)                                   \
  (y)[unit_i] = (a)[unit_i] * (b)[unit_i]
#endif

#define UNIT_MAX(a, b, y, size)                                                \
  for (size_t unit_i = 0; unit_i < (size); ++unit_i)                           \
  (y)[unit_i] = (a)[unit_i] > (b)[unit_i] ? (a)[unit_i] : (b)[unit_i]

/* Bounds are parts of the instruction: constants. */
#define UNIT_CLIP(x, y, size, low, high)                                       \
  __extension__({                                                              \
    static const float unit_low = (low), unit_high = (high);                   \
    for (size_t unit_i = 0; unit_i < (size); ++unit_i) {                       \
      const float unit_x = (x)[unit_i];                                        \
      (y)[unit_i] = unit_x < unit_low    ? unit_low                            \
                    : unit_x > unit_high ? unit_high                           \
                                         : unit_x;                             \
    }                                                                          \
    0;                                                                         \
  })

#endif
