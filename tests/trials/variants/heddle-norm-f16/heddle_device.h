#ifndef HEDDLE_DEVICE_H
#define HEDDLE_DEVICE_H
#include "heddle.h"
#include <string.h>

enum { CHANNELS = 5, ROW = 512 };
enum { NO_MEMORY = 1, BAD_CHANNEL, BAD_PLACE, BAD_SIZE };

typedef struct transfer {
  heddle_span span;
  unsigned char *tile, *host;
  int kind; /* 0 none, 1 fetch, 2 put, 3 drain */
  uint32_t act;
} transfer;

struct heddle_device {
  unsigned char *spm, *sums;
  uint32_t spm_bytes, sums_bytes;
  transfer transfers[CHANNELS];
  float row[ROW];
};

static inline float get_half(const unsigned char *at) {
  _Float16 h;
  memcpy(&h, at, 2);
  return (float)h;
}
static inline void set_half(unsigned char *at, float value) {
  _Float16 h = (_Float16)value;
  memcpy(at, &h, 2);
}
static inline bool in_spm(const heddle_device *d, uint32_t at, int64_t bytes) { return bytes >= 0 && at + bytes <= d->spm_bytes; }
static inline bool in_sums(const heddle_device *d, uint32_t at, int64_t bytes) { return bytes >= 0 && at + bytes <= d->sums_bytes; }
#endif
