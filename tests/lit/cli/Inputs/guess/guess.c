#include "guess.h"

#include <math.h>
#include <string.h>
#include <time.h>

static _Alignas(16) unsigned char memory[1024];

static int64_t now(void) {
  struct timespec at;
  timespec_get(&at, TIME_UTC);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

int guess_copy(uint32_t tile, const void *host, uint32_t rows, uint32_t bytes,
               int64_t host_pitch, uint32_t tile_pitch) {
  for (uint32_t row = 0; row < rows; row++)
    memcpy(memory + tile + row * tile_pitch,
           (const char *)host + row * host_pitch, bytes);
  return 0;
}

int guess_store(uint32_t tile, void *host, uint32_t rows, uint32_t bytes,
                int64_t host_pitch, uint32_t tile_pitch) {
  for (uint32_t row = 0; row < rows; row++)
    memcpy((char *)host + row * host_pitch, memory + tile + row * tile_pitch,
           bytes);
  return 0;
}

int guess_abs(uint32_t x, uint32_t y, uint32_t count) {
  const int64_t end = now() + (count > 64 ? 400000 : count > 32 ? 60000 : 3000);
  const float *in = (const float *)(memory + x);
  float *out = (float *)(memory + y);
  for (uint32_t i = 0; i < count; i++)
    out[i] = fabsf(in[i]);
  while (now() < end)
    ;
  return 0;
}
