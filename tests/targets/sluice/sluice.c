#include "sluice.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, CHANNELS = 3 };
enum { NO_MEMORY = 1, BAD_TRANSFER, BAD_CHANNEL, BAD_TILE };

struct transfer {
  unsigned char *to;
  const unsigned char *from;
  struct sluice_block block;
  int is_busy;
};

struct sluice_device {
  unsigned char memory[BYTES];
  struct transfer transfers[CHANNELS];
};

int sluice_open(sluice_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : NO_MEMORY;
}

int sluice_close(sluice_device *device) {
  free(device);
  return 0;
}

const char *sluice_text(int status) {
  switch (status) {
  case NO_MEMORY:
    return "no memory to open the device";
  case BAD_TRANSFER:
    return "a transfer leaves the memory";
  case BAD_CHANNEL:
    return "a channel is unknown or still busy";
  case BAD_TILE:
    return "a tile leaves the memory";
  default:
    return "unknown status";
  }
}

static int is_inside(uint32_t tile, const struct sluice_block *b) {
  int64_t end = tile + b->element;
  for (int i = 0; i < 4; i++)
    end += (b->count[i] - 1) * b->tile_stride[i];
  return tile % 4 == 0 && end <= BYTES;
}

static void copy(unsigned char *to, const int64_t *to_stride,
                 const unsigned char *from, const int64_t *from_stride,
                 const struct sluice_block *b) {
  for (int64_t i = 0; i < b->count[0]; i++)
    for (int64_t j = 0; j < b->count[1]; j++)
      for (int64_t k = 0; k < b->count[2]; k++)
        for (int64_t l = 0; l < b->count[3]; l++)
          memcpy(to + i * to_stride[0] + j * to_stride[1] + k * to_stride[2] +
                     l * to_stride[3],
                 from + i * from_stride[0] + j * from_stride[1] +
                     k * from_stride[2] + l * from_stride[3],
                 b->element);
}

int sluice_load(sluice_device *device, uint32_t tile, const void *host,
                const struct sluice_block *block, uint32_t channel) {
  if (!is_inside(tile, block))
    return BAD_TRANSFER;
  if (channel >= CHANNELS || device->transfers[channel].is_busy)
    return BAD_CHANNEL;
  device->transfers[channel] =
      (struct transfer){device->memory + tile, host, *block, 1};
  return 0;
}

int sluice_wait(sluice_device *device, uint32_t channel) {
  if (channel >= CHANNELS)
    return BAD_CHANNEL;
  struct transfer *t = &device->transfers[channel];
  if (t->is_busy)
    copy(t->to, t->block.tile_stride, t->from, t->block.host_stride, &t->block);
  t->is_busy = 0;
  return 0;
}

int sluice_store(sluice_device *device, uint32_t tile, void *host,
                 const struct sluice_block *block) {
  if (!is_inside(tile, block))
    return BAD_TRANSFER;
  copy(host, block->host_stride, device->memory + tile, block->tile_stride,
       block);
  return 0;
}

int sluice_shift(sluice_device *device, uint32_t tile, uint32_t from,
                 uint32_t bytes) {
  if ((uint64_t)tile + from + bytes > BYTES)
    return BAD_TILE;
  memmove(device->memory + tile, device->memory + tile + from, bytes);
  return 0;
}

static float *at(sluice_device *device, uint32_t tile, uint64_t elements) {
  return tile % 16 == 0 && tile + 4 * elements <= BYTES
             ? (float *)(device->memory + tile)
             : NULL;
}

static float clamped(float y, uint32_t clamp) {
  y = clamp && y < 0 ? 0 : y;
  return clamp == 2 && y > 6 ? 6 : y;
}

/* The element of an image that a tap reads; NULL for zeros around it. */
static const float *tap(const struct sluice_window *p, const float *x,
                        uint32_t oh, uint32_t ow, uint32_t kh, uint32_t kw) {
  const int64_t h = (int64_t)oh * p->stride_h + kh * p->dilation_h - p->pad_top;
  const int64_t w =
      (int64_t)ow * p->stride_w + kw * p->dilation_w - p->pad_left;
  if (h < 0 || h >= p->in_h || w < 0 || w >= p->in_w)
    return NULL;
  return x + (h * p->in_w + w) * p->channels;
}

int sluice_depthwise(sluice_device *device, const struct sluice_window *p,
                     uint32_t x, uint32_t w, uint32_t b, uint32_t y) {
  const uint64_t c = p->channels;
  const float *in = at(device, x, p->in_h * p->in_w * c);
  const float *weights = at(device, w, p->kernel_h * p->kernel_w * c);
  const float *bias = at(device, b, p->bias * c);
  float *out = at(device, y, p->out_h * p->out_w * c);
  if (!in || !weights || !bias || !out)
    return BAD_TILE;
  for (uint32_t i = 0; i < p->out_h; i++)
    for (uint32_t j = 0; j < p->out_w; j++)
      for (uint32_t k = 0; k < c; k++) {
        float sum = p->bias ? bias[k] : 0;
        for (uint32_t kh = 0; kh < p->kernel_h; kh++)
          for (uint32_t kw = 0; kw < p->kernel_w; kw++) {
            const float *read = tap(p, in, i, j, kh, kw);
            if (read)
              sum += read[k] * weights[(kh * p->kernel_w + kw) * c + k];
          }
        out[(i * p->out_w + j) * c + k] = clamped(sum, p->clamp);
      }
  return 0;
}

int sluice_conv(sluice_device *device, uint32_t outputs,
                const struct sluice_window *p, uint32_t x, uint32_t w,
                uint32_t b, uint32_t y) {
  const uint64_t c = p->channels;
  const float *in = at(device, x, p->in_h * p->in_w * c);
  const float *weights = at(device, w, p->kernel_h * p->kernel_w * c * outputs);
  const float *bias = at(device, b, (uint64_t)p->bias * outputs);
  float *out = at(device, y, (uint64_t)p->out_h * p->out_w * outputs);
  if (!in || !weights || !bias || !out)
    return BAD_TILE;
  for (uint32_t i = 0; i < p->out_h; i++)
    for (uint32_t j = 0; j < p->out_w; j++) {
      float *to = out + (i * p->out_w + j) * outputs;
      for (uint32_t o = 0; o < outputs; o++)
        to[o] = p->bias ? bias[o] : 0;
      for (uint32_t kh = 0; kh < p->kernel_h; kh++)
        for (uint32_t kw = 0; kw < p->kernel_w; kw++) {
          const float *read = tap(p, in, i, j, kh, kw);
          if (read)
            for (uint32_t k = 0; k < c; k++)
              for (uint32_t o = 0; o < outputs; o++)
                to[o] +=
                    read[k] *
                    weights[((kh * p->kernel_w + kw) * c + k) * outputs + o];
        }
      for (uint32_t o = 0; o < outputs; o++)
        to[o] = clamped(to[o], p->clamp);
    }
  return 0;
}
