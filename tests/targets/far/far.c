#define _POSIX_C_SOURCE 200809L

#include "far.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Begin of the device's memory, as the device sees it: nothing of the host
 * is there. */
#define BASE ((uintptr_t)0x40000000000)

enum { OK, BAD_ADDRESS, NO_MEMORY, MANY_COMMANDS, BROKEN, LATE, LEFT, TEXTS };

enum kind { COPY_IN, COPY_OUT, COPY, DENSE, RELU, ADD, POOL };

typedef struct command {
  enum kind kind;
  void *to;
  const void *from, *other;
  void *scratch;
  size_t size[3];
} command;

enum { MOST = 4096, BLOCKS = 16, ALIGNMENT = 64 };

/* An allocated block; without bytes a free entry. */
typedef struct block {
  size_t start, bytes;
} block;

struct far_device {
  const char *id;
  size_t most;
  int late, hangs;
  char *memory;
  block blocks[BLOCKS];
  size_t count;
  int status;
  command queue[MOST];
};

static far_counts counts;
static size_t good = SIZE_MAX;

void far_fail_after(size_t commands) { good = commands; }

far_counts far_counted(void) { return counts; }

int far_open(far_device **out, const char *id, int64_t memory, int late) {
  *out = calloc(1, sizeof **out);
  if (!*out)
    return NO_MEMORY;
  (*out)->id = id;
  (*out)->most = (size_t)memory;
  (*out)->late = late;
  return OK;
}

const char *far_id(const far_device *device) { return device->id; }

int far_open_hanging(far_device **out, const char *id, int64_t memory, int late,
                     int hangs) {
  int status = far_open(out, id, memory, late);
  if (status == OK)
    (*out)->hangs = hangs;
  return status;
}

void far_hang(far_device *device) { device->hangs = 1; }

int far_close(far_device *device) {
  int left = 0;
  for (int i = 0; i < BLOCKS; i++)
    left |= device->blocks[i].bytes != 0;
  free(device->memory);
  free(device);
  return left ? LEFT : OK;
}

const char *far_text(int status) {
  static const char *const texts[] = {"fine",
                                      "an address that is not on the device",
                                      "more memory than there is",
                                      "more commands than fit",
                                      "broken as it was told to",
                                      "not done in time",
                                      "memory was left when it was closed"};
  return status >= 0 && status < TEXTS ? texts[status] : NULL;
}

/* True if bytes from a place on are free. */
static int is_free(const far_device *device, size_t start, size_t bytes) {
  for (int i = 0; i < BLOCKS; i++) {
    const block *known = &device->blocks[i];
    if (known->bytes && start < known->start + known->bytes &&
        known->start < start + bytes)
      return 0;
  }
  return start <= device->most && bytes <= device->most - start;
}

int far_allocate(far_device *device, size_t bytes, void **address) {
  block *made = NULL;
  size_t start = 0;
  for (int i = 0; i < BLOCKS && !made; i++)
    made = device->blocks[i].bytes ? NULL : &device->blocks[i];
  if (!device->memory)
    device->memory = calloc(device->most + 1, 1);
  /* The first place that is behind all blocks in its way. */
  for (int i = 0; i < BLOCKS && !is_free(device, start, bytes); i++)
    for (int j = 0; j < BLOCKS; j++) {
      size_t end = device->blocks[j].start + device->blocks[j].bytes;
      if (device->blocks[j].bytes && end > start &&
          !is_free(device, start, bytes))
        start = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
  if (!made || !device->memory || !is_free(device, start, bytes))
    return NO_MEMORY;
  *made = (block){start, bytes + !bytes};
  *address = (void *)(BASE + start);
  return OK;
}

int far_free(far_device *device, void *address) {
  for (int i = 0; i < BLOCKS; i++)
    if (device->blocks[i].bytes &&
        (uintptr_t)address == BASE + device->blocks[i].start) {
      device->blocks[i].bytes = 0;
      return OK;
    }
  return BAD_ADDRESS;
}

/* Host pointer to an address of the device; NULL if that is not in a block. */
static void *at(far_device *device, const void *address, size_t bytes) {
  uintptr_t place = (uintptr_t)address - BASE;
  for (int i = 0; i < BLOCKS; i++) {
    const block *known = &device->blocks[i];
    if (known->bytes && place >= known->start &&
        place - known->start <= known->bytes &&
        bytes <= known->bytes - (place - known->start))
      return device->memory + place;
  }
  return NULL;
}

static int dense(far_device *device, const command *c) {
  size_t rows = c->size[0], inner = c->size[1], columns = c->size[2];
  const float *x = at(device, c->from, 4 * rows * inner);
  const float *w = at(device, c->other, 4 * inner * columns);
  float *y = at(device, c->to, 4 * rows * columns);
  if (!x || !w || !y)
    return BAD_ADDRESS;
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < columns; column++) {
      float sum = 0;
      for (size_t k = 0; k < inner; k++)
        sum += x[row * inner + k] * w[k * columns + column];
      y[row * columns + column] = sum;
    }
  return OK;
}

static int pool(far_device *device, const command *c) {
  size_t planes = c->size[0], height = c->size[1], width = c->size[2];
  const float *x = at(device, c->from, 4 * planes * height * width);
  float *y = at(device, c->to, planes * height * width);
  if (!x || !y)
    return BAD_ADDRESS;
  for (size_t i = 0; i < planes * height / 2; i++)
    for (size_t j = 0; j < width / 2; j++) {
      float most = x[2 * i * width + 2 * j];
      for (int k = 1; k < 4; k++) {
        float value =
            x[(2 * i + (size_t)k / 2) * width + 2 * j + (size_t)k % 2];
        most = value > most || isnan(value) ? value : most;
      }
      *y++ = most;
    }
  return OK;
}

static int pointwise(far_device *device, const command *c) {
  size_t count = c->size[0];
  const float *a = at(device, c->from, 4 * count);
  float *y = at(device, c->to, 4 * count);
  if (!a || !y)
    return BAD_ADDRESS;
  if (c->kind == RELU) {
    for (size_t i = 0; i < count; i++)
      y[i] = a[i] < 0 ? 0 : a[i];
    return OK;
  }
  const float *b = at(device, c->other, 4 * count);
  float *scratch = at(device, c->scratch, 4 * count);
  if (!b || !scratch)
    return BAD_ADDRESS;
  for (size_t i = 0; i < count; i++)
    scratch[i] = a[i] + b[i];
  memcpy(y, scratch, 4 * count);
  memset(scratch, 0x5a, 4 * count);
  return OK;
}

static int copy(far_device *device, const command *c) {
  size_t bytes = c->size[0];
  void *to = c->kind == COPY_OUT ? c->to : at(device, c->to, bytes);
  const void *from = c->kind == COPY_IN ? c->from : at(device, c->from, bytes);
  if (!to || !from)
    return BAD_ADDRESS;
  /* The host's memory has no addresses of the device's kind. */
  if ((c->kind == COPY_IN && at(device, from, 0)) ||
      (c->kind == COPY_OUT && at(device, to, 0)))
    return BAD_ADDRESS;
  memmove(to, from, bytes);
  return OK;
}

static int execute(far_device *device, const command *c) {
  if (good != SIZE_MAX && good-- == 0)
    return BROKEN;
  switch (c->kind) {
  case DENSE:
    return dense(device, c);
  case POOL:
    return pool(device, c);
  case RELU:
  case ADD:
    return pointwise(device, c);
  default:
    return copy(device, c);
  }
}

int far_wait(far_device *device) {
  counts.waits++;
  for (size_t i = 0; i < device->count && !device->status; i++)
    device->status = execute(device, &device->queue[i]);
  int status = device->status;
  device->count = 0;
  device->status = OK;
  return status;
}

int far_wait_for(far_device *device, int64_t milliseconds) {
  if (!device->hangs)
    return far_wait(device);
  struct timespec begin, now;
  const struct timespec nap = {0, 1000000};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    nanosleep(&nap, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 +
               (now.tv_nsec - begin.tv_nsec) / 1000000 <
           milliseconds);
  /* Started work is given up: nothing of it is done later. */
  counts.waits++;
  device->count = 0;
  device->hangs = 0;
  return LATE;
}

static int start(far_device *device, command c) {
  if (device->count == MOST)
    return MANY_COMMANDS;
  device->queue[device->count++] = c;
  if (device->late)
    return OK;
  counts.waits--;
  return far_wait(device);
}

int far_copy_in(far_device *device, void *to, const void *from, size_t bytes) {
  counts.in += bytes;
  return start(device, (command){COPY_IN, to, from, NULL, NULL, {bytes}});
}

int far_copy_out(far_device *device, void *to, const void *from, size_t bytes) {
  counts.out += bytes;
  return start(device, (command){COPY_OUT, to, from, NULL, NULL, {bytes}});
}

int far_copy(far_device *device, void *to, const void *from, size_t bytes) {
  counts.within += bytes;
  return start(device, (command){COPY, to, from, NULL, NULL, {bytes}});
}

int far_dense(far_device *device, const float *x, const float *w, float *y,
              size_t rows, size_t inner, size_t columns) {
  counts.calls++;
  return start(device, (command){DENSE, y, x, w, NULL, {rows, inner, columns}});
}

int far_relu(far_device *device, const float *x, float *y, size_t count) {
  counts.calls++;
  return start(device, (command){RELU, y, x, NULL, NULL, {count}});
}

int far_add(far_device *device, const float *a, const float *b, float *y,
            const int32_t *factors, void *scratch, size_t count) {
  counts.calls++;
  if (factors[0] != 2 || factors[1] != 3)
    return BAD_ADDRESS;
  return start(device, (command){ADD, y, a, b, scratch, {count}});
}

int far_pool(far_device *device, const float *x, float *y, size_t planes,
             size_t height, size_t width) {
  counts.calls++;
  return start(device,
               (command){POOL, y, x, NULL, NULL, {planes, height, width}});
}
