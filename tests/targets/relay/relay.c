#include "relay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 8, CODES = 65536, SUMS = 1024, CHANNELS = 3 };
enum { NO_MEMORY = 1, BAD_TRANSFER, BAD_CHANNEL, BAD_TILE };

struct transfer {
  int8_t *to;
  const uint8_t *from;
  struct relay_rows rows;
};

struct relay_device {
  int8_t codes[CODES];
  int32_t sums[SUMS];
  /* Transfers under way; rows is 0 for the others. */
  struct transfer transfers[CHANNELS];
};

int relay_open(relay_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : NO_MEMORY;
}

int relay_close(relay_device *device) {
  free(device);
  return 0;
}

const char *relay_text(int status) {
  switch (status) {
  case NO_MEMORY:
    return "no memory to open the device";
  case BAD_TRANSFER:
    return "a transfer is not of rows within its memory";
  case BAD_CHANNEL:
    return "a channel is unknown or still busy";
  case BAD_TILE:
    return "a tile is not of rows within its memory";
  default:
    return "unknown status";
  }
}

static uint64_t filled(uint32_t columns) {
  return ((uint64_t)columns + LANES - 1) / LANES * LANES;
}

static int is_transfer(uint32_t tile, const struct relay_rows *r,
                       uint32_t element, uint64_t bytes) {
  const uint32_t row = LANES * element;
  return r->rows > 0 && r->columns > 0 && tile % row == 0 &&
         (r->rows == 1 || r->tile_step % row == 0) &&
         tile + (r->rows - 1ull) * r->tile_step +
                 (uint64_t)r->columns * element <=
             bytes;
}

int relay_load(relay_device *device, uint32_t tile, const void *host,
               const struct relay_rows *rows, uint32_t channel) {
  if (!is_transfer(tile, rows, 1, CODES))
    return BAD_TRANSFER;
  if (channel >= CHANNELS || device->transfers[channel].rows.rows > 0)
    return BAD_CHANNEL;
  device->transfers[channel] =
      (struct transfer){device->codes + tile, host, *rows};
  return 0;
}

int relay_wait(relay_device *device, uint32_t channel) {
  if (channel >= CHANNELS)
    return BAD_CHANNEL;
  struct transfer *t = &device->transfers[channel];
  for (uint32_t i = 0; i < t->rows.rows; i++)
    for (uint32_t k = 0; k < t->rows.columns; k++)
      t->to[i * t->rows.tile_step + k] =
          (int8_t)t->from[i * t->rows.host_step + k * t->rows.host_next];
  t->rows.rows = 0;
  return 0;
}

int relay_store_codes(relay_device *device, uint32_t tile, void *host,
                      const struct relay_rows *rows) {
  if (!is_transfer(tile, rows, 1, CODES))
    return BAD_TRANSFER;
  for (uint32_t i = 0; i < rows->rows; i++)
    for (uint32_t k = 0; k < rows->columns; k++)
      ((int8_t *)host)[i * rows->host_step + k * rows->host_next] =
          device->codes[tile + i * rows->tile_step + k];
  return 0;
}

int relay_load_sums(relay_device *device, uint32_t tile, const void *host,
                    const struct relay_rows *rows) {
  if (!is_transfer(tile, rows, 4, sizeof device->sums))
    return BAD_TRANSFER;
  for (uint32_t i = 0; i < rows->rows; i++)
    for (uint32_t k = 0; k < rows->columns; k++)
      memcpy(device->sums + (tile + i * rows->tile_step) / 4 + k,
             (const uint8_t *)host + i * rows->host_step + k * rows->host_next,
             4);
  return 0;
}

static void requantize(const relay_device *device, uint32_t tile, int8_t *to,
                       const struct relay_rows *rows, const float *scales,
                       const struct relay_output *o) {
  for (uint32_t i = 0; i < rows->rows; i++)
    for (uint32_t k = 0; k < rows->columns; k++) {
      const int32_t sum = device->sums[(tile + i * rows->tile_step) / 4 + k];
      double value =
          (double)rintf((float)sum * scales[k % o->channels]) + o->zero;
      value = value < o->least ? o->least : value > o->most ? o->most : value;
      to[i * rows->host_step + k * rows->host_next] = (int8_t)value;
    }
}

int relay_store(relay_device *device, uint32_t tile, void *host,
                const struct relay_rows *rows, const float *scales,
                const struct relay_output *output) {
  if (!is_transfer(tile, rows, 4, sizeof device->sums))
    return BAD_TRANSFER;
  requantize(device, tile, host, rows, scales, output);
  return 0;
}

int relay_keep(relay_device *device, uint32_t tile, uint32_t kept,
               const struct relay_rows *rows, const float *scales,
               const struct relay_output *output) {
  const struct relay_rows inside = {rows->rows, rows->columns, 0, 1,
                                    (uint32_t)rows->host_step};
  if (!is_transfer(tile, rows, 4, sizeof device->sums) ||
      !is_transfer(kept, &inside, 1, CODES) || rows->host_next != 1)
    return BAD_TRANSFER;
  requantize(device, tile, device->codes + kept, rows, scales, output);
  return 0;
}

static int is_tile(uint32_t tile, uint64_t rows, uint32_t columns,
                   uint32_t element, uint64_t bytes) {
  return tile % (LANES * element) == 0 &&
         tile + rows * filled(columns) * element <= bytes;
}

int relay_multiply(relay_device *device, const struct relay_product *p,
                   uint32_t x, uint32_t w, uint32_t b, uint32_t y) {
  if (!is_tile(x, p->rows, p->inner, 1, CODES) ||
      !is_tile(w, p->inner, p->columns, 1, CODES) ||
      !is_tile(b, p->bias, p->columns, 4, sizeof device->sums) ||
      !is_tile(y, p->rows, p->columns, 4, sizeof device->sums))
    return BAD_TILE;
  for (uint32_t i = 0; i < p->rows; i++)
    for (uint32_t j = 0; j < p->columns; j++) {
      int32_t *out = &device->sums[y / 4 + i * filled(p->columns) + j];
      int32_t sum = p->first ? 0 : *out;
      if (p->bias)
        sum += device->sums[b / 4 + j];
      for (uint32_t k = 0; k < p->inner; k++)
        sum += (device->codes[x + i * filled(p->inner) + k] - p->zero) *
               device->codes[w + k * filled(p->columns) + j];
      *out = sum;
    }
  return 0;
}

int relay_relu(relay_device *device, uint32_t x, uint32_t y, uint32_t rows,
               uint32_t columns, int32_t zero) {
  if (!is_tile(x, rows, columns, 1, CODES) ||
      !is_tile(y, rows, columns, 1, CODES))
    return BAD_TILE;
  for (uint32_t i = 0; i < rows; i++)
    for (uint32_t k = 0; k < columns; k++) {
      const int8_t value = device->codes[x + i * filled(columns) + k];
      device->codes[y + i * filled(columns) + k] =
          value < zero ? (int8_t)zero : value;
    }
  return 0;
}
