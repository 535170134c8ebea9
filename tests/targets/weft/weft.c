#include "weft.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int weft_open(void **device) { return (*device = calloc(1, 512)) ? 0 : 1; }

int weft_close(void *device) {
  free(device);
  return 0;
}

void weft_conv(const float *x, const float *w, const float *b, float *y,
               const struct weft_window *s) {
  for (int32_t n = 0; n < s->batch; n++)
    for (int32_t h = 0; h < s->out_h; h++)
      for (int32_t v = 0; v < s->out_w; v++)
        for (int32_t o = 0; o < s->out_c; o++) {
          int32_t first = o / (s->out_c / s->groups) * s->in_group;
          float sum = b ? b[o] : 0;
          for (int32_t i = 0; i < s->kernel_h; i++)
            for (int32_t j = 0; j < s->kernel_w; j++) {
              int32_t row = h * s->stride_h + i - s->pad_top,
                      column = v * s->stride_w + j - s->pad_left;
              if (row < 0 || row >= s->in_h || column < 0 || column >= s->in_w)
                continue;
              const float *from =
                  x + ((n * s->in_h + row) * s->in_w + column) * s->in_c +
                  first;
              const float *by =
                  w + ((o * s->kernel_h + i) * s->kernel_w + j) * s->in_group;
              for (int32_t c = 0; c < s->in_group; c++)
                sum += from[c] * by[c];
            }
          y[((n * s->out_h + h) * s->out_w + v) * s->out_c + o] = sum;
        }
}

void weft_add(const float *a, const float *b, float *y, size_t size) {
  for (size_t i = 0; i < size; i++)
    y[i] = a[i] + b[i];
}

void weft_mul(const float *a, const float *b, float *y, size_t size) {
  for (size_t i = 0; i < size; i++)
    y[i] = a[i] * b[i];
}

void weft_shift(const float *x, float *y, float by, size_t size) {
  for (size_t i = 0; i < size; i++)
    y[i] = x[i] + by;
}

void weft_relu(const float *x, float *y, size_t size) {
  for (size_t i = 0; i < size; i++)
    y[i] = x[i] < 0 ? 0 : x[i];
}

void weft_clip(const float *x, float *y, float least, float most, size_t size) {
  for (size_t i = 0; i < size; i++) {
    float low = x[i] < least ? least : x[i];
    y[i] = low > most ? most : low;
  }
}

void weft_load(void *device, uint32_t tile, const void *host, uint32_t bytes) {
  memcpy((char *)device + tile, host, bytes);
}

void weft_store(void *device, uint32_t tile, void *host, uint32_t bytes) {
  memcpy(host, (const char *)device + tile, bytes);
}

void weft_exp(void *device, uint32_t x, uint32_t y, uint32_t size) {
  const float *from = (const float *)((char *)device + x);
  float *to = (float *)((char *)device + y);
  for (uint32_t i = 0; i < size; i++)
    to[i] = expf(from[i]);
}
