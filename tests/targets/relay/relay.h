/* A simulated array that requantizes what leaves its sums. Tiles are byte
 * offsets, multiples of a row: 8 int8 in the memory of codes, 8 int32 in that
 * of sums. */
#ifndef RELAY_H
#define RELAY_H

#include <stdint.h>

typedef struct relay_device relay_device;

int relay_open(relay_device **device);
int relay_close(relay_device *device);
const char *relay_text(int status);

/* A transfer: rows of so many elements; steps are bytes, and elements outside
 * are `host_next` bytes apart. */
struct relay_rows {
  uint32_t rows, columns;
  int64_t host_step, host_next;
  uint32_t tile_step;
};

/* Starts to load int8, which goes on until its channel is waited for. */
int relay_load(relay_device *device, uint32_t tile, const void *host,
               const struct relay_rows *rows, uint32_t channel);
int relay_wait(relay_device *device, uint32_t channel);
int relay_store_codes(relay_device *device, uint32_t tile, void *host,
                      const struct relay_rows *rows);
/* Loads int32. */
int relay_load_sums(relay_device *device, uint32_t tile, const void *host,
                    const struct relay_rows *rows);

/* Sum k of a row becomes round(sum * scales[k % channels]) + zero within
 * [least, most]. */
struct relay_output {
  uint32_t channels;
  int32_t zero, least, most;
};

/* Stores sums as int8 outside. */
int relay_store(relay_device *device, uint32_t tile, void *host,
                const struct relay_rows *rows, const float *scales,
                const struct relay_output *output);
/* The same into the memory of codes, where `kept` is an offset and steps are
 * those of the host. */
int relay_keep(relay_device *device, uint32_t tile, uint32_t kept,
               const struct relay_rows *rows, const float *scales,
               const struct relay_output *output);

struct relay_product {
  uint32_t rows, inner, columns;
  int32_t zero;
  uint32_t first, bias;
};

/* y[rows][columns] (+)= (x[rows][inner] - zero) * w[inner][columns] */
int relay_multiply(relay_device *device, const struct relay_product *product,
                   uint32_t x, uint32_t w, uint32_t b, uint32_t y);
int relay_relu(relay_device *device, uint32_t x, uint32_t y, uint32_t rows,
               uint32_t columns, int32_t zero);

#endif
