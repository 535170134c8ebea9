/* Products with packed weights. */
#include "nib_device.h"

int nib_w4(nib_device *d, const float *x, const void *w, const float *s, const void *z, float *y, const nib_blocks *b, void *panel) {
  (void)d;
  float *unpacked = panel;
  for (int64_t core = 0; core < NIB_CORES; core++) {
    const part mine = share(b->columns, core);
    for (int64_t i = 0; i < b->rows; i++)
      for (int64_t j = mine.begin; j < mine.end; j++) {
        double sum = 0.0;
        for (int64_t top = 0; top < b->inner; top += b->panel) {
          int64_t bottom = top + b->panel < b->inner ? top + b->panel : b->inner;
          /* The first row of x unpacks what the others find. With more panels than one all do. */
          if (i == 0 || b->inner > b->panel)
            for (int64_t k = top; k < bottom; k++) {
              int64_t at = k / b->block * b->columns + j;
              int zero = z ? nibble(z, at) : 0;
              unpacked[(k - top) * b->columns + j] = (float)(nibble(w, k * b->columns + j) - zero) * s[at];
            }
          for (int64_t k = top; k < bottom; k++) sum += x[i * b->inner + k] * unpacked[(k - top) * b->columns + j];
        }
        y[i * b->columns + j] = (float)sum;
      }
  }
  return 0;
}

int nib_w4_rows(nib_device *d, const float *x, const void *w, const float *s, const void *z, const float *bias,
                float *y, const nib_blocks *b) {
  (void)d;
  const int64_t blocks = (b->inner + b->block - 1) / b->block;
  for (int64_t core = 0; core < NIB_CORES; core++) {
    const part mine = share(b->columns, core);
    for (int64_t i = 0; i < b->rows; i++)
      for (int64_t j = mine.begin; j < mine.end; j++) {
        double sum = 0.0;
        for (int64_t n = 0; n < blocks; n++) {
          const float scale = s[j * blocks + n];
          const int zero = z ? nibble(z, j * blocks + n) : 0;
          const int64_t end = (n + 1) * b->block < b->inner ? (n + 1) * b->block : b->inner;
          for (int64_t k = n * b->block; k < end; k++)
            sum += (double)x[i * b->inner + k] * ((float)(nibble(w, j * b->inner + k) - zero) * scale);
        }
        if (bias) sum += bias[j];
        y[i * b->columns + j] = (float)sum;
      }
  }
  return 0;
}

int nib_w8(nib_device *d, const float *x, const int8_t *w, const float *s, float *y, int64_t rows, int64_t inner, int64_t columns,
           int64_t step, bool relu) {
  (void)d;
  for (int64_t core = 0; core < NIB_CORES; core++) {
    const part mine = share(columns, core);
    for (int64_t j = mine.begin; j < mine.end; j += WIDTH) {
      const int64_t width = mine.end - j < WIDTH ? mine.end - j : WIDTH;
      const int8_t *panel = w + j * inner;
      for (int64_t i = 0; i < rows; i++) {
        double sum[WIDTH] = {0.0};
        for (int64_t k = 0; k < inner; k++)
          for (int64_t l = 0; l < WIDTH; l++) sum[l] += (double)x[i * inner + k] * panel[k * WIDTH + l];
        for (int64_t l = 0; l < width; l++) {
          float value = (float)(sum[l] * s[(j + l) * step]);
          y[i * columns + j + l] = relu && value < 0.0f ? 0.0f : value;
        }
      }
    }
  }
  return 0;
}
