#ifndef QUERN_DEVICE_H
#define QUERN_DEVICE_H
#include "quern.h"
#include <stddef.h>

enum { NO_MEMORY = 1, BAD_STREAM, BAD_COMMAND, NO_SRAM };
enum { MOST_OPERANDS = 10, MOST_NUMBERS = 32, MOST_REALS = 2, CHANNELS = 64 };

struct quern_device {
  uint8_t *sram;
  int64_t bytes, used;
  /* The table of the last function. */
  uint8_t table[256];
  /* What it was made for: signs, zero points, function, scales; a table is kept as long as these are the same. */
  int32_t made_for[5];
  float made_scales[2];
  int made;
  /* A pixel between two layers of a pair. */
  int8_t pixel[CHANNELS];
};

/* A command as it was decoded: operands in order (null if absent) with their bytes, integers and floats. */
typedef struct quern_command {
  unsigned opcode, operands, numbers, reals;
  uint8_t *at[MOST_OPERANDS];
  int64_t bytes[MOST_OPERANDS];
  int32_t n[MOST_NUMBERS];
  float f[MOST_REALS];
} quern_command;

/* A place in SRAM, or null if it is full; with what is at `from`, unless that is null. */
uint8_t *quern_sram(quern_device *d, const uint8_t *from, int64_t bytes);
int quern_execute(quern_device *d, const quern_command *c);
#endif
