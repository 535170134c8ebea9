// Layers in int8, one sum after the other.
#include "dot8.h"

#include <math.h>
#include <stddef.h>

static int8_t clamped(float value, int zero, int least, int most) {
  float result = nearbyintf(value) + (float)zero;
  result = result < (float)least ? (float)least : result;
  return (int8_t)(result > (float)most ? (float)most : result);
}

int dot8_conv(const int8_t *x, const int8_t *w, const int32_t *b,
              const float *factors, int8_t *y, int zx, int zy, int least,
              int most, int channels, int height, int width, int filters,
              int rows, int columns, int kh, int kw, int sh, int sw, int top,
              int left, int groups) {
  int depth = channels / groups, of_group = filters / groups;
  for (int f = 0; f < filters; f++)
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < columns; c++) {
        int32_t sum = b == NULL ? 0 : b[f];
        for (int d = 0; d < depth; d++)
          for (int i = 0; i < kh; i++)
            for (int j = 0; j < kw; j++) {
              int row = r * sh + i - top, column = c * sw + j - left;
              if (row < 0 || row >= height || column < 0 || column >= width)
                continue;
              int channel = f / of_group * depth + d;
              sum += (x[(channel * height + row) * width + column] - zx) *
                     w[((f * depth + d) * kh + i) * kw + j];
            }
        y[(f * rows + r) * columns + c] =
            clamped((float)sum * factors[f], zy, least, most);
      }
  return 0;
}

int dot8_product(const int8_t *x, const int8_t *w, const int32_t *b,
                 const float *factors, int8_t *y, int zx, int zy, int least,
                 int most, int rows, int depth, int columns) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) {
      int32_t sum = b == NULL ? 0 : b[c];
      for (int d = 0; d < depth; d++)
        sum += (x[r * depth + d] - zx) * w[d * columns + c];
      y[r * columns + c] = clamped((float)sum * factors[c], zy, least, most);
    }
  return 0;
}

int dot8_add(const int8_t *a, const int8_t *b, int8_t *y, int size, float sa,
             int za, float sb, int zb, float sy, int zy, int least, int most) {
  for (int i = 0; i < size; i++) {
    float sum = (float)(a[i] - za) * sa + (float)(b[i] - zb) * sb;
    y[i] = clamped(sum / sy, zy, least, most);
  }
  return 0;
}
