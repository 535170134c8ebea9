#ifndef SLAB_H
#define SLAB_H

#include <stdbool.h>
#include <stdint.h>

/* A matrix engine. Tiles are at byte offsets, multiples of 16, of its 4 KiB. */
typedef struct slab_device slab_device;

int slab_open(slab_device **device);
int slab_close(slab_device *device);
const char *slab_text(int status);

/* Copies rows of so many bytes; `dense` says that their elements are adjacent.
 */
int slab_load(slab_device *device, uint32_t tile, const void *host,
              uint32_t rows, uint32_t bytes, int64_t host_pitch,
              uint32_t tile_pitch, bool dense);
int slab_store(slab_device *device, uint32_t tile, void *host, uint32_t rows,
               uint32_t bytes, int64_t host_pitch, uint32_t tile_pitch,
               bool dense);

struct slab_product {
  uint32_t rows, inner, columns, lanes;
  /* first overwrites y, else adds to it; bias and relu apply at the end. */
  bool first, bias, relu;
};

/* y[rows][columns] (+)= x[rows][inner] * w[columns / lanes][inner][lanes] */
int slab_multiply(slab_device *device, const struct slab_product *product,
                  uint32_t x, uint32_t w, uint32_t b, uint32_t y);

#endif
