/* As ports.c, for a package whose inputs and outputs are the caller's. */
#include "net.h"
#include <stdio.h>

static _Alignas(128) unsigned char sram[NET_POOL_SRAM_BYTES + 1],
    dram[NET_POOL_DRAM_BYTES + 1];
static float input[NET_INPUT_0_ELEMENTS], output[NET_OUTPUT_0_ELEMENTS];

int main(void) {
  void *pools[NET_NUM_POOLS] = {0};
  pools[NET_POOL_SRAM] = sram;
  pools[NET_POOL_DRAM] = dram;
  for (int run = 0; run < 2; ++run) {
    for (unsigned i = 0; i < NET_INPUT_0_ELEMENTS; ++i)
      input[i] = (float)(i % 7) / 7;
    if (net_run(input, output, pools) != 0)
      return 1;
    for (unsigned i = 0; i < NET_OUTPUT_0_ELEMENTS; ++i)
      printf("%a\n", (double)output[i]);
  }
  return 0;
}
