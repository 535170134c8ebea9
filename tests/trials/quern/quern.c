/* Streams of Quern: decoding. The format is that of Phaseline's encode-command-stream. */
#include "quern_device.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT, OUTPUT, WEIGHTS, SCRATCH, SPACES, MOST_BUFFERS = 64 };
enum { INTEGER, REAL, BUFFER, ABSENT };
typedef struct argument { uint8_t kind, space; uint16_t index; uint32_t bytes; int64_t payload; } argument;

int quern_open(quern_device **out, int64_t sram) {
  quern_device *d = calloc(1, sizeof *d);
  if (!d) return NO_MEMORY;
  d->sram = malloc((size_t)sram);
  if (!d->sram) {
    free(d);
    return NO_MEMORY;
  }
  d->bytes = sram;
  *out = d;
  return 0;
}

int quern_close(quern_device *d) {
  free(d->sram);
  free(d);
  return 0;
}

const char *quern_text(int status) {
  switch (status) {
  case NO_MEMORY: return "no memory for the device";
  case BAD_STREAM: return "the stream is cut off or of another version";
  case BAD_COMMAND: return "a command is unknown or has other arguments than it should";
  case NO_SRAM: return "the operands of a command do not fit the SRAM";
  default: return "unknown status";
  }
}

uint8_t *quern_sram(quern_device *d, const uint8_t *from, int64_t bytes) {
  int64_t place = d->used;
  if (place + bytes > d->bytes) return NULL;
  d->used += (bytes + 15) / 16 * 16;
  if (from) memcpy(d->sram + place, from, (size_t)bytes);
  return d->sram + place;
}

/* Adds an argument to a command; 0, or why not. */
static int take(quern_command *c, const argument *a, char *spaces[SPACES][MOST_BUFFERS]) {
  if (a->kind == INTEGER) {
    if (c->numbers == MOST_NUMBERS) return BAD_COMMAND;
    c->n[c->numbers++] = (int32_t)a->payload;
  } else if (a->kind == REAL) {
    double value;
    if (c->reals == MOST_REALS) return BAD_COMMAND;
    memcpy(&value, &a->payload, sizeof value);
    c->f[c->reals++] = (float)value;
  } else {
    if (c->operands == MOST_OPERANDS) return BAD_COMMAND;
    if (a->kind == BUFFER) {
      if (a->space >= SPACES || a->index >= MOST_BUFFERS || !spaces[a->space][a->index]) return BAD_COMMAND;
      c->at[c->operands] = (uint8_t *)spaces[a->space][a->index] + a->payload;
      c->bytes[c->operands] = a->bytes;
    }
    c->operands++;
  }
  return 0;
}

int quern_submit(quern_device *d, const void *stream, int64_t bytes, const void *weights, void *scratch, int inputs, int outputs, ...) {
  char *spaces[SPACES][MOST_BUFFERS] = {{NULL}};
  const char *at = stream, *end = at + bytes;
  uint32_t commands, size;
  if (bytes < 16 || memcmp(at, "PHLS", 4) != 0 || inputs > MOST_BUFFERS || outputs > MOST_BUFFERS) return BAD_STREAM;
  memcpy(&commands, at + 8, 4);
  memcpy(&size, at + 12, 4);
  if (size != bytes) return BAD_STREAM;
  va_list list;
  va_start(list, outputs);
  for (int i = 0; i < inputs; i++) spaces[INPUT][i] = va_arg(list, void *);
  for (int i = 0; i < outputs; i++) spaces[OUTPUT][i] = va_arg(list, void *);
  va_end(list);
  spaces[WEIGHTS][0] = (char *)(uintptr_t)weights;
  spaces[SCRATCH][0] = scratch;
  at += 16;
  for (uint32_t i = 0; i < commands; i++) {
    uint16_t head[4];
    quern_command c = {0};
    if (end - at < 8) return BAD_STREAM;
    memcpy(head, at, 8);
    at += 8;
    if (end - at < 16 * (ptrdiff_t)head[1]) return BAD_STREAM;
    c.opcode = head[0];
    for (unsigned k = 0; k < head[1]; k++, at += 16) {
      argument a;
      memcpy(&a, at, sizeof a);
      int status = take(&c, &a, spaces);
      if (status) return status;
    }
    d->used = 0;
    int status = quern_execute(d, &c);
    if (status) return status;
  }
  return 0;
}
