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
/* The same; if it `hangs`, it does not get on with what it is at first. */
int far_open_hanging(far_device **out, const char *id, int64_t memory, int late,
                     int hangs);
/* Id that it was opened with. */
const char *far_id(const far_device *device);
/* Fails if something is allocated. */
int far_close(far_device *device);
const char *far_text(int status);

int far_allocate(far_device *device, size_t bytes, void **address);
int far_free(far_device *device, void *address);
int far_copy_in(far_device *device, void *to, const void *from, size_t bytes);
int far_copy_out(far_device *device, void *to, const void *from, size_t bytes);
int far_copy(far_device *device, void *to, const void *from, size_t bytes);
int far_wait(far_device *device);
/* Waits for so long at most, then what was started is given up. */
int far_wait_for(far_device *device, int64_t milliseconds);

int far_dense(far_device *device, const float *x, const float *w, float *y,
              size_t rows, size_t inner, size_t columns);
int far_relu(far_device *device, const float *x, float *y, size_t count);
/* `factors` has 2 and 3, in the host's memory; `scratch` has room for `count`
 * floats. */
int far_add(far_device *device, const float *a, const float *b, float *y,
            const int32_t *factors, void *scratch, size_t count);
int far_pool(far_device *device, const float *x, float *y, size_t planes,
             size_t height, size_t width);

/* Copies and calls of all devices together since the program began. */
typedef struct far_counts {
  size_t in, out, within, calls, waits;
} far_counts;

far_counts far_counted(void);

/* Has the device not get on any more, until somebody gives up waiting for it.
 */
void far_hang(far_device *device);

/* Has the command after that many from now fail, once. */
void far_fail_after(size_t commands);

#endif
