#include <stdbool.h>
#include <stdint.h>

int heron_dense(const float *x, const float *w, const float *b, float *y,
                int32_t rows, int32_t inner, int32_t columns, bool relu);

/* y = x * w + b; x is rows x inner, w is inner x columns. */
int heron_dense(const float *x, const float *w, const float *b, float *y,
                int32_t rows, int32_t inner, int32_t columns, bool relu) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++) {
      float sum = b[j];
      for (int32_t k = 0; k < inner; k++)
        sum += x[i * inner + k] * w[k * columns + j];
      *y++ = relu && sum < 0.0f ? 0.0f : sum;
    }
  return 0;
}
