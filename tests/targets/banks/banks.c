#include "banks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 2, BAD_TRANSFER = 2, BAD_TILE = 3, BAD_CHANNEL = 4 };

static const uint32_t sizes[BANKS_MEMORIES] = {1024, 2048, 512};

struct transfer {
  bool busy;
  uint32_t tile;
  const void *host;
  struct banks_rows rows;
};

struct banks_device {
  float *memory[BANKS_MEMORIES];
  struct transfer channels[CHANNELS];
};

int banks_close(banks_device *device) {
  for (int i = 0; i < BANKS_MEMORIES; i++)
    free(device->memory[i]);
  free(device);
  return 0;
}

int banks_open(banks_device **device) {
  *device = calloc(1, sizeof **device);
  if (!*device)
    return 1;
  for (int i = 0; i < BANKS_MEMORIES; i++) {
    (*device)->memory[i] = malloc(sizes[i]);
    if (!(*device)->memory[i]) {
      banks_close(*device);
      return 1;
    }
    /* check-target: no defects. What nobody has written is no number. */
    for (uint32_t k = 0; k < sizes[i] / 4; k++)
      (*device)->memory[i][k] = NAN;
    /* check-target: defects */
  }
  return 0;
}

const char *banks_text(int status) {
  switch (status) {
  case BAD_TRANSFER:
    return "a transfer is not of rows inside the memory";
  case BAD_TILE:
    return "a tile is not aligned and inside its memory";
  case BAD_CHANNEL:
    return "a channel is busy, or there is none";
  default:
    return "no memory";
  }
}

static bool is_inside(enum banks_memory memory, uint32_t tile, uint64_t bytes) {
  return tile % 16 == 0 && tile + bytes <= sizes[memory];
}

static bool is_transfer(enum banks_memory memory, uint32_t tile,
                        const struct banks_rows *rows) {
  return rows->dense && rows->rows > 0 &&
         is_inside(memory, tile,
                   (uint64_t)(rows->rows - 1) * rows->tile_pitch + rows->bytes);
}

static char *address(banks_device *device, enum banks_memory memory,
                     uint32_t tile) {
  return (char *)device->memory[memory] + tile;
}

static void copy_in(char *tile, const char *host,
                    const struct banks_rows *rows) {
  for (uint32_t row = 0; row < rows->rows; row++)
    memcpy(tile + row * rows->tile_pitch, host + row * rows->host_pitch,
           rows->bytes);
}

int banks_start(banks_device *device, uint32_t tile, const void *host,
                const struct banks_rows *rows, uint32_t channel) {
  if (channel >= CHANNELS || device->channels[channel].busy)
    return BAD_CHANNEL;
  if (!is_transfer(BANKS_INPUTS, tile, rows))
    return BAD_TRANSFER;
  device->channels[channel] = (struct transfer){true, tile, host, *rows};
  return 0;
}

int banks_wait(banks_device *device, uint32_t channel) {
  if (channel >= CHANNELS || !device->channels[channel].busy)
    return BAD_CHANNEL;
  struct transfer *transfer = &device->channels[channel];
  copy_in(address(device, BANKS_INPUTS, transfer->tile), transfer->host,
          &transfer->rows);
  transfer->busy = false;
  return 0;
}

int banks_load(banks_device *device, uint32_t tile, const void *host,
               const struct banks_rows *rows) {
  if (!is_transfer(BANKS_WEIGHTS, tile, rows))
    return BAD_TRANSFER;
  copy_in(address(device, BANKS_WEIGHTS, tile), host, rows);
  return 0;
}

int banks_store(banks_device *device, uint32_t tile, void *host,
                const struct banks_rows *rows) {
  if (!is_transfer(BANKS_SUMS, tile, rows))
    return BAD_TRANSFER;
  for (uint32_t row = 0; row < rows->rows; row++)
    memcpy((char *)host + row * rows->host_pitch,
           address(device, BANKS_SUMS, tile) + row * rows->tile_pitch,
           rows->bytes);
  return 0;
}

int banks_multiply(banks_device *device, const struct banks_product *p,
                   uint32_t x, uint32_t w, uint32_t b, uint32_t y) {
  if (!is_inside(BANKS_INPUTS, x, 4ull * p->rows * p->inner) ||
      !is_inside(BANKS_WEIGHTS, w, 4ull * p->inner * p->columns) ||
      !is_inside(BANKS_WEIGHTS, b, p->bias ? 4ull * p->columns : 0) ||
      !is_inside(BANKS_SUMS, y, 4ull * p->rows * p->columns))
    return BAD_TILE;
  const float *in = device->memory[BANKS_INPUTS] + x / 4;
  const float *weights = device->memory[BANKS_WEIGHTS] + w / 4;
  const float *bias = device->memory[BANKS_WEIGHTS] + b / 4;
  float *out = device->memory[BANKS_SUMS] + y / 4;
  for (uint32_t i = 0; i < p->rows; i++)
    for (uint32_t j = 0; j < p->columns; j++, out++) {
      float sum = p->first ? 0.0f : *out;
      for (uint32_t k = 0; k < p->inner; k++)
        sum += in[i * p->inner + k] * weights[k * p->columns + j];
      *out = sum + (p->bias ? bias[j] : 0.0f);
    }
  return 0;
}

int banks_multiply_scaled(banks_device *device, const struct banks_product *p,
                          const float *factors, uint32_t x, uint32_t w,
                          uint32_t y) {
  const int status = banks_multiply(device, p, x, w, 0, y);
  if (status || !p->scale)
    return status;
  float *out = device->memory[BANKS_SUMS] + y / 4;
  for (uint32_t i = 0; i < p->rows; i++)
    for (uint32_t j = 0; j < p->columns; j++, out++)
      *out *= factors[j];
  return 0;
}
