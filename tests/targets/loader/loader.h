#ifndef LOADER_H
#define LOADER_H

#include <stdint.h>

/* A device with two memories of bytes, in which tiles are at offsets. */
typedef struct loader_device loader_device;

int loader_open(loader_device **device);
int loader_close(loader_device *device);

/* Rows of a transfer; steps from one to the next in bytes. */
struct loader_rows {
  uint32_t rows, columns;
  int64_t host_step;
  uint32_t tile_step;
};

/* Stores round(x / scale) + zero as int8, with scales and zeros of `count`
 * columns. */
int loader_quantize(loader_device *device, uint32_t tile, const void *host,
                    const struct loader_rows *rows, const float *scales,
                    const int32_t *zeros, uint32_t count);
/* Stores f32 as f16. */
int loader_halve(loader_device *device, uint32_t tile, const void *host,
                 const struct loader_rows *rows, uint32_t element,
                 uint32_t tile_element);
int loader_store(loader_device *device, uint32_t memory, uint32_t tile,
                 void *host, const struct loader_rows *rows,
                 uint32_t tile_element);
/* Copies bytes from one tile to another. */
int loader_copy(loader_device *device, uint32_t memory, uint32_t from,
                uint32_t to, uint32_t rows, uint32_t columns);

#endif
