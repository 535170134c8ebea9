/* Memory and queues of Brook. */
#include "brook_device.h"
#include <stdlib.h>
#include <string.h>

static const uintptr_t base = (uintptr_t)3 << 44;
enum { BLOCK_BITS = 36 };

int brook_open(brook_device **out, int64_t queues, int64_t depth, int64_t row, int64_t dram) {
  brook_device *d = calloc(1, sizeof *d);
  if (!d) return NO_MEMORY;
  d->row = malloc((size_t)row * sizeof(float));
  if (!d->row) {
    free(d);
    return NO_MEMORY;
  }
  d->count = queues;
  d->depth = depth;
  d->row_size = row;
  d->left = dram;
  *out = d;
  return 0;
}

int brook_close(brook_device *d) {
  for (int i = 0; i < BLOCKS; i++) free(d->blocks[i]);
  free(d->row);
  free(d);
  return 0;
}

const char *brook_text(int status) {
  switch (status) {
  case NO_MEMORY: return "the device has not so much memory";
  case BAD_ADDRESS: return "an address is not in the device's memory";
  case BAD_QUEUE: return "a queue or ticket is unknown";
  case BAD_ROW: return "a row is longer than the buffer";
  default: return "unknown status";
  }
}

int brook_allocate(brook_device *d, size_t bytes, void **address) {
  if ((int64_t)bytes > d->left) return NO_MEMORY;
  for (int i = 0; i < BLOCKS; i++) {
    if (d->blocks[i]) continue;
    d->blocks[i] = malloc(bytes ? bytes : 1);
    if (!d->blocks[i]) return NO_MEMORY;
    memset(d->blocks[i], 0xff, bytes);
    d->sizes[i] = bytes;
    d->left -= (int64_t)bytes;
    *address = (void *)(base + ((uintptr_t)i << BLOCK_BITS));
    return 0;
  }
  return NO_MEMORY;
}

int brook_free(brook_device *d, void *address) {
  uintptr_t i = ((uintptr_t)address - base) >> BLOCK_BITS;
  if ((uintptr_t)address < base || i >= BLOCKS || !d->blocks[i]) return BAD_ADDRESS;
  free(d->blocks[i]);
  d->blocks[i] = NULL;
  d->left += (int64_t)d->sizes[i];
  return 0;
}

void *brook_at(brook_device *d, const void *address, int64_t bytes) {
  if ((uintptr_t)address < base || bytes < 0) return NULL;
  uintptr_t place = (uintptr_t)address - base, block = place >> BLOCK_BITS;
  place &= ((uintptr_t)1 << BLOCK_BITS) - 1;
  if (block >= BLOCKS || !d->blocks[block] || place + (uintptr_t)bytes > d->sizes[block]) return NULL;
  return d->blocks[block] + place;
}

/* Does the work of a queue until so many of its commands are done. */
static void run(brook_device *d, int64_t queue, int64_t until) {
  brook_queue *q = &d->queues[queue];
  while (q->done < until) {
    brook_command c = q->commands[q->done % d->depth];
    if (c.opcode == AFTER) run(d, c.ticket % QUEUES, c.ticket / QUEUES);
    else if (!d->status) d->status = brook_execute(d, &c);
    q->done++;
  }
}

static int put(brook_device *d, brook_command c) {
  brook_queue *q = &d->queues[d->current];
  if (q->put - q->done == d->depth) run(d, d->current, q->done + 1);
  q->commands[q->put++ % d->depth] = c;
  return 0;
}

int brook_wait(brook_device *d) {
  for (int64_t i = d->count - 1; i >= 0; i--) run(d, i, d->queues[i].put);
  int status = d->status;
  d->status = 0;
  return status;
}

int brook_submit(brook_device *d, int64_t *ticket) {
  *ticket = d->queues[d->current].put * QUEUES + d->current;
  return 0;
}

int brook_wait_for(brook_device *d, int64_t ticket) {
  if (ticket < 0 || ticket % QUEUES >= d->count) return BAD_QUEUE;
  run(d, ticket % QUEUES, ticket / QUEUES);
  int status = d->status;
  d->status = 0;
  return status;
}

int brook_select(brook_device *d, int64_t queue) {
  if (queue < 0 || queue >= d->count) return BAD_QUEUE;
  d->current = queue;
  return 0;
}

int brook_after(brook_device *d, int64_t ticket) {
  if (ticket < 0 || ticket % QUEUES >= d->count) return BAD_QUEUE;
  if (ticket % QUEUES == d->current) return 0;
  return put(d, (brook_command){.opcode = AFTER, .ticket = ticket});
}

int brook_copy_in(brook_device *d, void *to, const void *from, size_t bytes) {
  return put(d, (brook_command){.opcode = COPY_IN, .in = {from}, .out = to, .n = {(int64_t)bytes}});
}

int brook_copy_out(brook_device *d, void *to, const void *from, size_t bytes) {
  return put(d, (brook_command){.opcode = COPY_OUT, .in = {from}, .out = to, .n = {(int64_t)bytes}});
}

int brook_copy(brook_device *d, void *to, const void *from, size_t bytes) {
  return put(d, (brook_command){.opcode = COPY, .in = {from}, .out = to, .n = {(int64_t)bytes}});
}

/* A shape as four dimensions, ones in front. */
static void widen(int64_t *to, const int64_t *shape, int64_t rank) {
  for (int i = 0; i < 4; i++) to[i] = i < 4 - rank ? 1 : shape[i - (4 - rank)];
}

int brook_product(brook_device *d, const float *a, const float *b, const float *c, float *y, const brook_product_work *w) {
  brook_command k = {.opcode = PRODUCT, .in = {a, b, c}, .out = y};
  widen(k.n, w->a, w->a_rank);
  widen(k.n + 4, w->b, w->b_rank);
  k.n[8] = w->act;
  return put(d, k);
}

int brook_gemm(brook_device *d, const float *a, const float *b, const float *c, float *y, const brook_gemm_work *w) {
  return put(d, (brook_command){
                    .opcode = GEMM, .in = {a, b, c}, .out = y,
                    .n = {w->rows, w->columns, w->inner, w->trans_a, w->trans_b, w->c_rows, w->c_columns}, .f = {w->alpha, w->beta}});
}

int brook_softmax(brook_device *d, const float *x, const float *mask, float *y, int64_t rows, int64_t size, int64_t mask_rows, float factor) {
  return put(d, (brook_command){.opcode = SOFTMAX, .in = {x, mask}, .out = y, .n = {rows, size, mask_rows}, .f = {factor}});
}

int brook_layer_norm(brook_device *d, const float *x, const float *scale, const float *shift, float *y, int64_t rows, int64_t size,
                     float epsilon) {
  return put(d, (brook_command){.opcode = NORM, .in = {x, scale, shift}, .out = y, .n = {rows, size, 1}, .f = {epsilon}});
}

int brook_rms_norm(brook_device *d, const float *x, const float *scale, float *y, int64_t rows, int64_t size, float epsilon) {
  return put(d, (brook_command){.opcode = NORM, .in = {x, scale}, .out = y, .n = {rows, size, 0}, .f = {epsilon}});
}

int brook_embed(brook_device *d, const float *table, const void *ids, float *y, int64_t rows, int64_t size, int64_t count, bool wide) {
  return put(d, (brook_command){.opcode = EMBED, .in = {table, ids}, .out = y, .n = {rows, size, count, wide}});
}

int brook_binary(brook_device *d, const float *a, const float *b, float *y, const brook_binary_work *w) {
  brook_command k = {.opcode = BINARY, .in = {a, b}, .out = y};
  widen(k.n, w->a, w->a_rank);
  widen(k.n + 4, w->b, w->b_rank);
  k.n[8] = w->function;
  return put(d, k);
}

int brook_unary(brook_device *d, const float *x, float *y, int64_t count, int64_t function) {
  return put(d, (brook_command){.opcode = UNARY, .in = {x}, .out = y, .n = {count, function}});
}

int brook_reduce(brook_device *d, const float *x, float *y, const int64_t *shape, int64_t rank, int64_t axis, int64_t function) {
  int64_t outer = 1, inner = 1;
  if (axis < 0) axis += rank;
  for (int64_t i = 0; i < axis; i++) outer *= shape[i];
  for (int64_t i = axis + 1; i < rank; i++) inner *= shape[i];
  return put(d, (brook_command){.opcode = REDUCE, .in = {x}, .out = y, .n = {outer, shape[axis], inner, function}});
}

int brook_transpose(brook_device *d, const void *x, void *y, const int64_t *shape, const int64_t *perm, int64_t rank) {
  brook_command k = {.opcode = TRANSPOSE, .in = {x}, .out = y};
  widen(k.n, shape, rank);
  for (int i = 0; i < 4; i++) k.n[4 + i] = i < 4 - rank ? i : perm[i - (4 - rank)] + (4 - rank);
  return put(d, k);
}

int brook_choose(brook_device *d, const bool *c, const float *a, const float *b, float *y, int64_t count, int64_t step) {
  return put(d, (brook_command){.opcode = CHOOSE, .in = {c, a, b}, .out = y, .n = {count, step}});
}

int brook_join(brook_device *d, const void *a, const void *b, void *y, int64_t outer, int64_t a_size, int64_t b_size) {
  return put(d, (brook_command){.opcode = JOIN, .in = {a, b}, .out = y, .n = {outer, a_size, b_size}});
}
