/* Simulates @NAME@: it computes on its own memory only, and a transfer is done
 * when it is waited for, not before. Until then its destination has garbage, so
 * that who reads or writes there too early, or overwrites what is still to be
 * stored, gets wrong results. Replace the bodies by what the real driver does. */
#include "@C@_driver.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 16384, LANES = 4, CHANNELS = 3 };
enum { NO_MEMORY = 1, BAD_TRANSFER, BAD_CHANNEL, BAD_TILE };

typedef struct transfer {
  unsigned char *to;
  const unsigned char *from;
  int64_t to_step, to_next, from_step, from_next;
  uint32_t rows, bytes, element;
} transfer;

struct @C@_device {
  _Alignas(16) unsigned char memory[BYTES];
  /* Transfers under way; rows is 0 for the others. */
  transfer transfers[CHANNELS];
};

int @C@_open(@C@_device **device) {
  *device = calloc(1, sizeof **device);
  if (!*device) return NO_MEMORY;
  /* Unwritten bytes are NaN, which no result shows; check-target: no defects */
  memset((*device)->memory, 0xff, BYTES);
  /* check-target: defects */
  return 0;
}

int @C@_close(@C@_device *device) {
  free(device);
  return 0;
}

const char *@C@_text(int status) {
  switch (status) {
  case NO_MEMORY: return "no memory to open the device";
  case BAD_TRANSFER: return "a transfer is not of rows within the memory";
  case BAD_CHANNEL: return "a channel is unknown or still busy";
  case BAD_TILE: return "a tile is not aligned and within the memory";
  default: return "unknown status";
  }
}

static bool is_inside(uint32_t tile, uint64_t bytes) {
  return tile % 16 == 0 && tile + bytes <= BYTES;
}

static bool is_transfer(uint32_t tile, const @C@_rows *r) {
  uint32_t elements = r->element ? r->bytes / r->element : 0;
  return r->rows > 0 && elements > 0 &&
         is_inside(tile, (uint64_t)(r->rows - 1) * r->tile_step +
                             (uint64_t)(elements - 1) * r->tile_next + r->element);
}

/* Puts garbage where a transfer goes, which nobody who waits sees; check-target: no defects */
static void garble(const transfer *t) {
  for (uint32_t row = 0; row < t->rows; row++)
    for (uint32_t i = 0; i < t->bytes / t->element; i++)
      memset(t->to + row * t->to_step + i * t->to_next, 0xff, t->element);
}

/* check-target: defects */

static int start(@C@_device *device, uint32_t channel, transfer transfer) {
  if (channel >= CHANNELS || device->transfers[channel].rows > 0) return BAD_CHANNEL;
  device->transfers[channel] = transfer;
  garble(&transfer);
  return 0;
}

int @C@_load(@C@_device *device, uint32_t tile, const void *host,
             uint32_t channel, const @C@_rows *r) {
  if (!is_transfer(tile, r)) return BAD_TRANSFER;
  return start(device, channel,
               (transfer){device->memory + tile, host, r->tile_step, r->tile_next,
                          r->host_step, r->host_next, r->rows, r->bytes, r->element});
}

int @C@_store(@C@_device *device, uint32_t tile, void *host, uint32_t channel,
              const @C@_rows *r) {
  if (!is_transfer(tile, r)) return BAD_TRANSFER;
  return start(device, channel,
               (transfer){host, device->memory + tile, r->host_step, r->host_next,
                          r->tile_step, r->tile_next, r->rows, r->bytes, r->element});
}

int @C@_wait(@C@_device *device, uint32_t channel) {
  if (channel >= CHANNELS) return BAD_CHANNEL;
  transfer *t = &device->transfers[channel];
  for (uint32_t row = 0; row < t->rows; row++)
    for (uint32_t i = 0; i < t->bytes / t->element; i++)
      memcpy(t->to + row * t->to_step + i * t->to_next,
             t->from + row * t->from_step + i * t->from_next, t->element);
  t->rows = 0;
  return 0;
}

int @C@_multiply(@C@_device *device, const @C@_product *p, uint32_t x,
                 uint32_t w, uint32_t b, uint32_t y) {
  const uint64_t blocks = (p->columns + LANES - 1) / LANES;
  if (!is_inside(x, 4ull * p->rows * p->inner) ||
      !is_inside(w, 4 * blocks * LANES * p->inner) ||
      !is_inside(b, p->bias ? 4ull * p->columns : 0) ||
      !is_inside(y, 4ull * p->rows * p->columns))
    return BAD_TILE;
  const float *in = (const float *)(device->memory + x);
  const float *weights = (const float *)(device->memory + w);
  const float *bias = (const float *)(device->memory + b);
  float *out = (float *)(device->memory + y);
  for (uint32_t i = 0; i < p->rows; i++)
    for (uint32_t j = 0; j < p->columns; j++, out++) {
      float sum = p->first ? 0.0f : *out;
      for (uint32_t k = 0; k < p->inner; k++)
        sum += in[i * p->inner + k] *
               weights[(j / LANES * p->inner + k) * LANES + j % LANES];
      sum += p->bias ? bias[j] : 0.0f;
      *out = p->relu && sum < 0.0f ? 0.0f : sum;
    }
  return 0;
}

int @C@_add(@C@_device *device, uint32_t count, uint32_t a, uint32_t b,
            uint32_t y) {
  const uint64_t bytes = 4ull * count;
  if (!is_inside(a, bytes) || !is_inside(b, bytes) || !is_inside(y, bytes))
    return BAD_TILE;
  const float *left = (const float *)(device->memory + a);
  const float *right = (const float *)(device->memory + b);
  float *out = (float *)(device->memory + y);
  for (uint32_t i = 0; i < count; i++) out[i] = left[i] + right[i];
  return 0;
}
