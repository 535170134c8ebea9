#include "slab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, BAD_TRANSFER = 2, BAD_TILE = 3 };

struct slab_device {
  _Alignas(16) unsigned char memory[BYTES];
};

int slab_open(slab_device **device) {
  *device = calloc(1, sizeof **device);
  if (!*device)
    return 1;
  /* check-target: no defects. What nobody has written is no number. */
  const float nothing = NAN;
  for (int i = 0; i < BYTES; i += 4)
    memcpy((*device)->memory + i, &nothing, 4);
  /* check-target: defects */
  return 0;
}

int slab_close(slab_device *device) {
  free(device);
  return 0;
}

const char *slab_text(int status) {
  switch (status) {
  case BAD_TRANSFER:
    return "a transfer is not of rows inside the memory";
  case BAD_TILE:
    return "a tile is not aligned and inside the memory";
  default:
    return "no memory";
  }
}

static bool is_inside(uint32_t tile, uint64_t bytes) {
  return tile % 16 == 0 && tile + bytes <= BYTES;
}

static bool is_transfer(uint32_t tile, uint32_t rows, uint32_t bytes,
                        uint32_t pitch, bool dense) {
  return dense && rows > 0 &&
         is_inside(tile, (uint64_t)(rows - 1) * pitch + bytes);
}

int slab_load(slab_device *device, uint32_t tile, const void *host,
              uint32_t rows, uint32_t bytes, int64_t host_pitch,
              uint32_t tile_pitch, bool dense) {
  if (!is_transfer(tile, rows, bytes, tile_pitch, dense))
    return BAD_TRANSFER;
  for (uint32_t row = 0; row < rows; row++)
    memcpy(device->memory + tile + row * tile_pitch,
           (const char *)host + row * host_pitch, bytes);
  return 0;
}

int slab_store(slab_device *device, uint32_t tile, void *host, uint32_t rows,
               uint32_t bytes, int64_t host_pitch, uint32_t tile_pitch,
               bool dense) {
  if (!is_transfer(tile, rows, bytes, tile_pitch, dense))
    return BAD_TRANSFER;
  for (uint32_t row = 0; row < rows; row++)
    memcpy((char *)host + row * host_pitch,
           device->memory + tile + row * tile_pitch, bytes);
  return 0;
}

int slab_multiply(slab_device *device, const struct slab_product *p, uint32_t x,
                  uint32_t w, uint32_t b, uint32_t y) {
  const uint32_t blocks = (p->columns + p->lanes - 1) / p->lanes;
  if (!is_inside(x, 4ull * p->rows * p->inner) ||
      !is_inside(w, 4ull * blocks * p->lanes * p->inner) ||
      !is_inside(b, p->bias ? 4ull * p->columns : 0) ||
      !is_inside(y, 4ull * p->rows * p->columns) || p->rows > 16)
    return BAD_TILE;
  const float *in = (const float *)(device->memory + x);
  const float *weights = (const float *)(device->memory + w);
  const float *bias = (const float *)(device->memory + b);
  float *out = (float *)(device->memory + y);
  for (uint32_t i = 0; i < p->rows; i++)
    for (uint32_t j = 0; j < p->columns; j++, out++) {
      const float *block = weights + j / p->lanes * p->inner * p->lanes;
      float sum = p->first ? 0.0f : *out;
      for (uint32_t k = 0; k < p->inner; k++)
        sum += in[i * p->inner + k] * block[k * p->lanes + j % p->lanes];
      sum += p->bias ? bias[j] : 0.0f;
      *out = p->relu && sum < 0.0f ? 0.0f : sum;
    }
  return 0;
}
