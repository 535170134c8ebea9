#include "together.h"

int together_product(const float *x, const float *w, const float *scales,
                     float *y, int32_t rows, int32_t inner, int32_t columns) {
  for (int32_t j = 0; j < columns; j++) {
    const float *block = w + j * (inner + 1);
    const float *column = scales ? w + j : block + 1;
    int32_t step = scales ? columns : 1;
    for (int32_t i = 0; i < rows; i++) {
      float sum = 0.0f;
      for (int32_t k = 0; k < inner; k++)
        sum += x[i * inner + k] * column[k * step];
      y[i * columns + j] = sum * (scales ? scales[j] : *block);
    }
  }
  return 0;
}
