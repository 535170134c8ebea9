/* A program that provides the pools of a board, and copies the constants out of
 * flash. */
#include "net.h"
#include <stdio.h>
#include <string.h>

#define GUARD 64

static _Alignas(
    NET_POOL_SRAM_ALIGNMENT) unsigned char sram[NET_POOL_SRAM_BYTES + GUARD];
static _Alignas(
    NET_POOL_DRAM_ALIGNMENT) unsigned char dram[NET_POOL_DRAM_BYTES + GUARD];
static _Alignas(NET_POOL_FLASH_ALIGNMENT) unsigned char copy
    [NET_POOL_FLASH_CONSTANTS_BYTES];
static float input[NET_INPUT_0_ELEMENTS], first[NET_OUTPUT_0_ELEMENTS],
    second[NET_OUTPUT_0_ELEMENTS];

static int broken(const unsigned char *memory, unsigned long bytes) {
  for (int i = 0; i < GUARD; ++i)
    if (memory[bytes + i] != 0xa5)
      return 1;
  return 0;
}

int main(void) {
  void *pools[NET_NUM_POOLS] = {0};
  const void *constants[NET_NUM_POOLS] = {0};
  memset(sram, 0xa5, sizeof sram);
  memset(dram, 0xa5, sizeof dram);
  pools[NET_POOL_SRAM] = sram;
  pools[NET_POOL_DRAM] = dram;
  for (unsigned i = 0; i < NET_INPUT_0_ELEMENTS; ++i)
    input[i] = (float)(i % 7) / 7;
  int32_t status = net_run(input, first, pools);
  memcpy(copy, net_constants_FLASH, sizeof copy);
  constants[NET_POOL_FLASH] = copy;
  const void *const inputs[] = {input};
  void *const outputs[] = {second};
  status =
      status ? status : net_invoke(inputs, outputs, constants, pools, 0, 0);
  printf("status %d, %s, sram %s, dram %s\n", (int)status,
         memcmp(first, second, sizeof first) ? "differs" : "same",
         broken(sram, NET_POOL_SRAM_BYTES) ? "broken" : "good",
         broken(dram, NET_POOL_DRAM_BYTES) ? "broken" : "good");
  return status != 0;
}
