#ifndef WEFT_H
#define WEFT_H
#include <stddef.h>
#include <stdint.h>

struct weft_window {
  int32_t batch, in_c, in_h, in_w, in_group, groups, out_c, out_h, out_w,
      kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left;
};

int weft_open(void **device);
int weft_close(void *device);

/* x [n][h][w][c], weights [o][h][w][channel of the group], y [n][h][w][o]. */
void weft_conv(const float *x, const float *w, const float *b, float *y,
               const struct weft_window *window);

/* All elements of buffers, in any order. */
void weft_add(const float *a, const float *b, float *y, size_t size);
void weft_mul(const float *a, const float *b, float *y, size_t size);
void weft_shift(const float *x, float *y, float by, size_t size);
void weft_relu(const float *x, float *y, size_t size);
void weft_clip(const float *x, float *y, float least, float most, size_t size);

/* In the line memory. */
void weft_load(void *device, uint32_t tile, const void *host, uint32_t bytes);
void weft_store(void *device, uint32_t tile, void *host, uint32_t bytes);
void weft_exp(void *device, uint32_t x, uint32_t y, uint32_t size);

#endif
