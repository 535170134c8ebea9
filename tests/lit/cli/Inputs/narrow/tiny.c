#include "tiny.h"
#include <math.h>
#include <string.h>
int tiny_dq(const void *x, float s, float *y, size_t n, int32_t kind) {
  const uint8_t *p = x;
  int bits = kind < 2 ? 4 : 2, per = 8 / bits;
  for (size_t i = 0; i < n; i++) {
    int v = p[i / per] >> (bits * (i % per)) & ((1 << bits) - 1);
    if (kind % 2 == 0 && v >> (bits - 1))
      v -= 1 << bits;
    y[i] = v * s;
  }
  return 0;
}
int tiny_dqf8(const void *x, float s, float *y, size_t n, int32_t mantissa) {
  const uint8_t *p = x;
  const int bias = mantissa == 3 ? 7 : 15, most = mantissa == 3 ? 126 : 123;
  for (size_t i = 0; i < n; i++) {
    int e = (p[i] & 127) >> mantissa, m = p[i] & ((1 << mantissa) - 1);
    float v = (p[i] & 127) == 124 && mantissa == 2 ? INFINITY
              : (p[i] & 127) > most                ? NAN
              : e ? ldexpf((1 << mantissa) + m, e - bias - mantissa)
                  : ldexpf(m, 1 - bias - mantissa);
    y[i] = (p[i] & 128 ? -v : v) * s;
  }
  return 0;
}
int tiny_dqf4(const void *x, float s, float *y, size_t n) {
  static const float values[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const uint8_t *p = x;
  for (size_t i = 0; i < n; i++) {
    int bits = p[i / 2] >> 4 * (i % 2) & 15;
    y[i] = (bits & 8 ? -values[bits & 7] : values[bits & 7]) * s;
  }
  return 0;
}
static float get(const uint16_t *p, int bf) {
  if (bf) {
    uint32_t u = (uint32_t)*p << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
  }
  _Float16 h;
  memcpy(&h, p, 2);
  return h;
}
int tiny_add(const void *a, const void *b, void *y, size_t n, int32_t bf) {
  for (size_t i = 0; i < n; i++) {
    float v =
        get((const uint16_t *)a + i, bf) + get((const uint16_t *)b + i, bf);
    uint16_t o;
    if (bf) {
      uint32_t u;
      memcpy(&u, &v, 4);
      u += 0x7fff + (u >> 16 & 1);
      o = u >> 16;
    } else {
      _Float16 h = v;
      memcpy(&o, &h, 2);
    }
    ((uint16_t *)y)[i] = o;
  }
  return 0;
}
int tiny_product(const float *a, const void *w, float s, float *y, size_t m,
                 size_t k, size_t n) {
  const uint8_t *p = w;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      float sum = 0;
      for (size_t l = 0; l < k; l++) {
        size_t at = l * n + j;
        int v = p[at / 2] >> 4 * (at % 2) & 15;
        sum += a[i * k + l] * ((v ^ 8) - 8) * s;
      }
      y[i * n + j] = sum;
    }
  return 0;
}
