/* Simulates the engine @NAME@. Replace @C@_submit by handing the stream to the
 * hardware, and what is below it goes.
 *
 * A stream, little-endian: 16 bytes ("PHLS", u16 version, u16 0, u32 commands,
 * u32 bytes), then the commands. A command: u16 opcode, u16 arguments, u32 0,
 * then 16 bytes for each argument: u8 kind (0 integer, 1 float, 2 buffer, 3
 * none), u8 space (0 input, 1 output, 2 weights, 3 scratch), u16 which input or
 * output, u32 bytes of a buffer, and an i64, a double, or the buffer's offset. */
#include "@C@_driver.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { NO_MEMORY = 1, BAD_STREAM, BAD_COMMAND };
enum { INPUT, OUTPUT, WEIGHTS, SCRATCH, SPACES };
enum { INTEGER, BUFFER = 2, NONE };
enum { MOST_BUFFERS = 64, MOST_ARGUMENTS = 22, OPERANDS = 5 };

struct @C@_device {
  uint64_t commands;
};

typedef struct header { char magic[4]; uint16_t version, zero; uint32_t commands, bytes; } header;
typedef struct command { uint16_t opcode, arguments; uint32_t zero; } command;
typedef struct argument { uint8_t kind, space; uint16_t index; uint32_t bytes; int64_t payload; } argument;

/* The numbers of a command, after its operands x, w, b, factors and y. */
typedef struct results { int32_t zero_x, zero_y, least, most; } results;
typedef struct conv2d {
  results r;
  int32_t n, h, w, c, out_c, kernel_h, kernel_w, out_h, out_w, stride_h, stride_w, pad_h, pad_w;
} conv2d;
typedef struct dense { results r; int32_t rows, inner, columns; } dense;

int @C@_open(@C@_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : NO_MEMORY;
}

int @C@_close(@C@_device *device) {
  free(device);
  return 0;
}

const char *@C@_text(int status) {
  switch (status) {
  case NO_MEMORY: return "no memory to open the device";
  case BAD_STREAM: return "the stream is cut off or of another version";
  case BAD_COMMAND: return "a command is unknown or has other arguments than it should";
  default: return "unknown status";
  }
}

static int8_t quantize(int32_t sum, float factor, const results *r) {
  float value = rintf((float)sum * factor) + (float)r->zero_y;
  return (int8_t)(value < (float)r->least ? r->least : value > (float)r->most ? r->most : (int32_t)value);
}

static void run_conv2d(char *const *at, const conv2d *v) {
  const int8_t *x = (const int8_t *)at[0], *w = (const int8_t *)at[1];
  const int32_t *b = (const int32_t *)(void *)at[2];
  const float *factors = (const float *)(void *)at[3];
  int8_t *y = (int8_t *)at[4];
  for (int32_t image = 0; image < v->n; image++)
    for (int32_t i = 0; i < v->out_h; i++)
      for (int32_t j = 0; j < v->out_w; j++)
        for (int32_t o = 0; o < v->out_c; o++) {
          int32_t sum = b ? b[o] : 0;
          for (int32_t p = 0; p < v->kernel_h; p++)
            for (int32_t q = 0; q < v->kernel_w; q++) {
              int32_t row = i * v->stride_h + p - v->pad_h, column = j * v->stride_w + q - v->pad_w;
              if (row < 0 || column < 0 || row >= v->h || column >= v->w) continue;
              const int8_t *from = x + (((ptrdiff_t)image * v->h + row) * v->w + column) * v->c;
              const int8_t *by = w + (((ptrdiff_t)o * v->kernel_h + p) * v->kernel_w + q) * v->c;
              for (int32_t k = 0; k < v->c; k++) sum += (from[k] - v->r.zero_x) * by[k];
            }
          *y++ = quantize(sum, factors[o], &v->r);
        }
}

static void run_dense(char *const *at, const dense *v) {
  const int8_t *x = (const int8_t *)at[0], *w = (const int8_t *)at[1];
  const int32_t *b = (const int32_t *)(void *)at[2];
  const float *factors = (const float *)(void *)at[3];
  int8_t *y = (int8_t *)at[4];
  for (int32_t i = 0; i < v->rows; i++)
    for (int32_t j = 0; j < v->columns; j++) {
      int32_t sum = b ? b[j] : 0;
      for (int32_t k = 0; k < v->inner; k++)
        sum += (x[(ptrdiff_t)i * v->inner + k] - v->r.zero_x) * w[(ptrdiff_t)j * v->inner + k];
      *y++ = quantize(sum, factors[j], &v->r);
    }
}

/* Decodes the arguments of a command and runs it. */
static int run(unsigned opcode, unsigned count, const argument *arguments, char *spaces[SPACES][MOST_BUFFERS]) {
  char *at[OPERANDS];
  int32_t numbers[MOST_ARGUMENTS - OPERANDS];
  unsigned wanted = opcode == 1 ? sizeof(conv2d) / 4 : opcode == 2 ? sizeof(dense) / 4 : 0;
  if (!wanted || count != OPERANDS + wanted) return BAD_COMMAND;
  for (unsigned i = 0; i < count; i++) {
    const argument *a = &arguments[i];
    if (i >= OPERANDS) {
      if (a->kind != INTEGER) return BAD_COMMAND;
      numbers[i - OPERANDS] = (int32_t)a->payload;
      continue;
    }
    int is_absent = a->kind == NONE && i == 2; /* The bias. */
    if (!is_absent && (a->kind != BUFFER || a->space >= SPACES || a->index >= MOST_BUFFERS ||
                       !spaces[a->space][a->index]))
      return BAD_COMMAND;
    at[i] = is_absent ? NULL : spaces[a->space][a->index] + a->payload;
  }
  union { conv2d conv2d; dense dense; } v;
  memcpy(&v, numbers, 4 * wanted);
  if (opcode == 1) run_conv2d(at, &v.conv2d);
  else run_dense(at, &v.dense);
  return 0;
}

int @C@_submit(@C@_device *device, const void *stream, int64_t bytes, const void *weights, void *scratch,
               int inputs, int outputs, ...) {
  char *spaces[SPACES][MOST_BUFFERS] = {{NULL}};
  const char *at = stream, *end = at + bytes;
  header h;
  if (bytes < (int64_t)sizeof h || inputs > MOST_BUFFERS || outputs > MOST_BUFFERS) return BAD_STREAM;
  memcpy(&h, at, sizeof h);
  if (memcmp(h.magic, "PHLS", 4) != 0 || h.version != 1 || h.bytes != bytes) return BAD_STREAM;
  va_list list;
  va_start(list, outputs);
  for (int i = 0; i < inputs; i++) spaces[INPUT][i] = va_arg(list, void *);
  for (int i = 0; i < outputs; i++) spaces[OUTPUT][i] = va_arg(list, void *);
  va_end(list);
  spaces[WEIGHTS][0] = (char *)(uintptr_t)weights;
  spaces[SCRATCH][0] = scratch;
  at += sizeof h;
  for (; h.commands > 0; h.commands--, device->commands++) {
    command c;
    argument arguments[MOST_ARGUMENTS];
    if (end - at < (ptrdiff_t)sizeof c) return BAD_STREAM;
    memcpy(&c, at, sizeof c);
    at += sizeof c;
    if (c.arguments > MOST_ARGUMENTS) return BAD_COMMAND;
    size_t size = c.arguments * sizeof *arguments;
    if ((size_t)(end - at) < size) return BAD_STREAM;
    memcpy(arguments, at, size);
    at += size;
    int status = run(c.opcode, c.arguments, arguments, spaces);
    if (status) return status;
  }
  return 0;
}
