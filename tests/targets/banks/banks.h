#ifndef BANKS_H
#define BANKS_H

#include <stdbool.h>
#include <stdint.h>

/* A matrix engine with three memories of its own. Tiles are at byte offsets,
   multiples of 16, each in the memory that its operand is read from or written
   to. */
typedef struct banks_device banks_device;

enum banks_memory { BANKS_INPUTS, BANKS_WEIGHTS, BANKS_SUMS, BANKS_MEMORIES };

int banks_open(banks_device **device);
int banks_close(banks_device *device);
const char *banks_text(int status);

/* Rows of so many bytes; `dense` says that their elements are adjacent. */
struct banks_rows {
  uint32_t rows, bytes;
  int64_t host_pitch;
  uint32_t tile_pitch;
  bool dense;
};

/* Starts a transfer, which a channel makes when it is waited for. */
int banks_start(banks_device *device, uint32_t tile, const void *host,
                const struct banks_rows *rows, uint32_t channel);
int banks_wait(banks_device *device, uint32_t channel);

/* Transfers that are over when they return: into the weights, out of the sums.
 */
int banks_load(banks_device *device, uint32_t tile, const void *host,
               const struct banks_rows *rows);
int banks_store(banks_device *device, uint32_t tile, void *host,
                const struct banks_rows *rows);

struct banks_product {
  uint32_t rows, inner, columns;
  bool first, bias, scale;
};

/* sums[rows][columns] (+)= inputs[rows][inner] * weights[inner][columns] */
int banks_multiply(banks_device *device, const struct banks_product *product,
                   uint32_t x, uint32_t w, uint32_t b, uint32_t y);

/* The same, with each column multiplied by a factor at the end. */
int banks_multiply_scaled(banks_device *device,
                          const struct banks_product *product,
                          const float *factors, uint32_t x, uint32_t w,
                          uint32_t y);

#endif
