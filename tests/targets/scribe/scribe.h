/* Test device with memory of its own that appends to caches in place. */
#ifndef SCRIBE_H
#define SCRIBE_H
#include <stddef.h>
#include <stdint.h>

typedef struct scribe_device scribe_device;

/* Bytes that were copied since the program began. */
typedef struct scribe_counts {
  size_t in, out, within;
} scribe_counts;
scribe_counts scribe_counted(void);

int scribe_open(scribe_device **out, int64_t memory);
int scribe_close(scribe_device *device);
const char *scribe_text(int status);
int scribe_allocate(scribe_device *device, size_t bytes, void **address);
int scribe_free(scribe_device *device, void *address);
int scribe_copy_in(scribe_device *device, void *to, const void *from,
                   size_t bytes);
int scribe_copy_out(scribe_device *device, void *to, const void *from,
                    size_t bytes);
int scribe_copy(scribe_device *device, void *to, const void *from,
                size_t bytes);

int scribe_append(scribe_device *device, const int64_t *indices,
                  const float *rows, float *cache, size_t count,
                  size_t capacity, size_t size);
int scribe_append_heads(scribe_device *device, const int64_t *indices,
                        const float *rows, float *cache, size_t heads,
                        size_t count, size_t capacity, size_t size);
int scribe_product(scribe_device *device, const float *x, const float *w,
                   float *y, size_t batches, size_t rows, size_t inner,
                   size_t columns);
int scribe_scores(scribe_device *device, const float *x, const float *w,
                  float *y, size_t batches, size_t rows, size_t inner,
                  size_t columns);
int scribe_relu(scribe_device *device, const float *x, float *y, size_t count);
#endif
