#include "tape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK, NO_MEMORY, BAD_TAPE, LEFT, TEXTS };

enum { VERSION = 1, HEAD = 5, STEP = 9 };

enum { DENSE, SUM, RELU, FILL };

enum { BIAS = 1, ACTIVATION = 2 };

struct tape_device {
  size_t loaded;
};

/* A tape that is loaded: its words, and room for all slots. */
typedef struct program {
  const uint32_t *words;
  const uint32_t *sizes, *code, *end;
  float **slots;
} program;

int tape_open(tape_device **out) {
  *out = calloc(1, sizeof **out);
  return *out ? OK : NO_MEMORY;
}

int tape_close(tape_device *device) {
  int left = device->loaded != 0;
  free(device);
  return left ? LEFT : OK;
}

const char *tape_text(int status) {
  static const char *const texts[TEXTS] = {"fine", "no memory", "no tape",
                                           "a tape was left"};
  return status >= 0 && status < TEXTS ? texts[status] : NULL;
}

int tape_load(tape_device *device, const void *data, size_t bytes,
              void **handle) {
  const uint32_t *words = (const uint32_t *)((const char *)data + 4);
  if (bytes < 4 * (1 + HEAD) || memcmp(data, "TAPE", 4) != 0 ||
      words[0] != VERSION)
    return BAD_TAPE;
  program *made = calloc(1, sizeof *made);
  if (!made)
    return NO_MEMORY;
  made->words = words;
  made->sizes = words + HEAD + words[2];
  made->code = made->sizes + words[3];
  made->end = words + (bytes - 4) / 4;
  made->slots = calloc((size_t)words[3] + 1, sizeof *made->slots);
  *handle = made;
  device->loaded++;
  for (uint32_t i = 0; made->slots && i < words[3]; i++)
    if (!(made->slots[i] = calloc((size_t)made->sizes[i] + 1, sizeof(float)))) {
      tape_unload(device, made);
      return NO_MEMORY;
    }
  return made->slots ? OK : NO_MEMORY;
}

int tape_unload(tape_device *device, void *handle) {
  program *made = handle;
  for (uint32_t i = 0; i < made->words[3]; i++)
    free(made->slots[i]);
  free(made->slots);
  free(made);
  device->loaded--;
  return OK;
}

static void step(program *p, const uint32_t *line) {
  const float *a = p->slots[line[1]], *b = p->slots[line[2]];
  float *y = p->slots[line[3]];
  const uint32_t rows = line[4], depth = line[5], columns = line[6];
  const float *data = (const float *)(line + STEP);
  switch (line[0]) {
  case DENSE:
    for (uint32_t r = 0; r < rows; r++)
      for (uint32_t c = 0; c < columns; c++) {
        float sum = 0;
        for (uint32_t k = 0; k < depth; k++)
          sum += a[r * depth + k] * data[k * columns + c];
        if (line[7] & BIAS)
          sum += data[depth * columns + c];
        y[r * columns + c] = line[7] & ACTIVATION && sum < 0 ? 0 : sum;
      }
    return;
  case FILL:
    memcpy(y, data, rows * sizeof *y);
    return;
  default:
    for (uint32_t i = 0; i < rows; i++)
      y[i] = line[0] == SUM ? a[i] + b[i] : a[i] < 0 ? 0 : a[i];
  }
}

int tape_execute(tape_device *device, void *handle, const void *const *inputs,
                 size_t num_inputs, void *const *outputs, size_t num_outputs) {
  program *p = handle;
  (void)device;
  if (num_inputs != p->words[1] || num_outputs != p->words[2])
    return BAD_TAPE;
  for (size_t i = 0; i < num_inputs; i++)
    memcpy(p->slots[i], inputs[i], p->sizes[i] * sizeof(float));
  for (const uint32_t *line = p->code; line < p->end; line += STEP + line[8])
    step(p, line);
  for (size_t i = 0; i < num_outputs; i++) {
    uint32_t slot = p->words[HEAD + i];
    memcpy(outputs[i], p->slots[slot], p->sizes[slot] * sizeof(float));
  }
  return OK;
}
