#ifndef SLAB_DRAM_H
#define SLAB_DRAM_H

#include "slab.h"
#include <stddef.h>

int slab_dram_allocate(slab_device *device, size_t bytes, void **address);
int slab_dram_free(slab_device *device, void *address);
int slab_dram_copy(slab_device *device, void *to, const void *from,
                   size_t bytes);
/* Fails unless both ends are in memory that the device has allocated. */
int slab_dram_relu(slab_device *device, const float *x, float *y, size_t count);

#endif
