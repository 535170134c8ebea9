#include "fast.h"

#include <math.h>

int fast_gemm(const float *a, const float *b, const float *c, float *y,
              float *row, int32_t m, int32_t n, int32_t k, const int32_t *shape,
              float alpha) {
  if (shape[0] != m || shape[1] != n)
    return 7;
  for (int32_t j = 0; j < n; j++)
    row[j] = c ? c[j] : 0.0f;
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) {
      float sum = 0.0f;
      for (int32_t l = 0; l < k; l++)
        sum += a[i * k + l] * b[j * k + l];
      y[i * n + j] = (float)FACTOR * (alpha * sum + row[j]);
    }
  return 0;
}

void fast_tanh(const float *x, float *y, size_t size) {
  for (size_t i = 0; i < size; i++)
    y[i] = (float)FACTOR * tanhf(x[i]);
}

void fast_exp(const float *x, float *y, size_t size) {
  for (size_t i = 0; i < size; i++)
    y[i] = expf(x[i]);
}
