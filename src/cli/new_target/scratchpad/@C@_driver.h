/* The driver of @NAME@. Tiles are byte offsets, multiples of 16, in the device's
 * memory. */
#ifndef @C@_DRIVER_H
#define @C@_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct @C@_device @C@_device;

int @C@_open(@C@_device **device);
int @C@_close(@C@_device *device);
/* A sentence for a status. */
const char *@C@_text(int status);

/* A transfer: rows of so many bytes, whose elements are `next` bytes apart. */
typedef struct @C@_rows {
  uint32_t rows, bytes;
  int64_t host_step, host_next;
  uint32_t tile_step, tile_next, element;
} @C@_rows;

/* Start a transfer on a channel. It runs until the channel is waited for. */
int @C@_load(@C@_device *device, uint32_t tile, const void *host,
             uint32_t channel, const @C@_rows *rows);
int @C@_store(@C@_device *device, uint32_t tile, void *host, uint32_t channel,
              const @C@_rows *rows);
int @C@_wait(@C@_device *device, uint32_t channel);

typedef struct @C@_product {
  uint32_t rows, inner, columns;
  /* first overwrites y, else adds to it; bias and relu apply at the end. */
  bool first, bias, relu;
} @C@_product;

/* y[rows][columns] (+)= x[rows][inner] * w[columns / 4][inner][4] */
int @C@_multiply(@C@_device *device, const @C@_product *product, uint32_t x,
                 uint32_t w, uint32_t b, uint32_t y);
/* y[i] = a[i] + b[i] */
int @C@_add(@C@_device *device, uint32_t count, uint32_t a, uint32_t b,
            uint32_t y);

#endif
