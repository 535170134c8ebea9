/* Simulates @NAME@: it multiplies what is in its scratchpad, and adds up in its
 * accumulator. Replace the bodies by what the real driver does. */
#include "@C@_driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8, SCRATCHPAD = 16384, SUMS = 1024, CHANNELS = 3 };
enum { NO_MEMORY = 1, BAD_TRANSFER, BAD_CHANNEL, BAD_TILE };

typedef struct transfer {
  int8_t *to;
  const uint8_t *from;
  @C@_rows rows;
} transfer;

struct @C@_device {
  int8_t scratchpad[SCRATCHPAD];
  int32_t sums[SUMS];
  /* Transfers under way; rows is 0 for the others. */
  transfer transfers[CHANNELS];
};

int @C@_open(@C@_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : NO_MEMORY;
}

int @C@_close(@C@_device *device) {
  free(device);
  return 0;
}

const char *@C@_text(int status) {
  switch (status) {
  case NO_MEMORY: return "no memory to open the device";
  case BAD_TRANSFER: return "a transfer is not of rows within its memory";
  case BAD_CHANNEL: return "a channel is unknown or still busy";
  case BAD_TILE: return "a tile is not of rows within its memory";
  default: return "unknown status";
  }
}

/* Elements of rows that are filled up. */
static uint64_t filled(uint32_t columns) {
  return ((uint64_t)columns + LANES - 1) / LANES * LANES;
}

static int is_transfer(uint32_t tile, const @C@_rows *r, uint32_t element, uint64_t bytes) {
  const uint32_t row = LANES * element;
  return r->rows > 0 && r->columns > 0 && tile % row == 0 &&
         (r->rows == 1 || r->tile_step % row == 0) &&
         tile + (r->rows - 1ull) * r->tile_step + (uint64_t)r->columns * element <= bytes;
}

int @C@_load(@C@_device *device, uint32_t tile, const void *host, const @C@_rows *rows,
             uint32_t channel) {
  if (!is_transfer(tile, rows, 1, SCRATCHPAD)) return BAD_TRANSFER;
  if (channel >= CHANNELS || device->transfers[channel].rows.rows > 0) return BAD_CHANNEL;
  device->transfers[channel] = (transfer){device->scratchpad + tile, host, *rows};
  return 0;
}

int @C@_wait(@C@_device *device, uint32_t channel) {
  if (channel >= CHANNELS) return BAD_CHANNEL;
  transfer *t = &device->transfers[channel];
  for (uint32_t i = 0; i < t->rows.rows; i++)
    for (uint32_t k = 0; k < t->rows.columns; k++)
      t->to[i * t->rows.tile_step + k] =
          (int8_t)t->from[i * t->rows.host_step + k * t->rows.host_next];
  t->rows.rows = 0;
  return 0;
}

int @C@_load_sums(@C@_device *device, uint32_t tile, const void *host,
                  const @C@_rows *rows) {
  if (!is_transfer(tile, rows, 4, sizeof device->sums)) return BAD_TRANSFER;
  for (uint32_t i = 0; i < rows->rows; i++)
    for (uint32_t k = 0; k < rows->columns; k++)
      memcpy(device->sums + (tile + i * rows->tile_step) / 4 + k,
             (const uint8_t *)host + i * rows->host_step + k * rows->host_next, 4);
  return 0;
}

int @C@_store(@C@_device *device, uint32_t tile, void *host, const @C@_rows *rows,
              const float *scales, uint32_t scale_count, int32_t zero, int32_t least,
              int32_t most) {
  if (!is_transfer(tile, rows, 4, sizeof device->sums)) return BAD_TRANSFER;
  for (uint32_t i = 0; i < rows->rows; i++)
    for (uint32_t k = 0; k < rows->columns; k++) {
      const int32_t sum = device->sums[(tile + i * rows->tile_step) / 4 + k];
      double value = (double)rintf((float)sum * scales[k % scale_count]) + zero;
      value = value < least ? least : value > most ? most : value;
      ((int8_t *)host)[i * rows->host_step + k * rows->host_next] = (int8_t)value;
    }
  return 0;
}

static int is_tile(uint32_t tile, uint64_t rows, uint32_t columns, uint32_t element,
                   uint64_t bytes) {
  return tile % (LANES * element) == 0 && tile + rows * filled(columns) * element <= bytes;
}

int @C@_multiply(@C@_device *device, const @C@_product *p, uint32_t x, uint32_t w,
                 uint32_t b, uint32_t y) {
  if (!is_tile(x, p->rows, p->inner, 1, SCRATCHPAD) ||
      !is_tile(w, p->inner, p->columns, 1, SCRATCHPAD) ||
      !is_tile(b, p->bias, p->columns, 4, sizeof device->sums) ||
      !is_tile(y, p->rows, p->columns, 4, sizeof device->sums))
    return BAD_TILE;
  for (uint32_t i = 0; i < p->rows; i++)
    for (uint32_t j = 0; j < p->columns; j++) {
      int32_t *out = &device->sums[y / 4 + i * filled(p->columns) + j];
      int32_t sum = p->first ? 0 : *out;
      if (p->bias) sum += device->sums[b / 4 + j];
      for (uint32_t k = 0; k < p->inner; k++)
        sum += (device->scratchpad[x + i * filled(p->inner) + k] - p->zero) *
               device->scratchpad[w + k * filled(p->columns) + j];
      *out = sum;
    }
  return 0;
}
