/*===- gemm16_layers.c - Blocks and layers as commands -------------*- C
 * -*-===*/

#include "gemm16_device.h"

#include <string.h>

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t rows_of(uint32_t elements) {
  return (elements + DIM - 1) / DIM;
}

/*===------------------------------- Blocks
 * ---------------------------------===*/

/** A move of a block: its commands differ in place and size only. */
typedef struct mover {
  gemm16_device *device;
  gemm16_command command;
  uint8_t *host;
  /** Bytes of an element in the host's memory and in the memory of the device.
   */
  uint32_t element, own;
  /** For stores. */
  const gemm16_output *output;
} mover;

/* Rows of the host's memory, `host` bytes apart, from or to rows of the device
 * that are `tile` bytes apart; `at` counts elements before them in their run.
 */
static int move_rows(mover *m, int64_t host, int64_t tile, uint32_t rows,
                     uint32_t columns, int64_t host_step, int64_t tile_step,
                     uint32_t at) {
  const int64_t row = (int64_t)m->own * DIM;
  if (tile < 0 || tile_step < 0 || tile % row || (rows > 1 && tile_step % row))
    return GEMM16_ERR_ALIGNMENT;
  if (tile / row > UINT32_MAX || tile_step / row > UINT32_MAX)
    return GEMM16_ERR_BOUNDS;
  for (uint32_t done = 0; done < rows; done += DIM) {
    gemm16_command c = m->command;
    c.row = (uint32_t)((tile + done * tile_step) / row);
    c.step = (uint32_t)(tile_step / row);
    c.rows = smaller(DIM, rows - done);
    c.columns = columns;
    c.host_stride = host_step;
    uint8_t *host_row = m->host + host + done * host_step;
    c.source = host_row;
    c.target = host_row;
    if (m->output)
      for (uint32_t k = 0; k < columns; k++)
        c.scale[k] = m->output->scales[(at + k) % m->output->channels];
    int status = gemm16_enqueue(m->device, &c);
    if (status != GEMM16_OK)
      return status;
  }
  return GEMM16_OK;
}

/* Adjacent elements, which are adjacent rows: `columns` of each pixel. */
static int move_run(mover *m, int64_t host, int64_t tile, uint32_t elements) {
  /* A pixel of what is loaded is a row. Stores have scales for a whole one. */
  const uint32_t pixel = m->output ? m->output->channels : DIM;
  if (m->output && elements % pixel)
    return GEMM16_ERR_ARGUMENT;
  const uint32_t pixels = elements / pixel, rest = elements % pixel;
  const int64_t host_pixel = (int64_t)pixel * m->element;
  const int64_t tile_row = (int64_t)DIM * m->own;
  const int64_t tile_pixel = rows_of(pixel) * tile_row;
  for (uint32_t at = 0; at < pixel && pixels > 0; at += DIM) {
    int status = move_rows(
        m, host + (int64_t)at * m->element, tile + at / DIM * tile_row, pixels,
        smaller(DIM, pixel - at), host_pixel, tile_pixel, at);
    if (status != GEMM16_OK)
      return status;
  }
  if (!rest)
    return GEMM16_OK;
  return move_rows(m, host + pixels * host_pixel, tile + pixels * tile_pixel, 1,
                   rest, host_pixel, tile_row, 0);
}

static int move_block(mover *m, uint32_t tile, const gemm16_block *b) {
  const uint32_t run = b->count[3];
  if (run == 0 || b->count[0] == 0 || b->count[1] == 0 || b->count[2] == 0)
    return GEMM16_ERR_ARGUMENT;
  for (uint32_t i = 0; i < b->count[0]; i++)
    for (uint32_t j = 0; j < b->count[1]; j++) {
      int64_t host = i * b->host_stride[0] + j * b->host_stride[1];
      int64_t at = tile + i * b->tile_stride[0] + j * b->tile_stride[1];
      int status = GEMM16_OK;
      if (run <= DIM)
        status = move_rows(m, host, at, b->count[2], run, b->host_stride[2],
                           b->tile_stride[2], 0);
      else
        for (uint32_t k = 0; k < b->count[2] && status == GEMM16_OK; k++)
          status = move_run(m, host + k * b->host_stride[2],
                            at + k * b->tile_stride[2], run);
      if (status != GEMM16_OK)
        return status;
    }
  return GEMM16_OK;
}

static int load(gemm16_device *device, uint32_t tile, const void *host,
                const gemm16_block *block, uint32_t channel, uint32_t opcode,
                uint32_t element) {
  if (!device || !host || !block || block->element != element)
    return GEMM16_ERR_ARGUMENT;
  mover m = {.device = device,
             .command = {.opcode = opcode, .channel = channel},
             .host = (uint8_t *)(uintptr_t)host,
             .element = element,
             .own = element};
  return move_block(&m, tile, block);
}

int gemm16_load(gemm16_device *device, uint32_t tile, const void *host,
                const gemm16_block *block, uint32_t channel) {
  return load(device, tile, host, block, channel, GEMM16_MVIN, 1);
}

int gemm16_load_sums(gemm16_device *device, uint32_t tile, const void *host,
                     const gemm16_block *block, uint32_t channel) {
  return load(device, tile, host, block, channel, GEMM16_MVIN_ACCUMULATOR, 4);
}

int gemm16_store(gemm16_device *device, uint32_t tile, int8_t *host,
                 const gemm16_block *block, const gemm16_output *output,
                 uint32_t channel) {
  if (!device || !host || !block || !output || !output->scales ||
      output->channels == 0 || block->element != 1)
    return GEMM16_ERR_ARGUMENT;
  mover m = {.device = device,
             .command = {.opcode = GEMM16_MVOUT,
                         .channel = channel,
                         .zero = output->zero,
                         .least = output->least,
                         .most = output->most},
             .host = (uint8_t *)host,
             .element = 1,
             .own = 4,
             .output = output};
  return move_block(&m, tile, block);
}

/*===------------------------------- Layers
 * ---------------------------------===*/

/** A layer with its operands as rows, and how many rows a pixel has. */
typedef struct work {
  gemm16_device *device;
  const gemm16_layer *layer;
  uint32_t x, w, bias, y, in_rows, out_rows;
} work;

/** Output columns [begin, end) of one row, and what they read for one tap. */
typedef struct span {
  uint32_t begin, end, row;
} span;

/* Input of columns [from, to) of output row `i` through tap (p, q): only
 * columns with their input in the image. */
static span reach(const work *k, uint32_t i, uint32_t p, uint32_t q,
                  uint32_t from, uint32_t to) {
  const gemm16_layer *l = k->layer;
  span found = {from, from, 0};
  const int64_t row =
      (int64_t)i * l->stride_h - l->pad_top + (int64_t)p * l->dilation_h;
  if (row < 0 || row >= l->in_h)
    return found;
  const int64_t at = (int64_t)q * l->dilation_w - l->pad_left;
  while (from < to && (int64_t)from * l->stride_w + at < 0)
    from++;
  while (to > from && (int64_t)(to - 1) * l->stride_w + at >= l->in_w)
    to--;
  const int64_t column = (int64_t)from * l->stride_w + at;
  found.begin = from;
  found.end = to;
  if (from < to)
    found.row = (uint32_t)(row * l->in_w + column) * k->in_rows;
  return found;
}

/* A product of a row of pixels with one block of weights. */
static gemm16_command multiply(const work *k, const span *s, uint32_t block,
                               uint32_t columns) {
  const gemm16_layer *l = k->layer;
  gemm16_command c = {.row = k->x + s->row + block,
                      .step = l->stride_w * k->in_rows,
                      .rows = s->end - s->begin,
                      .columns = columns,
                      .inner = smaller(DIM, l->in_c - block * DIM),
                      .zero = l->zero};
  return c;
}

/* The rows of the weights of a tap, from a block of input channels on. */
static uint32_t weights_of(const work *k, uint32_t p, uint32_t q,
                           uint32_t block, uint32_t out_block) {
  const gemm16_layer *l = k->layer;
  const uint32_t tap = p * l->kernel_w + q;
  return k->w + (tap * l->in_c + block * DIM) * k->out_rows + out_block;
}

static uint32_t sums_of(const work *k, uint32_t i, uint32_t j,
                        uint32_t out_block) {
  return k->y + (i * k->layer->out_w + j) * k->out_rows + out_block;
}

/* The bias, or zeros, in all sums of a block of output channels. */
static int begin(const work *k, uint32_t out_block, uint32_t columns) {
  const gemm16_layer *l = k->layer;
  const uint32_t pixels = l->out_h * l->out_w;
  for (uint32_t i = 0; i < pixels; i += DIM) {
    gemm16_command c = {.opcode = GEMM16_FILL,
                        .row = sums_of(k, 0, i, out_block),
                        .step = k->out_rows,
                        .rows = smaller(DIM, pixels - i),
                        .columns = columns,
                        .other =
                            l->has_bias ? k->bias + out_block : GEMM16_NONE};
    int status = gemm16_enqueue(k->device, &c);
    if (status != GEMM16_OK)
      return status;
  }
  return GEMM16_OK;
}

/* One block of weights stays, all pixels go by. */
static int stream_pixels(const work *k, uint32_t p, uint32_t q, uint32_t block,
                         uint32_t out_block, uint32_t columns) {
  const gemm16_layer *l = k->layer;
  gemm16_command load = {.opcode = GEMM16_PRELOAD,
                         .row = weights_of(k, p, q, block, out_block),
                         .step = k->out_rows,
                         .rows = smaller(DIM, l->in_c - block * DIM),
                         .columns = columns};
  int status = gemm16_enqueue(k->device, &load);
  for (uint32_t i = 0; i < l->out_h; i++)
    for (uint32_t j = 0; j < l->out_w && status == GEMM16_OK; j += DIM) {
      span s = reach(k, i, p, q, j, smaller(l->out_w, j + DIM));
      if (s.begin == s.end)
        continue;
      gemm16_command c = multiply(k, &s, block, columns);
      c.opcode = GEMM16_COMPUTE;
      c.other = sums_of(k, i, s.begin, out_block);
      c.other_step = k->out_rows;
      status = gemm16_enqueue(k->device, &c);
    }
  return status;
}

/* The sums of up to 16 pixels stay, all weights go by. */
static int stream_weights(const work *k, uint32_t i, uint32_t j,
                          uint32_t out_block, uint32_t columns) {
  const gemm16_layer *l = k->layer;
  const uint32_t to = smaller(l->out_w, j + DIM);
  int status = GEMM16_OK;
  for (uint32_t p = 0; p < l->kernel_h; p++)
    for (uint32_t q = 0; q < l->kernel_w; q++) {
      span s = reach(k, i, p, q, j, to);
      if (s.begin == s.end)
        continue;
      for (uint32_t b = 0; b < k->in_rows && status == GEMM16_OK; b++) {
        gemm16_command c = multiply(k, &s, b, columns);
        c.opcode = GEMM16_COMPUTE_IN_PLACE;
        c.first = s.begin - j;
        c.weights = weights_of(k, p, q, b, out_block);
        c.weight_step = k->out_rows;
        status = gemm16_enqueue(k->device, &c);
      }
    }
  if (status != GEMM16_OK)
    return status;
  gemm16_command flush = {.opcode = GEMM16_FLUSH,
                          .other = sums_of(k, i, j, out_block),
                          .other_step = k->out_rows,
                          .rows = to - j,
                          .columns = columns};
  return gemm16_enqueue(k->device, &flush);
}

static int compute_block(const work *k, uint32_t out_block, uint32_t columns) {
  const gemm16_layer *l = k->layer;
  int status = GEMM16_OK;
  if (k->device->outputs_stay) {
    for (uint32_t i = 0; i < l->out_h; i++)
      for (uint32_t j = 0; j < l->out_w && status == GEMM16_OK; j += DIM)
        status = stream_weights(k, i, j, out_block, columns);
    return status;
  }
  for (uint32_t p = 0; p < l->kernel_h; p++)
    for (uint32_t q = 0; q < l->kernel_w; q++)
      for (uint32_t b = 0; b < k->in_rows && status == GEMM16_OK; b++)
        status = stream_pixels(k, p, q, b, out_block, columns);
  return status;
}

/* Sizes of which no product is beyond what memories and counters hold. */
static bool is_sized(const gemm16_layer *l) {
  const uint32_t most = 65536;
  const uint32_t sizes[] = {l->in_h,     l->in_w,       l->in_c,
                            l->out_h,    l->out_w,      l->out_c,
                            l->kernel_h, l->kernel_w,   l->stride_h,
                            l->stride_w, l->dilation_h, l->dilation_w};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i] == 0 || sizes[i] > most)
      return false;
  const uint64_t pixels = (uint64_t)l->in_h * l->in_w;
  const uint64_t sums = (uint64_t)l->out_h * l->out_w;
  const uint64_t taps = (uint64_t)l->kernel_h * l->kernel_w;
  return l->pad_top <= most && l->pad_left <= most &&
         pixels * rows_of(l->in_c) <= SCRATCHPAD_ROWS &&
         taps * l->in_c * rows_of(l->out_c) <= SCRATCHPAD_ROWS &&
         sums * rows_of(l->out_c) <= ACCUMULATOR_ROWS;
}

int gemm16_compute(gemm16_device *device, const gemm16_layer *layer, uint32_t x,
                   uint32_t w, uint32_t bias, uint32_t y) {
  if (!device || !layer)
    return GEMM16_ERR_ARGUMENT;
  if (!is_sized(layer))
    return GEMM16_ERR_BOUNDS;
  if (x % DIM || w % DIM || bias % (4 * DIM) || y % (4 * DIM))
    return GEMM16_ERR_ALIGNMENT;
  gemm16_layer l = *layer;
  /* A product with the pixels of an image is one with a row of pixels. */
  if (l.kernel_h == 1 && l.kernel_w == 1 && l.stride_h == 1 &&
      l.stride_w == 1 && l.pad_top == 0 && l.pad_left == 0 &&
      l.in_h == l.out_h && l.in_w == l.out_w) {
    l.in_w *= l.in_h;
    l.out_w = l.in_w;
    l.in_h = l.out_h = 1;
  }
  work k = {device,           &l,
            x / DIM,          w / DIM,
            bias / (4 * DIM), y / (4 * DIM),
            rows_of(l.in_c),  rows_of(l.out_c)};
  for (uint32_t b = 0; b < k.out_rows; b++) {
    const uint32_t columns = smaller(DIM, l.out_c - b * DIM);
    int status = l.first ? begin(&k, b, columns) : GEMM16_OK;
    if (status == GEMM16_OK)
      status = compute_block(&k, b, columns);
    if (status != GEMM16_OK)
      return status;
  }
  return GEMM16_OK;
}
