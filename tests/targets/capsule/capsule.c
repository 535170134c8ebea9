#include "capsule.h"

#include <stdlib.h>
#include <string.h>

enum {
  OK,
  NO_MEMORY,
  BAD_BLOB,
  BAD_VERSION,
  NOT_ACTIVE,
  ACTIVE,
  LEFT,
  BROKEN,
  TEXTS
};

enum { VERSION = 2, HEAD = 6 };

enum { RELU = 1, ABS, ADD, FILL };

struct capsule_device {
  const char *id, *fail;
  int active, once;
  size_t loaded, allocated, activated;
};

/* A blob that is loaded: its words, and room for all slots. */
typedef struct program {
  uint32_t *words;
  float *values;
  const float **slots;
  uint32_t elements, inputs, outputs, count, code;
} program;

static const char *const STEPS[] = {"nothing", "activate", "execute",
                                    "deactivate", "copy"};

static int fails(capsule_device *device, int what) {
  int once = device->once == what;
  if (once)
    device->once = 0;
  return once || strcmp(device->fail, STEPS[what]) == 0;
}

void capsule_fail_once(capsule_device *device, int what) {
  device->once = what;
}

size_t capsule_activated(const capsule_device *device) {
  return device->activated;
}

int capsule_open(capsule_device **out, const char *id, const char *fail) {
  capsule_device *device = calloc(1, sizeof *device);
  if (!device)
    return NO_MEMORY;
  device->id = id;
  device->fail = fail;
  *out = device;
  return OK;
}

int capsule_close(capsule_device *device) {
  int left = device->active || device->loaded || device->allocated;
  free(device);
  return left ? LEFT : OK;
}

const char *capsule_text(int status) {
  static const char *const texts[TEXTS] = {
      "fine",
      "no memory",
      "not a blob",
      "a blob of another version",
      "not active",
      "active already",
      "something was left when it was closed",
      "broken as it was told to"};
  return status >= 0 && status < TEXTS ? texts[status] : NULL;
}

int capsule_activate(capsule_device *device) {
  if (device->active)
    return ACTIVE;
  if (fails(device, CAPSULE_ACTIVATE))
    return BROKEN;
  device->active = 1;
  device->activated++;
  return OK;
}

int capsule_deactivate(capsule_device *device) {
  if (!device->active)
    return NOT_ACTIVE;
  device->active = 0;
  return fails(device, CAPSULE_DEACTIVATE) ? BROKEN : OK;
}

int capsule_load(capsule_device *device, const void *data, size_t bytes,
                 void **handle) {
  uint32_t head[HEAD];
  size_t size = bytes - 4;
  if (bytes < 4 + sizeof head || memcmp(data, "CAPS", 4) != 0)
    return BAD_BLOB;
  memcpy(head, (const char *)data + 4, sizeof head);
  if (head[0] != VERSION)
    return BAD_VERSION;
  if (size != 4 * (HEAD + head[3] + 4 * (size_t)head[5]))
    return BAD_BLOB;
  program *made = calloc(1, sizeof *made);
  if (!made)
    return NO_MEMORY;
  *made = (program){NULL,    NULL,    NULL,    head[1],
                    head[2], head[3], head[5], HEAD + head[3]};
  made->words = malloc(size);
  made->values = calloc((size_t)head[1] * head[4] + 1, sizeof(float));
  made->slots = calloc((size_t)head[4] + 1, sizeof(float *));
  if (!made->words || !made->values || !made->slots) {
    free(made->words);
    free(made->values);
    free((void *)made->slots);
    free(made);
    return NO_MEMORY;
  }
  memcpy(made->words, (const char *)data + 4, size);
  for (uint32_t i = 0; i < head[4]; i++)
    made->slots[i] = made->values + (size_t)i * head[1];
  device->loaded++;
  *handle = made;
  return OK;
}

int capsule_unload(capsule_device *device, void *handle) {
  program *made = handle;
  device->loaded--;
  free(made->words);
  free(made->values);
  free((void *)made->slots);
  free(made);
  return OK;
}

static void step(const program *p, const uint32_t *line) {
  float *to = p->values + (size_t)line[3] * p->elements;
  float value;
  memcpy(&value, &line[1], sizeof value);
  for (uint32_t i = 0; i < p->elements; i++) {
    const float *a = line[0] == FILL ? &value : &p->slots[line[1]][i];
    float b = line[0] == ADD ? p->slots[line[2]][i] : 0;
    switch (line[0]) {
    case RELU:
      to[i] = *a < 0 ? 0 : *a;
      break;
    case ABS:
      to[i] = *a < 0 ? -*a : *a;
      break;
    default:
      to[i] = *a + b;
    }
  }
}

int capsule_execute(capsule_device *device, void *handle,
                    const void *const *inputs, size_t num_inputs,
                    void *const *outputs, size_t num_outputs) {
  program *p = handle;
  if (!device->active)
    return NOT_ACTIVE;
  if (fails(device, CAPSULE_EXECUTE))
    return BROKEN;
  if (num_inputs != p->inputs || num_outputs != p->outputs)
    return BAD_BLOB;
  for (size_t i = 0; i < num_inputs; i++)
    p->slots[i] = inputs[i];
  for (uint32_t i = 0; i < p->count; i++)
    step(p, p->words + p->code + 4 * i);
  for (size_t i = 0; i < num_outputs; i++)
    memcpy(outputs[i], p->slots[p->words[HEAD + i]], 4 * (size_t)p->elements);
  return OK;
}

int capsule_allocate(capsule_device *device, size_t bytes, void **address) {
  *address = malloc(bytes);
  device->allocated += *address != NULL;
  return *address ? OK : NO_MEMORY;
}

int capsule_free(capsule_device *device, void *address) {
  device->allocated--;
  free(address);
  return OK;
}

int capsule_copy(capsule_device *device, void *to, const void *from,
                 size_t bytes) {
  if (!device->active)
    return NOT_ACTIVE;
  if (fails(device, CAPSULE_COPY))
    return BROKEN;
  memcpy(to, from, bytes);
  return OK;
}

int capsule_magnitude(capsule_device *device, const float *x, float *y,
                      size_t count) {
  if (!device->active)
    return NOT_ACTIVE;
  for (size_t i = 0; i < count; i++)
    y[i] = x[i] < 0 ? -x[i] : x[i];
  return OK;
}
