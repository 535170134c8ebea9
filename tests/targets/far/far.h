/* A device whose memory has addresses of its own, and whose calls only start
 * work. */
#ifndef FAR_H
#define FAR_H

#include <stddef.h>
#include <stdint.h>

typedef struct far_device far_device;

/* `id` is for messages; `memory` are the most bytes there are. If `late`, work
   begins when somebody waits, else at once. */
int far_open(far_device **out, const char *id, int64_t memory, int late);
/* What it was opened with. */
const char *far_id(const far_device *device);
int far_close(far_device *device);
const char *far_text(int status);

int far_allocate(far_device *device, size_t bytes, void **address);
int far_free(far_device *device, void *address);
int far_copy_in(far_device *device, void *to, const void *from, size_t bytes);
int far_copy_out(far_device *device, void *to, const void *from, size_t bytes);
int far_copy(far_device *device, void *to, const void *from, size_t bytes);
int far_wait(far_device *device);

int far_dense(far_device *device, const float *x, const float *w, float *y,
              size_t rows, size_t inner, size_t columns);
int far_relu(far_device *device, const float *x, float *y, size_t count);
/* `factors` has 2 and 3, in the host's memory; `scratch` has room for `count`
 * floats. */
int far_add(far_device *device, const float *a, const float *b, float *y,
            const int32_t *factors, void *scratch, size_t count);
int far_pool(far_device *device, const float *x, float *y, size_t planes,
             size_t height, size_t width);

/* What all devices together have moved and done since the program began. */
typedef struct far_counts {
  size_t in, out, within, calls, waits;
} far_counts;

far_counts far_counted(void);

/* Has the command after that many from now fail, once. */
void far_fail_after(size_t commands);

#endif
