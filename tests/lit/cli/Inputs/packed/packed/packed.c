#include "packed.h"

/* Adds 100 too, so that it is seen that it ran. */
void packed_add(const float *x, const uint8_t *w, const float *s, float *y,
                int32_t count, int32_t bytes, bool is_signed) {
  for (int32_t i = 0; i < count; i++) {
    int v = i / 2 < bytes ? w[i / 2] >> (i % 2 * 4) & 15 : 99;
    if (is_signed && v > 7)
      v -= 16;
    y[i] = x[i] + s[0] * (float)v + 100;
  }
}
