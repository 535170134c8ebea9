/* A simulated device for images of float32 with channels innermost. Tiles are
 * byte offsets in its memory. */
#ifndef SLUICE_H
#define SLUICE_H

#include <stdint.h>

typedef struct sluice_device sluice_device;

int sluice_open(sluice_device **device);
int sluice_close(sluice_device *device);
const char *sluice_text(int status);

/* A transfer: elements of each dimension, outermost first, and bytes from one
 * to the next. */
struct sluice_block {
  int64_t count[4], host_stride[4], tile_stride[4];
  uint32_t element;
};

/* Starts to load, which goes on until the channel is waited for. */
int sluice_load(sluice_device *device, uint32_t tile, const void *host,
                const struct sluice_block *block, uint32_t channel);
int sluice_store(sluice_device *device, uint32_t tile, void *host,
                 const struct sluice_block *block);
int sluice_wait(sluice_device *device, uint32_t channel);
/* Moves bytes from `from` behind the start of a tile to its start. */
int sluice_shift(sluice_device *device, uint32_t tile, uint32_t from,
                 uint32_t bytes);

/* A convolution; `clamp` is 1 for max(y, 0), 2 for that and min(y, 6). */
struct sluice_window {
  uint32_t channels, bias, clamp, in_h, in_w, out_h, out_w, kernel_h, kernel_w,
      stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
};

/* Weights are [kernel_h][kernel_w][1][channels]. */
int sluice_depthwise(sluice_device *device, const struct sluice_window *window,
                     uint32_t x, uint32_t w, uint32_t b, uint32_t y);
/* Weights are [kernel_h][kernel_w][channels][outputs]. */
int sluice_conv(sluice_device *device, uint32_t outputs,
                const struct sluice_window *window, uint32_t x, uint32_t w,
                uint32_t b, uint32_t y);

#endif
