#include "acme.h"

#include <math.h>

void acme_soft_gate(const float *x, const float *limit, float *y, size_t size,
                    float beta) {
  for (size_t i = 0; i < size; i++) {
    y[i] = x[i] / (1.0f + expf(-beta * x[i]));
    if (limit && y[i] > *limit)
      y[i] = *limit;
  }
}

void acme_histogram(const float *x, int32_t *counts, size_t rows,
                    size_t columns, size_t bins, float low, float high) {
  for (size_t row = 0; row < rows; row++) {
    int32_t *out = counts + row * bins;
    for (size_t bin = 0; bin < bins; bin++)
      out[bin] = 0;
    for (size_t column = 0; column < columns; column++) {
      float place =
          (x[row * columns + column] - low) / (high - low) * (float)bins;
      if (place >= 0.0f && place < (float)bins)
        out[(size_t)place]++;
    }
  }
}

void acme_blend(const float *base, const float *a, const float *b, float *low,
                float *high, size_t size) {
  for (size_t i = 0; i < size; i++) {
    low[i] = base[i] + a[i] + b[i];
    high[i] = base[i] - a[i] - b[i];
  }
}
