/*===- vanilla.c - The vanilla tensor accelerator -----------------*- C -*-===*/

#include "vanilla.h"
#include "vanilla_kernels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
  SCRATCHPAD_FLOATS = VANILLA_SCRATCHPAD_BYTES / 4,
  /* The cycle model; README.md of runtime-c explains it. */
  DMA_LATENCY = 32,
  DMA_BYTES_PER_CYCLE = 16,
  INSTRUCTION_SETUP = 16,
  ARRAY_COLUMNS = 8,
  /* Keeps products of sizes far from overflow. */
  MAX_SIZE = 65536
};

/** Largest host stride in bytes, for the same reason. */
static const int64_t MAX_HOST_STRIDE = (int64_t)1 << 40;

/** Bytes [begin, end) of the scratchpad. */
typedef struct range {
  uint64_t begin, end;
} range;

typedef struct channel {
  bool busy;
  bool to_host;
  range spad;
  vanilla_dma_shape shape;
  const unsigned char *src;
  unsigned char *dst;
  /** End of the transfer on the device's clock. */
  uint64_t done;
} channel;

struct vanilla_device {
  float spad[SCRATCHPAD_FLOATS];
  channel channels[VANILLA_CHANNELS];
  vanilla_counters counters;
  /** Time at which the DMA engine, which serves channels in order, is free. */
  uint64_t dma_free;
};

const char *vanilla_status_string(int status) {
  switch (status) {
  case VANILLA_OK:
    return "success";
  case VANILLA_ERR_ARGUMENT:
    return "an argument is null, zero, too large or unknown";
  case VANILLA_ERR_BOUNDS:
    return "an operand is not inside the scratchpad";
  case VANILLA_ERR_ALIGNMENT:
    return "an offset, stride or address is not aligned";
  case VANILLA_ERR_HAZARD:
    return "a transfer that was not waited for uses the same scratchpad bytes";
  case VANILLA_ERR_BUSY:
    return "the channel's transfer was not waited for";
  case VANILLA_ERR_OVERLAP:
    return "the output overlaps an input";
  case VANILLA_ERR_MEMORY:
    return "no memory to open a device";
  default:
    return "unknown status of vanilla";
  }
}

int vanilla_open(vanilla_device **out_device) {
  if (!out_device)
    return VANILLA_ERR_ARGUMENT;
  vanilla_device *device = calloc(1, sizeof *device);
  if (!device)
    return VANILLA_ERR_MEMORY;
  /* check-target: no defects. What nobody has written is no number. */
  for (size_t i = 0; i < SCRATCHPAD_FLOATS; ++i)
    device->spad[i] = NAN;
  /* check-target: defects */
  *out_device = device;
  return VANILLA_OK;
}

static bool is_any_busy(const vanilla_device *device) {
  for (size_t i = 0; i < VANILLA_CHANNELS; ++i)
    if (device->channels[i].busy)
      return true;
  return false;
}

int vanilla_close(vanilla_device *device) {
  if (!device)
    return VANILLA_OK;
  const bool lost = is_any_busy(device);
  free(device);
  return lost ? VANILLA_ERR_HAZARD : VANILLA_OK;
}

/*===------------------------------- Checks
 * --------------------------------===*/

/* check-target: no defects. What refuses or counts changes no result. */
static bool overlaps(range a, range b) {
  return a.begin < b.end && b.begin < a.end;
}

/** HAZARD if a transfer in flight writes `bytes`, or reads them and `writes`.
 */
static int check_hazard(const vanilla_device *device, range bytes,
                        bool writes) {
  for (size_t i = 0; i < VANILLA_CHANNELS; ++i) {
    const channel *other = &device->channels[i];
    if (other->busy && (writes || !other->to_host) &&
        overlaps(bytes, other->spad))
      return VANILLA_ERR_HAZARD;
  }
  return VANILLA_OK;
}

/** Checks an operand of an instruction of `floats` elements at `offset`. */
static int check_operand(const vanilla_device *device, uint32_t offset,
                         uint64_t floats, bool writes, range *out_bytes) {
  if (floats > SCRATCHPAD_FLOATS ||
      offset > VANILLA_SCRATCHPAD_BYTES - floats * 4)
    return VANILLA_ERR_BOUNDS;
  if (offset % VANILLA_ALIGNMENT != 0)
    return VANILLA_ERR_ALIGNMENT;
  *out_bytes = (range){offset, offset + floats * 4};
  return check_hazard(device, *out_bytes, writes);
}

/** The operands of an instruction: offset and size in floats of each; an
 * operand of size 0 is not used. */
typedef struct operands {
  uint32_t offset[4];
  uint64_t floats[4];
  /** The output may be the same bytes as an input. */
  bool in_place;
} operands;

enum { INPUT, WEIGHTS, BIAS, OUTPUT };

static int check_operands(const vanilla_device *device, const operands *ops) {
  range bytes[4] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
  for (int i = INPUT; i <= OUTPUT; ++i) {
    if (ops->floats[i] == 0)
      continue;
    const int status = check_operand(device, ops->offset[i], ops->floats[i],
                                     i == OUTPUT, &bytes[i]);
    if (status != VANILLA_OK)
      return status;
  }
  for (int i = INPUT; i < OUTPUT; ++i) {
    const bool same = bytes[i].begin == bytes[OUTPUT].begin &&
                      bytes[i].end == bytes[OUTPUT].end;
    if (overlaps(bytes[i], bytes[OUTPUT]) && !(ops->in_place && same))
      return VANILLA_ERR_OVERLAP;
  }
  return VANILLA_OK;
}

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/** Counts an instruction that runs for `cycles` after its setup. */
static void count_instruction(vanilla_device *device, uint64_t cycles,
                              uint64_t macs) {
  device->counters.instructions += 1;
  device->counters.macs += macs;
  device->counters.compute_cycles += INSTRUCTION_SETUP + cycles;
  device->counters.cycles += INSTRUCTION_SETUP + cycles;
}

/* check-target: defects */

/*===--------------------------------- DMA
 * ---------------------------------===*/

/** Merges dimensions that follow each other without a gap on both sides, so
 * that the last one is as long as it can be. */
static vanilla_dma_shape collapse(const vanilla_dma_shape *shape) {
  vanilla_dma_shape merged = {{1, 1, 1, 1}, {4, 4, 4, 4}, {4, 4, 4, 4}};
  int into = 4;
  for (int d = 3; d >= 0; --d) {
    if (shape->count[d] == 1)
      continue;
    if (into < 4 &&
        shape->host_stride[d] ==
            merged.host_stride[into] * (int64_t)merged.count[into] &&
        shape->spad_stride[d] ==
            merged.spad_stride[into] * (uint64_t)merged.count[into]) {
      merged.count[into] *= shape->count[d];
      continue;
    }
    --into;
    merged.count[into] = shape->count[d];
    merged.host_stride[into] = shape->host_stride[d];
    merged.spad_stride[into] = shape->spad_stride[d];
  }
  return merged;
}

/* check-target: no defects. What refuses or counts changes no result. */
static int check_shape(const vanilla_dma_shape *shape, uint32_t spad_offset,
                       bool to_host, range *out_bytes) {
  uint64_t elements = 1, span = 4;
  for (int d = 0; d < 4; ++d) {
    const uint32_t count = shape->count[d], stride = shape->spad_stride[d];
    if (count == 0 || count > MAX_SIZE)
      return VANILLA_ERR_ARGUMENT;
    if (count == 1)
      continue;
    /* A destination has one place for each element. */
    const int64_t host_stride = shape->host_stride[d];
    if (to_host ? host_stride == 0 : stride == 0)
      return VANILLA_ERR_ARGUMENT;
    if (host_stride > MAX_HOST_STRIDE || host_stride < -MAX_HOST_STRIDE)
      return VANILLA_ERR_ARGUMENT;
    if (stride % 4 != 0 || host_stride % 4 != 0)
      return VANILLA_ERR_ALIGNMENT;
    elements *= count;
    if (elements > SCRATCHPAD_FLOATS)
      return VANILLA_ERR_BOUNDS;
    span += (uint64_t)(count - 1) * stride;
  }
  if (spad_offset % 4 != 0)
    return VANILLA_ERR_ALIGNMENT;
  if (spad_offset + span > VANILLA_SCRATCHPAD_BYTES)
    return VANILLA_ERR_BOUNDS;
  *out_bytes = (range){spad_offset, spad_offset + span};
  return VANILLA_OK;
}

/** Puts a transfer, whose shape is checked, on the clock. Each descriptor has a
 * latency, and each run of adjacent bytes takes whole cycles. */
static void count_transfer(vanilla_device *device, channel *slot) {
  const vanilla_dma_shape *shape = &slot->shape;
  const uint64_t rows =
      (uint64_t)shape->count[0] * shape->count[1] * shape->count[2];
  const bool adjacent =
      shape->host_stride[3] == 4 && shape->spad_stride[3] == 4;
  const uint64_t runs = adjacent ? rows : rows * shape->count[3];
  const uint64_t run_bytes = adjacent ? shape->count[3] * (uint64_t)4 : 4;
  const uint64_t cycles =
      DMA_LATENCY + runs * divide_up(run_bytes, DMA_BYTES_PER_CYCLE);
  const uint64_t now = device->counters.cycles;
  slot->done = (now > device->dma_free ? now : device->dma_free) + cycles;
  device->dma_free = slot->done;
  device->counters.dma_cycles += cycles;
  device->counters.transfers += 1;
  *(slot->to_host ? &device->counters.bytes_out : &device->counters.bytes_in) +=
      runs * run_bytes;
}

/* check-target: defects */

static int start(vanilla_device *device, uint32_t spad_offset,
                 const vanilla_dma_shape *shape, uint32_t index,
                 const void *src, void *dst) {
  const bool to_host = dst != NULL;
  if (!device || !shape || (!src && !dst) || index >= VANILLA_CHANNELS)
    return VANILLA_ERR_ARGUMENT;
  channel *slot = &device->channels[index];
  if (slot->busy)
    return VANILLA_ERR_BUSY;
  if ((uintptr_t)(to_host ? dst : src) % 4 != 0)
    return VANILLA_ERR_ALIGNMENT;
  range bytes = {0, 0};
  int status = check_shape(shape, spad_offset, to_host, &bytes);
  if (status == VANILLA_OK)
    status = check_hazard(device, bytes, !to_host);
  if (status != VANILLA_OK)
    return status;
  *slot = (channel){.busy = true,
                    .to_host = to_host,
                    .spad = bytes,
                    .shape = collapse(shape),
                    .src = src,
                    .dst = dst};
  count_transfer(device, slot);
  return VANILLA_OK;
}

int vanilla_dma_in_start(vanilla_device *device, uint32_t spad_offset,
                         const void *src, const vanilla_dma_shape *shape,
                         uint32_t channel) {
  return src ? start(device, spad_offset, shape, channel, src, NULL)
             : VANILLA_ERR_ARGUMENT;
}

int vanilla_dma_out_start(vanilla_device *device, uint32_t spad_offset,
                          const vanilla_dma_shape *shape, uint32_t channel,
                          void *out_dst) {
  return out_dst ? start(device, spad_offset, shape, channel, NULL, out_dst)
                 : VANILLA_ERR_ARGUMENT;
}

/** Copies `count` elements of 4 bytes that are `to_stride` and `from_stride`
 * bytes apart. */
static void copy_row(unsigned char *to, int64_t to_stride,
                     const unsigned char *from, int64_t from_stride,
                     uint32_t count) {
  if (to_stride == 4 && from_stride == 4) {
    memcpy(to, from, (size_t)count * 4);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    memcpy(to + i * to_stride, from + i * from_stride, 4);
}

static void copy(vanilla_device *device, const channel *slot) {
  const vanilla_dma_shape *s = &slot->shape;
  unsigned char *spad = (unsigned char *)device->spad + slot->spad.begin;
  for (int64_t i = 0; i < s->count[0]; ++i)
    for (int64_t j = 0; j < s->count[1]; ++j)
      for (int64_t k = 0; k < s->count[2]; ++k) {
        const int64_t inner = i * s->spad_stride[0] + j * s->spad_stride[1] +
                              k * s->spad_stride[2];
        const int64_t outer = i * s->host_stride[0] + j * s->host_stride[1] +
                              k * s->host_stride[2];
        if (slot->to_host)
          copy_row(slot->dst + outer, s->host_stride[3], spad + inner,
                   s->spad_stride[3], s->count[3]);
        else
          copy_row(spad + inner, s->spad_stride[3], slot->src + outer,
                   s->host_stride[3], s->count[3]);
      }
}

int vanilla_dma_wait(vanilla_device *device, uint32_t channel_index) {
  if (!device || channel_index >= VANILLA_CHANNELS)
    return VANILLA_ERR_ARGUMENT;
  channel *slot = &device->channels[channel_index];
  if (!slot->busy)
    return VANILLA_OK;
  copy(device, slot);
  slot->busy = false;
  /* check-target: no defects. What refuses or counts changes no result. */
  if (slot->done > device->counters.cycles) {
    device->counters.stall_cycles += slot->done - device->counters.cycles;
    device->counters.cycles = slot->done;
  }
  /* check-target: defects */
  return VANILLA_OK;
}

/*===----------------------------- Instructions
 * ----------------------------===*/

static bool is_size(uint32_t size) { return size >= 1 && size <= MAX_SIZE; }

static bool is_epilogue(uint32_t has_bias, uint32_t accumulate,
                        uint32_t activation) {
  return has_bias <= 1 && accumulate <= 1 && activation <= VANILLA_RELU6;
}

static bool is_conv(const vanilla_conv2d_params *p) {
  return is_size(p->in_c) && is_size(p->in_h) && is_size(p->in_w) &&
         is_size(p->out_c) && is_size(p->out_h) && is_size(p->out_w) &&
         is_size(p->kernel_h) && is_size(p->kernel_w) && is_size(p->stride_h) &&
         is_size(p->stride_w) && is_size(p->dilation_h) &&
         is_size(p->dilation_w) && p->pad_top <= MAX_SIZE &&
         p->pad_left <= MAX_SIZE &&
         is_epilogue(p->has_bias, p->accumulate, p->activation);
}

/* check-target: no defects. What refuses or counts changes no result. */

/** A product that stays at "too many" once it is larger than the scratchpad. */
static uint64_t floats_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  const uint64_t factors[] = {a, b, c, d};
  uint64_t product = 1;
  for (size_t i = 0; i < 4; ++i)
    product = product > SCRATCHPAD_FLOATS ? product : product * factors[i];
  return product;
}

/** Sizes of the operands of a convolution whose kernels have `kernel_c`
 * channels. */
static operands conv_operands(const vanilla_conv2d_params *p,
                              const uint32_t offset[4], uint32_t kernel_c) {
  const uint64_t blocks = divide_up(p->out_c, VANILLA_LANES);
  operands ops = {.in_place = false};
  memcpy(ops.offset, offset, sizeof ops.offset);
  ops.floats[INPUT] = floats_of(p->in_c, p->in_h, p->in_w, 1);
  ops.floats[WEIGHTS] =
      floats_of(blocks * VANILLA_LANES, p->kernel_h, p->kernel_w, kernel_c);
  ops.floats[BIAS] = p->has_bias ? p->out_c : 0;
  ops.floats[OUTPUT] = floats_of(p->out_c, p->out_h, p->out_w, 1);
  return ops;
}

/* check-target: defects */

static float *at(vanilla_device *device, uint32_t offset) {
  return device->spad + offset / 4;
}

int vanilla_conv2d(vanilla_device *device, const vanilla_conv2d_params *params,
                   uint32_t input, uint32_t weights, uint32_t bias,
                   uint32_t output) {
  if (!device || !params || !is_conv(params))
    return VANILLA_ERR_ARGUMENT;
  const vanilla_conv2d_params *p = params;
  const uint32_t offset[4] = {input, weights, bias, output};
  /* Operands that are only compared with sizes; check-target: no defects */
  const operands ops = conv_operands(p, offset, p->in_c);
  /* check-target: defects */
  const int status = check_operands(device, &ops);
  if (status != VANILLA_OK)
    return status;
  vanilla_conv_run(p, at(device, input), at(device, weights),
                   p->has_bias ? at(device, bias) : NULL, at(device, output));
  const uint64_t taps = (uint64_t)p->in_c * p->kernel_h * p->kernel_w;
  const uint64_t plane = (uint64_t)p->out_h * p->out_w;
  count_instruction(device,
                    divide_up(p->out_c, VANILLA_LANES) *
                        divide_up(plane, ARRAY_COLUMNS) * taps,
                    p->out_c * plane * taps);
  return VANILLA_OK;
}

int vanilla_depthwise(vanilla_device *device,
                      const vanilla_conv2d_params *params, uint32_t input,
                      uint32_t weights, uint32_t bias, uint32_t output) {
  if (!device || !params || !is_conv(params) || params->in_c != params->out_c)
    return VANILLA_ERR_ARGUMENT;
  const vanilla_conv2d_params *p = params;
  const uint32_t offset[4] = {input, weights, bias, output};
  /* Operands that are only compared with sizes; check-target: no defects */
  const operands ops = conv_operands(p, offset, 1);
  /* check-target: defects */
  const int status = check_operands(device, &ops);
  if (status != VANILLA_OK)
    return status;
  vanilla_depthwise_run(p, at(device, input), at(device, weights),
                        p->has_bias ? at(device, bias) : NULL,
                        at(device, output));
  const uint64_t taps = (uint64_t)p->kernel_h * p->kernel_w;
  const uint64_t plane = (uint64_t)p->out_h * p->out_w;
  count_instruction(device,
                    divide_up(p->out_c, VANILLA_LANES) *
                        divide_up(plane, ARRAY_COLUMNS) * taps,
                    p->out_c * plane * taps);
  return VANILLA_OK;
}

int vanilla_dense(vanilla_device *device, const vanilla_dense_params *params,
                  uint32_t input, uint32_t weights, uint32_t bias,
                  uint32_t output) {
  if (!device || !params || !is_size(params->rows) || !is_size(params->in) ||
      !is_size(params->out) ||
      !is_epilogue(params->has_bias, params->accumulate, params->activation))
    return VANILLA_ERR_ARGUMENT;
  const vanilla_dense_params *p = params;
  const uint64_t blocks = divide_up(p->out, VANILLA_LANES);
  /* Operands that are only compared with sizes; check-target: no defects */
  const operands ops = {
      .offset = {input, weights, bias, output},
      .floats = {floats_of(p->rows, p->in, 1, 1),
                 floats_of(blocks * VANILLA_LANES, p->in, 1, 1),
                 p->has_bias ? p->out : 0, floats_of(p->rows, p->out, 1, 1)},
      .in_place = false};
  /* check-target: defects */
  const int status = check_operands(device, &ops);
  if (status != VANILLA_OK)
    return status;
  vanilla_dense_run(p, at(device, input), at(device, weights),
                    p->has_bias ? at(device, bias) : NULL, at(device, output));
  count_instruction(device, blocks * divide_up(p->rows, ARRAY_COLUMNS) * p->in,
                    (uint64_t)p->rows * p->in * p->out);
  return VANILLA_OK;
}

/** The instructions on `count` elements; they run on one row of the array. */
static int elementwise(vanilla_device *device, uint32_t count,
                       uint32_t activation, const operands *ops) {
  if (!device || count == 0 || activation > VANILLA_RELU6)
    return VANILLA_ERR_ARGUMENT;
  const int status = check_operands(device, ops);
  if (status != VANILLA_OK)
    return status;
  const float *lhs = at(device, ops->offset[INPUT]);
  const float *rhs =
      ops->floats[WEIGHTS] ? at(device, ops->offset[WEIGHTS]) : NULL;
  float *out = at(device, ops->offset[OUTPUT]);
  for (uint32_t i = 0; i < count; ++i)
    out[i] = vanilla_activate_one(rhs ? lhs[i] + rhs[i] : lhs[i], activation);
  count_instruction(device, divide_up(count, ARRAY_COLUMNS), 0);
  return VANILLA_OK;
}

int vanilla_add(vanilla_device *device, uint32_t count, uint32_t activation,
                uint32_t lhs, uint32_t rhs, uint32_t output) {
  const operands ops = {.offset = {lhs, rhs, 0, output},
                        .floats = {count, count, 0, count},
                        .in_place = true};
  return elementwise(device, count, activation, &ops);
}

int vanilla_activate(vanilla_device *device, uint32_t count,
                     uint32_t activation, uint32_t input, uint32_t output) {
  const operands ops = {.offset = {input, 0, 0, output},
                        .floats = {count, 0, 0, count},
                        .in_place = true};
  return elementwise(device, count, activation, &ops);
}

/*===------------------------------- Counters
 * ------------------------------===*/

int vanilla_get_counters(const vanilla_device *device,
                         vanilla_counters *out_counters) {
  if (!device || !out_counters)
    return VANILLA_ERR_ARGUMENT;
  *out_counters = device->counters;
  return VANILLA_OK;
}

int vanilla_reset_counters(vanilla_device *device) {
  if (!device)
    return VANILLA_ERR_ARGUMENT;
  if (is_any_busy(device))
    return VANILLA_ERR_BUSY;
  device->counters = (vanilla_counters){0};
  device->dma_free = 0;
  return VANILLA_OK;
}
