/* The driver of @NAME@. Tiles are byte offsets, multiples of a row, in the scratchpad
 * (rows of 8 int8) and the accumulator (rows of 8 int32). */
#ifndef @C@_DRIVER_H
#define @C@_DRIVER_H

#include <stdint.h>

typedef struct @C@_device @C@_device;

int @C@_open(@C@_device **device);
int @C@_close(@C@_device *device);
/* A sentence for a status. */
const char *@C@_text(int status);

/* A transfer: rows of so many elements; steps are bytes, and elements of the host
 * are `host_next` bytes apart. */
typedef struct @C@_rows {
  uint32_t rows, columns;
  int64_t host_step, host_next;
  uint32_t tile_step;
} @C@_rows;

/* Starts a transfer into the scratchpad, which runs until its channel is waited for. */
int @C@_load(@C@_device *device, uint32_t tile, const void *host, const @C@_rows *rows,
             uint32_t channel);
int @C@_wait(@C@_device *device, uint32_t channel);
/* Moves int32 into the accumulator. */
int @C@_load_sums(@C@_device *device, uint32_t tile, const void *host,
                  const @C@_rows *rows);
/* Moves sums out as int8: element k of a row times scale k % scale_count, rounded half
 * to even, plus `zero`, limited to [least, most]. */
int @C@_store(@C@_device *device, uint32_t tile, void *host, const @C@_rows *rows,
              const float *scales, uint32_t scale_count, int32_t zero,
                  int32_t least, int32_t most);

typedef struct @C@_product {
  uint32_t rows, inner, columns;
  /* The zero point of x. */
  int32_t zero;
  /* first overwrites y, else adds to it; bias adds the bias. */
  uint32_t first, bias;
} @C@_product;

/* y[rows][columns] (+)= (x[rows][inner] - zero) * w[inner][columns] */
int @C@_multiply(@C@_device *device, const @C@_product *product, uint32_t x, uint32_t w,
                 uint32_t b, uint32_t y);

#endif
