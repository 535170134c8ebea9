/* Writes inputs to the pools themselves, and reads outputs there. */
#include "net.h"
#include <stdio.h>

static _Alignas(128) unsigned char sram[NET_POOL_SRAM_BYTES + 1],
    dram[NET_POOL_DRAM_BYTES + 1];

int main(void) {
  void *pools[NET_NUM_POOLS] = {0};
  pools[NET_POOL_SRAM] = sram;
  pools[NET_POOL_DRAM] = dram;
  for (int run = 0; run < 2; ++run) {
    float *const input =
        (float *)((char *)pools[NET_INPUT_0_POOL] + NET_INPUT_0_OFFSET);
    const float *const output =
        (const float *)((char *)pools[NET_OUTPUT_0_POOL] + NET_OUTPUT_0_OFFSET);
    for (unsigned i = 0; i < NET_INPUT_0_ELEMENTS; ++i)
      input[i] = (float)(i % 7) / 7;
    if (net_run(pools) != 0)
      return 1;
    for (unsigned i = 0; i < NET_OUTPUT_0_ELEMENTS; ++i)
      printf("%a\n", (double)output[i]);
  }
  return 0;
}
