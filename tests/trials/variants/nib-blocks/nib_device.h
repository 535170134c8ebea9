#ifndef NIB_DEVICE_H
#define NIB_DEVICE_H
#include "nib.h"
#include <string.h>

enum { NO_MEMORY = 1, BAD_ROW, ROW = 2048, WIDTH = 4 };

struct nib_device {
  float row[ROW];
};

static inline float widen(uint16_t bits) {
  _Float16 h;
  memcpy(&h, &bits, sizeof h);
  return (float)h;
}

static inline uint16_t narrow(float value) {
  _Float16 h = (_Float16)value;
  uint16_t bits;
  memcpy(&bits, &h, sizeof bits);
  return bits;
}

/* An int4 by its number. */
static inline int nibble(const void *from, int64_t i) {
  int bits = ((const uint8_t *)from)[i / 2] >> (i % 2 * 4) & 15;
  return bits < 8 ? bits : bits - 16;
}

typedef struct part { int64_t begin, end; } part;
/* What of `count` columns a core works on: multiples of WIDTH, but for the end. */
static inline part share(int64_t count, int64_t core) {
  int64_t each = (count + NIB_CORES * WIDTH - 1) / (NIB_CORES * WIDTH) * WIDTH;
  int64_t begin = core * each < count ? core * each : count;
  return (part){begin, begin + each < count ? begin + each : count};
}
#endif
