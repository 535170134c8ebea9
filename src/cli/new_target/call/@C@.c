/* Stands for the accelerator @NAME@ and its driver: computes on the CPU what the
 * device would. Replace the loops by what the device needs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int @C@_conv2d(const float *x, const float *w, const float *b, float *y,
               int32_t n, int32_t h, int32_t width, int32_t c, int32_t out_c,
               int32_t kernel_h, int32_t kernel_w, int32_t out_h, int32_t out_w,
               int32_t stride_h, int32_t stride_w, int32_t pad_h, int32_t pad_w,
               bool relu);
int @C@_dense(const float *x, const float *w, const float *b, float *y,
              int32_t rows, int32_t inner, int32_t columns, bool relu);

/* x is n x h x width x c, w is out_c x kernel_h x kernel_w x c, y is
 * n x out_h x out_w x out_c; b may be null. */
int @C@_conv2d(const float *x, const float *w, const float *b, float *y,
               int32_t n, int32_t h, int32_t width, int32_t c, int32_t out_c,
               int32_t kernel_h, int32_t kernel_w, int32_t out_h, int32_t out_w,
               int32_t stride_h, int32_t stride_w, int32_t pad_h, int32_t pad_w,
               bool relu) {
  for (int32_t image = 0; image < n; image++)
    for (int32_t i = 0; i < out_h; i++)
      for (int32_t j = 0; j < out_w; j++)
        for (int32_t o = 0; o < out_c; o++) {
          float sum = b ? b[o] : 0.0f;
          for (int32_t p = 0; p < kernel_h; p++)
            for (int32_t q = 0; q < kernel_w; q++) {
              int32_t row = i * stride_h + p - pad_h;
              int32_t column = j * stride_w + q - pad_w;
              if (row < 0 || column < 0 || row >= h || column >= width)
                continue;
              const float *from =
                  x + (((size_t)image * h + row) * width + column) * c;
              const float *by = w + (((size_t)o * kernel_h + p) * kernel_w + q) * c;
              for (int32_t k = 0; k < c; k++) sum += from[k] * by[k];
            }
          *y++ = relu && sum < 0.0f ? 0.0f : sum;
        }
  return 0;
}

/* x is rows x inner, w is columns x inner, y is rows x columns; b may be null. */
int @C@_dense(const float *x, const float *w, const float *b, float *y,
              int32_t rows, int32_t inner, int32_t columns, bool relu) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++) {
      float sum = b ? b[j] : 0.0f;
      for (int32_t k = 0; k < inner; k++)
        sum += x[(size_t)i * inner + k] * w[(size_t)j * inner + k];
      *y++ = relu && sum < 0.0f ? 0.0f : sum;
    }
  return 0;
}
