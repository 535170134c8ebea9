#include "ot.h"
#include <string.h>
static unsigned char sram[256];
int ot_load(uint32_t tile, const void *host, size_t bytes) {
  if (tile + bytes > sizeof sram)
    return 1;
  memcpy(sram + tile, host, bytes);
  return 0;
}
int ot_store(uint32_t tile, void *host, size_t bytes) {
  if (tile + bytes > sizeof sram)
    return 1;
  memcpy(host, sram + tile, bytes);
  return 0;
}
int ot_sub(uint32_t a, uint32_t b, uint32_t y, size_t count) {
  for (size_t i = 0; i < count; i++) {
    float p, q;
    memcpy(&p, sram + a + 4 * i, 4);
    memcpy(&q, sram + b + 4 * i, 4);
    p -= q;
    memcpy(sram + y + 4 * i, &p, 4);
  }
  return 0;
}
