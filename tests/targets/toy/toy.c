#include "toy.h"

#include <stdlib.h>

struct toy_device {
  int calls;
};

int toy_open(toy_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : 1;
}

int toy_close(toy_device *device) {
  free(device);
  return 0;
}

const char *toy_text(int status) {
  return status == 2 ? "a toy was given bad arguments" : "no memory";
}

static float pixel(const float *x, const struct toy_conv *v, int n, int h,
                   int w, int c) {
  if (h < 0 || w < 0 || h >= v->h || w >= v->w)
    return 0.0f;
  return x[((n * v->h + h) * v->w + w) * v->c + c];
}

int toy_conv2d(toy_device *device, const float *x, const float *w,
               const float *b, float *y, float *scratch,
               const struct toy_conv *v) {
  if (v->mode != TOY_EXACT || v->signs[1] != -1)
    return 2;
  device->calls++;
  for (int n = 0; n < v->n; n++)
    for (int i = 0; i < v->out_h; i++)
      for (int j = 0; j < v->out_w; j++) {
        for (int o = 0; o < v->out_c; o++) {
          scratch[o] = b ? b[o] : 0.0f;
          const float *f = w + o * v->kernel.h * v->kernel.w * v->c;
          for (int p = 0; p < v->kernel.h; p++)
            for (int q = 0; q < v->kernel.w; q++)
              for (int c = 0; c < v->c; c++)
                scratch[o] += f[(p * v->kernel.w + q) * v->c + c] *
                              pixel(x, v, n, i * v->stride.h + p - v->pad.h,
                                    j * v->stride.w + q - v->pad.w, c);
        }
        for (int o = 0; o < v->out_c; o++) {
          float r = scratch[o];
          *y++ = v->relu && r < 0.0f ? 0.0f : r;
        }
      }
  return 0;
}

void toy_dense(const float *x, const float *w, const float *b, float *y,
               int32_t rows, int32_t inner, int32_t columns, bool relu) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      float sum = b ? b[j] : 0.0f;
      for (int k = 0; k < inner; k++)
        sum += x[i * inner + k] * w[k * columns + j];
      y[i * columns + j] = relu && sum < 0.0f ? 0.0f : sum;
    }
}
