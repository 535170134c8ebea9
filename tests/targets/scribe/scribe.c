#include "scribe.h"

#include <stdlib.h>
#include <string.h>

/* Begin of the device's memory, as the device sees it: nothing of the host
 * is there. */
#define BASE ((uintptr_t)0x50000000000)

enum { OK, BAD_ADDRESS, NO_MEMORY, BAD_POSITION, LEFT, TEXTS };
enum { BLOCKS = 16, ALIGNMENT = 64 };

struct scribe_device {
  size_t most;
  char *memory;
  size_t start[BLOCKS], bytes[BLOCKS];
};

static scribe_counts counts;

scribe_counts scribe_counted(void) { return counts; }

int scribe_open(scribe_device **out, int64_t memory) {
  *out = calloc(1, sizeof **out);
  if (!*out)
    return NO_MEMORY;
  (*out)->most = (size_t)memory;
  (*out)->memory = calloc((size_t)memory + 1, 1);
  return (*out)->memory ? OK : NO_MEMORY;
}

int scribe_close(scribe_device *device) {
  int left = 0;
  for (int i = 0; i < BLOCKS; i++)
    left |= device->bytes[i] != 0;
  free(device->memory);
  free(device);
  return left ? LEFT : OK;
}

const char *scribe_text(int status) {
  static const char *const texts[] = {
      "fine", "an address that is not on the device",
      "more memory than there is", "a position that the cache does not have",
      "memory was left when it was closed"};
  return status >= 0 && status < TEXTS ? texts[status] : NULL;
}

static int is_free(const scribe_device *device, size_t start, size_t bytes) {
  for (int i = 0; i < BLOCKS; i++)
    if (device->bytes[i] && start < device->start[i] + device->bytes[i] &&
        device->start[i] < start + bytes)
      return 0;
  return start <= device->most && bytes <= device->most - start;
}

int scribe_allocate(scribe_device *device, size_t bytes, void **address) {
  size_t start = 0;
  for (int i = 0; i < BLOCKS && !is_free(device, start, bytes); i++)
    for (int j = 0; j < BLOCKS; j++) {
      size_t end = device->start[j] + device->bytes[j];
      if (device->bytes[j] && end > start && !is_free(device, start, bytes))
        start = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
  for (int i = 0; i < BLOCKS; i++)
    if (!device->bytes[i] && is_free(device, start, bytes)) {
      device->start[i] = start;
      device->bytes[i] = bytes + !bytes;
      *address = (void *)(BASE + start);
      return OK;
    }
  return NO_MEMORY;
}

int scribe_free(scribe_device *device, void *address) {
  for (int i = 0; i < BLOCKS; i++)
    if (device->bytes[i] && (uintptr_t)address == BASE + device->start[i]) {
      device->bytes[i] = 0;
      return OK;
    }
  return BAD_ADDRESS;
}

/* Host pointer to an address of the device; NULL if that is not in a block. */
static void *at(const scribe_device *device, const void *address,
                size_t bytes) {
  uintptr_t place = (uintptr_t)address - BASE;
  for (int i = 0; i < BLOCKS; i++)
    if (device->bytes[i] && place >= device->start[i] &&
        place - device->start[i] <= device->bytes[i] &&
        bytes <= device->bytes[i] - (place - device->start[i]))
      return device->memory + place;
  return NULL;
}

int scribe_copy_in(scribe_device *device, void *to, const void *from,
                   size_t bytes) {
  void *there = at(device, to, bytes);
  if (!there)
    return BAD_ADDRESS;
  memcpy(there, from, bytes);
  counts.in += bytes;
  return OK;
}

int scribe_copy_out(scribe_device *device, void *to, const void *from,
                    size_t bytes) {
  const void *there = at(device, from, bytes);
  if (!there)
    return BAD_ADDRESS;
  memcpy(to, there, bytes);
  counts.out += bytes;
  return OK;
}

int scribe_copy(scribe_device *device, void *to, const void *from,
                size_t bytes) {
  void *target = at(device, to, bytes);
  const void *source = at(device, from, bytes);
  if (!target || !source)
    return BAD_ADDRESS;
  memmove(target, source, bytes);
  counts.within += bytes;
  return OK;
}

/* The row that an index says, from the end if it is negative. */
static int row_of(int64_t index, size_t capacity, size_t *row) {
  int64_t place = index < 0 ? index + (int64_t)capacity : index;
  if (place < 0 || place >= (int64_t)capacity)
    return BAD_POSITION;
  *row = (size_t)place;
  return OK;
}

int scribe_append(scribe_device *device, const int64_t *indices,
                  const float *rows, float *cache, size_t count,
                  size_t capacity, size_t size) {
  const int64_t *places = at(device, indices, count * sizeof *indices);
  const float *from = at(device, rows, count * size * sizeof *rows);
  float *to = at(device, cache, capacity * size * sizeof *cache);
  if (!places || !from || !to)
    return BAD_ADDRESS;
  for (size_t i = 0; i < count; i++) {
    size_t row;
    if (row_of(places[i], capacity, &row))
      return BAD_POSITION;
    memcpy(to + row * size, from + i * size, size * sizeof *to);
  }
  return OK;
}

int scribe_append_heads(scribe_device *device, const int64_t *indices,
                        const float *rows, float *cache, size_t heads,
                        size_t count, size_t capacity, size_t size) {
  const int64_t *places = at(device, indices, heads * count * size * 8);
  const float *from = at(device, rows, heads * count * size * sizeof *rows);
  float *to = at(device, cache, heads * capacity * size * sizeof *cache);
  if (!places || !from || !to)
    return BAD_ADDRESS;
  for (size_t i = 0; i < heads * count * size; i++) {
    size_t head = i / (count * size), row;
    if (row_of(places[i], capacity, &row))
      return BAD_POSITION;
    to[(head * capacity + row) * size + i % size] = from[i];
  }
  return OK;
}

int scribe_product(scribe_device *device, const float *x, const float *w,
                   float *y, size_t batches, size_t rows, size_t inner,
                   size_t columns) {
  const float *a = at(device, x, batches * rows * inner * sizeof *a);
  const float *b = at(device, w, batches * inner * columns * sizeof *b);
  float *c = at(device, y, batches * rows * columns * sizeof *c);
  if (!a || !b || !c)
    return BAD_ADDRESS;
  for (size_t n = 0; n < batches; n++, b += inner * columns)
    for (size_t row = 0; row < rows; row++, a += inner)
      for (size_t column = 0; column < columns; column++) {
        float sum = 0;
        for (size_t k = 0; k < inner; k++)
          sum += a[k] * b[k * columns + column];
        *c++ = sum;
      }
  return OK;
}

int scribe_scores(scribe_device *device, const float *x, const float *w,
                  float *y, size_t batches, size_t rows, size_t inner,
                  size_t columns) {
  const float *a = at(device, x, batches * rows * inner * sizeof *a);
  const float *b = at(device, w, batches * inner * columns * sizeof *b);
  float *c = at(device, y, batches * rows * columns * sizeof *c);
  if (!a || !b || !c)
    return BAD_ADDRESS;
  for (size_t n = 0; n < batches; n++, b += inner * columns)
    for (size_t row = 0; row < rows; row++, a += inner)
      for (size_t column = 0; column < columns; column++) {
        float sum = 0;
        for (size_t k = 0; k < inner; k++)
          sum += a[k] * b[column * inner + k];
        *c++ = sum;
      }
  return OK;
}

int scribe_relu(scribe_device *device, const float *x, float *y, size_t count) {
  const float *from = at(device, x, count * sizeof *from);
  float *to = at(device, y, count * sizeof *to);
  if (!from || !to)
    return BAD_ADDRESS;
  for (size_t i = 0; i < count; i++)
    to[i] = from[i] < 0 ? 0 : from[i];
  return OK;
}
