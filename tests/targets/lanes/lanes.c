#include "lanes.h"

void lanes_product(const float *a, const float *w, float *y, int32_t k,
                   bool first, size_t a_step, size_t y_step) {
  for (int32_t i = 0; i < 4; i++)
    for (int32_t j = 0; j < 8; j++) {
      float sum = first ? 0.0f : y[i * y_step + j];
      for (int32_t l = 0; l < k; l++)
        sum += a[i * a_step + l] * w[l * 8 + j];
      y[i * y_step + j] = sum;
    }
}

int lanes_row(const float *x, const float *w, const float *b, float *y,
              int32_t width, int32_t channels, int32_t in_channels,
              int32_t in_rows, int32_t in_columns, int32_t top, int32_t left,
              const int32_t *sizes, size_t x_row, size_t x_column,
              size_t y_column) {
  if (channels > 8 || width > 6)
    return 3;
  for (int32_t o = 0; o < width; o++)
    for (int32_t c = 0; c < channels; c++) {
      float sum = b ? b[c] : 0.0f;
      for (int32_t p = 0; p < sizes[0]; p++)
        for (int32_t q = 0; q < sizes[1]; q++) {
          const int32_t row = p - top, column = o * sizes[2] + q - left;
          if (row < 0 || row >= in_rows || column < 0 || column >= in_columns)
            continue;
          const float *at = x + row * x_row + column * x_column;
          const float *taps = w + (p * sizes[1] + q) * in_channels * 8 + c;
          for (int32_t i = 0; i < in_channels; i++)
            sum += at[i] * taps[i * 8];
        }
      y[o * y_column + c] = sum;
    }
  return 0;
}

void lanes_add(const float *a, const float *b, float *y, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    y[i] = a[i] + b[i];
}

void lanes_mul(const float *a, const float *b, float *y,
               const struct lanes_size *size) {
  for (int32_t i = 0; i < size->rows; i++)
    for (int32_t j = 0; j < size->columns; j++)
      y[i * size->y_step + j] =
          a[i * size->a_step + j] * b[i * size->b_step + j];
}
