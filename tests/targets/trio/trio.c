// The engine, simulated: what is under way happens when it is waited for, and a
// tile is not whole before.
#include "trio.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, CHANNELS = 4 };

typedef struct {
  const unsigned char *from;
  unsigned char *to;
  uint32_t bytes;
} transfer;

struct trio {
  unsigned char memory[BYTES];
  transfer under_way[CHANNELS];
};

int trio_open(trio **engine) {
  *engine = calloc(1, sizeof **engine);
  return *engine == NULL ? 1 : 0;
}

int trio_close(trio *engine) {
  int status = 0;
  for (int channel = 0; channel < CHANNELS; channel++)
    if (engine->under_way[channel].bytes != 0)
      status = 3;
  free(engine);
  return status;
}

const char *trio_text(int status) {
  static const char *const texts[] = {"done", "no memory for the engine",
                                      "outside of the memory",
                                      "the channel is busy"};
  return texts[status < 0 || status > 3 ? 2 : status];
}

static int begin(trio *engine, uint32_t place, transfer one, uint32_t channel) {
  if (place > BYTES || one.bytes > BYTES - place || channel >= CHANNELS)
    return 2;
  if (engine->under_way[channel].bytes != 0)
    return 3;
  engine->under_way[channel] = one;
  return 0;
}

int trio_load(trio *engine, uint32_t to, const void *from, uint32_t bytes,
              uint32_t channel) {
  transfer one = {from, engine->memory + to, bytes};
  int status = begin(engine, to, one, channel);
  // Until it is there, the tile has no numbers.
  if (status == 0)
    memset(engine->memory + to, 0xff, bytes);
  return status;
}

int trio_store(trio *engine, uint32_t from, void *to, uint32_t bytes,
               uint32_t channel) {
  transfer one = {engine->memory + from, to, bytes};
  return begin(engine, from, one, channel);
}

int trio_wait(trio *engine, uint32_t channel) {
  if (channel >= CHANNELS)
    return 2;
  transfer *one = &engine->under_way[channel];
  if (one->bytes != 0)
    memcpy(one->to, one->from, one->bytes);
  one->bytes = 0;
  return 0;
}

int trio_fuse(trio *engine, uint32_t a, uint32_t b, uint32_t c, uint32_t y,
              uint32_t count) {
  const uint32_t places[] = {a, b, c, y};
  for (int i = 0; i < 4; i++)
    if (places[i] > BYTES || count > (BYTES - places[i]) / sizeof(float))
      return 2;
  for (uint32_t i = 0; i < count; i++) {
    float left, right, more;
    memcpy(&left, engine->memory + a + i * sizeof left, sizeof left);
    memcpy(&right, engine->memory + b + i * sizeof right, sizeof right);
    memcpy(&more, engine->memory + c + i * sizeof more, sizeof more);
    float result = left * right + more;
    memcpy(engine->memory + y + i * sizeof result, &result, sizeof result);
  }
  return 0;
}
