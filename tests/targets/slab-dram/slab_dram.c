#include "slab_dram.h"

#include <stdlib.h>
#include <string.h>

static char *begin, *end;

int slab_dram_allocate(slab_device *device, size_t bytes, void **address) {
  (void)device;
  begin = malloc(bytes);
  end = begin ? begin + bytes : NULL;
  *address = begin;
  return begin ? 0 : 1;
}

int slab_dram_free(slab_device *device, void *address) {
  (void)device;
  free(address);
  return 0;
}

int slab_dram_copy(slab_device *device, void *to, const void *from,
                   size_t bytes) {
  (void)device;
  memcpy(to, from, bytes);
  return 0;
}

static int is_inside(const void *address, size_t bytes) {
  return (const char *)address >= begin && (const char *)address + bytes <= end;
}

int slab_dram_relu(slab_device *device, const float *x, float *y,
                   size_t count) {
  (void)device;
  if (!is_inside(x, 4 * count) || !is_inside(y, 4 * count))
    return 2;
  for (size_t i = 0; i < count; i++)
    y[i] = x[i] < 0 ? 0 : x[i];
  return 0;
}
