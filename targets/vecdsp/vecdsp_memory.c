/*===- vecdsp_memory.c - The vector DSP's DRAM --------------------*- C -*-===*/

#include "vecdsp_device.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more block. */
static bool reserve(vecdsp_device *device) {
  if (device->block_count < device->block_room)
    return true;
  const size_t room = device->block_room ? 2 * device->block_room : 16;
  vecdsp_block *blocks = realloc(device->blocks, room * sizeof *blocks);
  if (!blocks)
    return false;
  device->blocks = blocks;
  device->block_room = room;
  return true;
}

/* The first gap of so many bytes: the place of its block, and its offset. */
static bool find_gap(const vecdsp_device *device, size_t bytes, size_t *place,
                     size_t *offset) {
  *offset = 0;
  for (*place = 0; *place < device->block_count; ++*place) {
    const vecdsp_block *block = &device->blocks[*place];
    if (block->offset - *offset >= bytes)
      return true;
    *offset = block->offset + block->bytes;
    *offset =
        (*offset + VECDSP_ALIGNMENT - 1) & ~(size_t)(VECDSP_ALIGNMENT - 1);
  }
  return *offset <= device->config.dram &&
         device->config.dram - *offset >= bytes;
}

static int allocate(vecdsp_device *device, size_t bytes, size_t *offset) {
  size_t place;
  if (!find_gap(device, bytes, &place, offset))
    return VECDSP_ERR_DRAM;
  if (!reserve(device))
    return VECDSP_ERR_MEMORY;
  vecdsp_block *block = &device->blocks[place];
  memmove(block + 1, block, (device->block_count - place) * sizeof *block);
  block->offset = *offset;
  block->bytes = bytes;
  device->block_count++;
  return VECDSP_OK;
}

int vecdsp_allocate(vecdsp_device *device, size_t bytes, void **out_address) {
  /* Nothing has an address of its own too. */
  bytes = bytes ? bytes : 1;
  if (device->config.unified) {
    if (bytes > SIZE_MAX - VECDSP_ALIGNMENT)
      return VECDSP_ERR_DRAM;
    const size_t last = VECDSP_ALIGNMENT - 1;
    *out_address = aligned_alloc(VECDSP_ALIGNMENT, (bytes + last) & ~last);
    if (*out_address)
      memset(*out_address, 255, bytes);
    return *out_address ? VECDSP_OK : VECDSP_ERR_DRAM;
  }
  size_t offset;
  pthread_mutex_lock(&device->mutex);
  const int status = allocate(device, bytes, &offset);
  pthread_mutex_unlock(&device->mutex);
  if (status != VECDSP_OK)
    return status;
  memset(device->dram + offset, 255, bytes);
  *out_address = (void *)(device->base + offset);
  return VECDSP_OK;
}

int vecdsp_free(vecdsp_device *device, void *address) {
  vecdsp_drain(device);
  if (!address)
    return VECDSP_OK;
  if (device->config.unified) {
    free(address);
    return VECDSP_OK;
  }
  const size_t offset = (size_t)((uintptr_t)address - device->base);
  int status = VECDSP_ERR_ADDRESS;
  pthread_mutex_lock(&device->mutex);
  for (size_t i = 0; i < device->block_count && status; i++) {
    vecdsp_block *block = &device->blocks[i];
    if (block->offset != offset)
      continue;
    device->block_count--;
    memmove(block, block + 1, (device->block_count - i) * sizeof *block);
    status = VECDSP_OK;
  }
  pthread_mutex_unlock(&device->mutex);
  return status;
}

/* The last block that begins at or before an offset. */
static const vecdsp_block *block_at(const vecdsp_device *device,
                                    size_t offset) {
  size_t low = 0, high = device->block_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (device->blocks[middle].offset <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? &device->blocks[low - 1] : NULL;
}

void *vecdsp_reach(vecdsp_device *device, const vecdsp_operand *operand,
                   int *status) {
  const uintptr_t address = (uintptr_t)operand->address;
  *status = VECDSP_OK;
  if (!operand->bytes)
    return NULL;
  if (address % operand->alignment) {
    *status = VECDSP_ERR_ALIGNMENT;
    return NULL;
  }
  if (operand->host || device->config.unified) {
    *status = operand->address ? VECDSP_OK : VECDSP_ERR_ADDRESS;
    return (void *)address;
  }
  if (address < device->base || address - device->base >= (uintptr_t)1 << 44) {
    *status = VECDSP_ERR_ADDRESS;
    return NULL;
  }
  const size_t offset = (size_t)(address - device->base);
  const vecdsp_block *block = block_at(device, offset);
  if (!block || offset - block->offset > block->bytes ||
      block->bytes - (offset - block->offset) < operand->bytes) {
    *status = VECDSP_ERR_RANGE;
    return NULL;
  }
  return device->dram + offset;
}
