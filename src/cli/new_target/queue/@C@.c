/* Simulates @NAME@: its memory is at addresses where the host has nothing, and what is
 * queued runs when it is waited for, not before. Replace the bodies by what the
 * real driver does. */
#include "@C@_driver.h"

#include <stdlib.h>
#include <string.h>

enum { NO_MEMORY = 1, BAD_ADDRESS };
enum { COPY_IN, COPY_OUT, COPY, MULTIPLY, ADD, RELU };
/* Few, so that small networks fill it. */
enum { DEPTH = 4 };
/* First address of the device's memory, as the device sees it. */
static const uintptr_t base = (uintptr_t)1 << 44;

typedef struct command {
  int opcode;
  void *to;
  const void *from, *other, *third;
  size_t count;
  @C@_product product;
} command;

struct @C@_device {
  char *memory;
  size_t bytes, queued;
  int status;
  command queue[DEPTH];
};

int @C@_open(@C@_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : NO_MEMORY;
}

int @C@_close(@C@_device *device) {
  free(device->memory);
  free(device);
  return 0;
}

const char *@C@_text(int status) {
  switch (status) {
  case NO_MEMORY: return "the device has not so much memory";
  case BAD_ADDRESS: return "an address is not in the device's memory";
  default: return "unknown status";
  }
}

int @C@_allocate(@C@_device *device, size_t bytes, void **address) {
  if (device->memory || bytes > MEMORY || !(device->memory = malloc(bytes + 1))) return NO_MEMORY;
  /* Unwritten bytes are NaN, which no result shows; check-target: no defects */
  memset(device->memory, 0xff, bytes);
  /* check-target: defects */
  device->bytes = bytes;
  *address = (void *)base;
  return 0;
}

int @C@_free(@C@_device *device, void *address) {
  if ((uintptr_t)address != base) return BAD_ADDRESS;
  free(device->memory);
  device->memory = NULL;
  return 0;
}

/* True if so many bytes at an address are in the device's memory. */
static bool has(const @C@_device *device, const void *address, size_t bytes) {
  uintptr_t place = (uintptr_t)address - base;
  return (uintptr_t)address >= base && place <= device->bytes && bytes <= device->bytes - place;
}

/* Host pointer to an address of the device. */
static void *at(@C@_device *device, const void *address) {
  return device->memory + ((uintptr_t)address - base);
}

static int multiply(@C@_device *device, const command *c) {
  const @C@_product p = c->product;
  if (!has(device, c->from, 4 * (size_t)(p.rows * p.inner))) return BAD_ADDRESS;
  if (!has(device, c->other, 4 * (size_t)(p.inner * p.columns))) return BAD_ADDRESS;
  if (!has(device, c->to, 4 * (size_t)(p.rows * p.columns))) return BAD_ADDRESS;
  if (c->third && !has(device, c->third, 4 * (size_t)p.columns)) return BAD_ADDRESS;
  const float *x = at(device, c->from), *w = at(device, c->other);
  const float *b = c->third ? at(device, c->third) : NULL;
  float *y = at(device, c->to);
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; j < p.columns; j++) {
      float sum = b ? b[j] : 0.0f;
      for (int64_t k = 0; k < p.inner; k++)
        sum += x[i * p.inner + k] * w[p.transposed ? j * p.inner + k : k * p.columns + j];
      *y++ = p.relu && sum < 0.0f ? 0.0f : sum;
    }
  return 0;
}

static int execute(@C@_device *device, const command *c) {
  const size_t bytes = c->opcode < MULTIPLY ? c->count : 4 * c->count;
  if (c->opcode == MULTIPLY) return multiply(device, c);
  if (c->opcode != COPY_OUT && !has(device, c->to, bytes)) return BAD_ADDRESS;
  if (c->opcode != COPY_IN && !has(device, c->from, bytes)) return BAD_ADDRESS;
  if (c->opcode == ADD && !has(device, c->other, bytes)) return BAD_ADDRESS;
  void *to = c->opcode == COPY_OUT ? c->to : at(device, c->to);
  const void *from = c->opcode == COPY_IN ? c->from : at(device, c->from);
  const float *a = from, *b = c->opcode == ADD ? at(device, c->other) : NULL;
  float *y = to;
  if (c->opcode < MULTIPLY) memmove(to, from, c->count);
  else for (size_t i = 0; i < c->count; i++)
    y[i] = b ? a[i] + b[i] : a[i] < 0.0f ? 0.0f : a[i];
  return 0;
}

/* Runs what is queued, until something fails. */
static void run(@C@_device *device) {
  for (size_t i = 0; i < device->queued && !device->status; i++)
    device->status = execute(device, &device->queue[i]);
  device->queued = 0;
}

int @C@_wait(@C@_device *device) {
  run(device);
  int status = device->status;
  device->status = 0;
  return status;
}

static int start(@C@_device *device, command command) {
  if (device->queued == DEPTH) run(device);
  device->queue[device->queued++] = command;
  return 0;
}

int @C@_copy_in(@C@_device *device, void *to, const void *from, size_t bytes) {
  return start(device, (command){.opcode = COPY_IN, .to = to, .from = from, .count = bytes});
}

int @C@_copy_out(@C@_device *device, void *to, const void *from, size_t bytes) {
  return start(device, (command){.opcode = COPY_OUT, .to = to, .from = from, .count = bytes});
}

int @C@_copy(@C@_device *device, void *to, const void *from, size_t bytes) {
  return start(device, (command){.opcode = COPY, .to = to, .from = from, .count = bytes});
}

int @C@_multiply(@C@_device *device, const float *x, const float *w, const float *b,
                 float *y, const @C@_product *product) {
  return start(device, (command){MULTIPLY, y, x, w, b, 0, *product});
}

int @C@_add(@C@_device *device, const float *a, const float *b, float *y, size_t count) {
  return start(device, (command){.opcode = ADD, .to = y, .from = a, .other = b, .count = count});
}

int @C@_relu(@C@_device *device, const float *x, float *y, size_t count) {
  return start(device, (command){.opcode = RELU, .to = y, .from = x, .count = count});
}
