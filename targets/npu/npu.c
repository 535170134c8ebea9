/*===- npu.c - A simulated command-stream accelerator -------------*- C -*-===*/

#include "npu.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGUMENTS = 32, MAX_BUFFERS = 64, ALIGNMENT = 16 };
enum kind { KIND_INT, KIND_FLOAT, KIND_BUFFER, KIND_NONE };
enum space { SPACE_INPUT, SPACE_OUTPUT, SPACE_WEIGHTS, SPACE_SCRATCH };

struct npu_device {
  npu_counters counters;
  /* Bytes of the SRAM that the running command uses. */
  uint32_t used;
  uint8_t *sram;
};

typedef struct argument {
  enum kind kind;
  int64_t number;
  double real;
  /* A buffer: where it is in the host's memory, and in the SRAM. */
  uint8_t *host;
  void *local;
  uint32_t bytes;
  /* True if it is fetched in bursts of ALIGNMENT bytes. */
  bool burst;
} argument;

/* The memory that a submission was given. */
typedef struct memory {
  uint8_t *inputs[MAX_BUFFERS], *outputs[MAX_BUFFERS];
  uint8_t *weights, *scratch;
  int input_count, output_count;
} memory;

int npu_open(npu_device **out_device) {
  npu_device *device = calloc(1, sizeof *device);
  uint8_t *sram = malloc(NPU_SRAM_BYTES);
  if (!device || !sram) {
    free(device);
    free(sram);
    return NPU_ERR_MEMORY;
  }
  device->sram = sram;
  *out_device = device;
  return NPU_OK;
}

int npu_close(npu_device *device) {
  if (device)
    free(device->sram);
  free(device);
  return NPU_OK;
}

const char *npu_status_string(int status) {
  switch (status) {
  case NPU_OK:
    return "no error";
  case NPU_ERR_MEMORY:
    return "no memory to open the device";
  case NPU_ERR_STREAM:
    return "the command stream is damaged or of another version";
  case NPU_ERR_COMMAND:
    return "a command is unknown or has arguments that do not fit it";
  case NPU_ERR_SRAM:
    return "the operands of a command do not fit into the SRAM";
  default:
    return "unknown status";
  }
}

void npu_read_counters(const npu_device *device, npu_counters *counters) {
  *counters = device->counters;
}

/*===------------------------------ Decoding
 * --------------------------------===*/

static uint64_t read_number(const uint8_t *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; i--)
    value = value << 8 | at[i];
  return value;
}

static uint8_t *find(const memory *memory, unsigned space, unsigned index) {
  switch (space) {
  case SPACE_INPUT:
    return index < (unsigned)memory->input_count ? memory->inputs[index] : NULL;
  case SPACE_OUTPUT:
    return index < (unsigned)memory->output_count ? memory->outputs[index]
                                                  : NULL;
  case SPACE_WEIGHTS:
    return memory->weights;
  case SPACE_SCRATCH:
    return memory->scratch;
  default:
    return NULL;
  }
}

static int decode(const uint8_t *at, const memory *memory, argument *out) {
  memset(out, 0, sizeof *out);
  uint64_t payload = read_number(at + 8, 8);
  out->kind = (enum kind)at[0];
  switch (at[0]) {
  case KIND_INT:
    out->number = (int64_t)payload;
    return NPU_OK;
  case KIND_FLOAT:
    memcpy(&out->real, &payload, sizeof out->real);
    return NPU_OK;
  case KIND_BUFFER: {
    uint8_t *base = find(memory, at[1], (unsigned)read_number(at + 2, 2));
    if (!base)
      return NPU_ERR_COMMAND;
    out->host = base + payload;
    out->bytes = (uint32_t)read_number(at + 4, 4);
    out->burst = at[1] == SPACE_WEIGHTS;
    return NPU_OK;
  }
  case KIND_NONE:
    return NPU_OK;
  default:
    return NPU_ERR_COMMAND;
  }
}

/* Brings the operands in; the result, argument `output`, only gets its room. */
static int load(npu_device *device, argument *arguments, int count,
                int output) {
  device->used = 0;
  for (int i = 0; i < count; i++) {
    argument *a = &arguments[i];
    if (a->kind != KIND_BUFFER)
      continue;
    uint32_t room = (a->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (room > NPU_SRAM_BYTES - device->used)
      return NPU_ERR_SRAM;
    a->local = device->sram + device->used;
    device->used += room;
    if (i == output)
      continue;
    /* Weights come in whole bursts. */
    uint32_t moved = a->burst ? room : a->bytes;
    memcpy(a->local, a->host, moved);
    device->counters.dma_bytes += moved;
  }
  return NPU_OK;
}

/*===------------------------------ Commands
 * --------------------------------===*/

static int32_t clamp(double value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : (int32_t)value;
}

static int8_t requantize(float value, int32_t zero, int32_t low, int32_t high) {
  return (int8_t)clamp((double)rintf(value) + zero, low, high);
}

/* x, w, b or none, scales, y, n, h, w, c, out_c, kernel_h, kernel_w, out_h,
 * out_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, zero_x,
 * zero_y, low, high. */
static void convolve(npu_device *device, const argument *a, bool depthwise) {
  const int8_t *x = a[0].local, *w = a[1].local;
  const int32_t *b = a[2].local;
  const float *scale = a[3].local;
  int8_t *y = a[4].local;
  int32_t v[19];
  for (int i = 0; i < 19; i++)
    v[i] = (int32_t)a[5 + i].number;
  const int32_t n = v[0], h = v[1], width = v[2], c = v[3], out_c = v[4];
  const int32_t kernel_h = v[5], kernel_w = v[6], out_h = v[7], out_w = v[8];
  const int32_t multiple = depthwise ? out_c / c : 1;
  for (int32_t image = 0; image < n; image++)
    for (int32_t i = 0; i < out_h; i++)
      for (int32_t j = 0; j < out_w; j++)
        for (int32_t o = 0; o < out_c; o++) {
          int32_t sum = b ? b[o] : 0;
          for (int32_t p = 0; p < kernel_h; p++)
            for (int32_t q = 0; q < kernel_w; q++) {
              int32_t row = i * v[9] - v[11] + p * v[13];
              int32_t column = j * v[10] - v[12] + q * v[14];
              if (row < 0 || column < 0 || row >= h || column >= width)
                continue;
              const int8_t *pixel =
                  x + (((ptrdiff_t)image * h + row) * width + column) * c;
              if (depthwise) {
                sum += (pixel[o / multiple] - v[15]) *
                       w[((ptrdiff_t)p * kernel_w + q) * out_c + o];
                continue;
              }
              const int8_t *filter =
                  w + (((ptrdiff_t)o * kernel_h + p) * kernel_w + q) * c;
              for (int32_t k = 0; k < c; k++)
                sum += (pixel[k] - v[15]) * filter[k];
            }
          *y++ = requantize((float)sum * scale[o], v[16], v[17], v[18]);
        }
  const uint64_t inner = (uint64_t)(kernel_h * kernel_w * (depthwise ? 1 : c));
  const uint64_t pixels = (uint64_t)n * (uint64_t)(out_h * out_w);
  device->counters.multiplications += pixels * (uint64_t)out_c * inner;
}

/* x, w, b or none, scales, y, rows, inner, columns, zero_x, zero_y, low, high.
 */
static void multiply(npu_device *device, const argument *a) {
  const int8_t *x = a[0].local, *w = a[1].local;
  const int32_t *b = a[2].local;
  const float *scale = a[3].local;
  int8_t *y = a[4].local;
  const int32_t rows = (int32_t)a[5].number, inner = (int32_t)a[6].number;
  const int32_t columns = (int32_t)a[7].number, zero_x = (int32_t)a[8].number;
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++) {
      int32_t sum = b ? b[j] : 0;
      for (int32_t k = 0; k < inner; k++)
        sum += (x[(ptrdiff_t)i * inner + k] - zero_x) *
               w[(ptrdiff_t)j * inner + k];
      *y++ = requantize((float)sum * scale[j], (int32_t)a[9].number,
                        (int32_t)a[10].number, (int32_t)a[11].number);
    }
  device->counters.multiplications +=
      (uint64_t)rows * (uint64_t)inner * (uint64_t)columns;
}

/* x, y, n, h, w, c, kernel_h, kernel_w, out_h, out_w, stride_h, stride_w,
 * pad_h, pad_w; an average has then: zero_x, zero_y, scale. Places outside of
 * the image do not count. */
static void pool(const argument *a, bool average) {
  const int8_t *x = a[0].local;
  int8_t *y = a[1].local;
  int32_t v[14];
  for (int i = 0; i < (average ? 14 : 12); i++)
    v[i] = (int32_t)a[2 + i].number;
  for (int32_t image = 0; image < v[0]; image++)
    for (int32_t i = 0; i < v[6]; i++)
      for (int32_t j = 0; j < v[7]; j++)
        for (int32_t channel = 0; channel < v[3]; channel++) {
          int32_t sum = 0, count = 0, most = INT8_MIN;
          for (int32_t p = 0; p < v[4]; p++)
            for (int32_t q = 0; q < v[5]; q++) {
              int32_t row = i * v[8] + p - v[10], column = j * v[9] + q - v[11];
              if (row < 0 || column < 0 || row >= v[1] || column >= v[2])
                continue;
              int32_t value =
                  x[(((ptrdiff_t)image * v[1] + row) * v[2] + column) * v[3] +
                    channel];
              sum += value;
              count++;
              if (value > most)
                most = value;
            }
          if (!average) {
            *y++ = (int8_t)most;
            continue;
          }
          float mean = count ? (float)(sum - count * v[12]) / (float)count : 0;
          *y++ =
              requantize(mean * (float)a[16].real, v[13], INT8_MIN, INT8_MAX);
        }
}

/* a, b, y, count, zero_a, scale_a, zero_b, scale_b, zero_y, scale_y, low,
 * high. */
static void add(const argument *a) {
  const int8_t *x = a[0].local, *z = a[1].local;
  int8_t *y = a[2].local;
  for (int64_t i = 0; i < a[3].number; i++) {
    float left = (float)(x[i] - a[4].number) * (float)a[5].real;
    float right = (float)(z[i] - a[6].number) * (float)a[7].real;
    y[i] = requantize((left + right) / (float)a[9].real, (int32_t)a[8].number,
                      (int32_t)a[10].number, (int32_t)a[11].number);
  }
}

/* Kinds of the arguments of an opcode: b buffer, o optional buffer, y result,
 * i integer, f float. */
static const char *const forms[] = {
    NULL,           "bbobyiiiiiiiiiiiiiiiiiii", "bbobyiiiiiiiiiiiiiiiiiii",
    "bbobyiiiiiii", "byiiiiiiiiiiii",           "byiiiiiiiiiiiiiif",
    "bbyiifififii"};

static int check(unsigned opcode, const argument *arguments, int count) {
  if (opcode == 0 || opcode >= sizeof forms / sizeof *forms)
    return NPU_ERR_COMMAND;
  const char *form = forms[opcode];
  if (strlen(form) != (size_t)count)
    return NPU_ERR_COMMAND;
  for (int i = 0; i < count; i++) {
    enum kind kind = arguments[i].kind;
    bool fits = form[i] == 'i'   ? kind == KIND_INT
                : form[i] == 'f' ? kind == KIND_FLOAT
                : form[i] == 'o' ? kind == KIND_BUFFER || kind == KIND_NONE
                                 : kind == KIND_BUFFER;
    if (!fits)
      return NPU_ERR_COMMAND;
  }
  return NPU_OK;
}

static int execute(npu_device *device, unsigned opcode, argument *arguments,
                   int count) {
  int status = check(opcode, arguments, count);
  if (status != NPU_OK)
    return status;
  int output = (int)(strchr(forms[opcode], 'y') - forms[opcode]);
  status = load(device, arguments, count, output);
  if (status != NPU_OK)
    return status;
  switch (opcode) {
  case NPU_CONV2D:
  case NPU_DEPTHWISE:
    convolve(device, arguments, opcode == NPU_DEPTHWISE);
    break;
  case NPU_DENSE:
    multiply(device, arguments);
    break;
  case NPU_MAX_POOL:
  case NPU_AVERAGE_POOL:
    pool(arguments, opcode == NPU_AVERAGE_POOL);
    break;
  default:
    add(arguments);
  }
  memcpy(arguments[output].host, arguments[output].local,
         arguments[output].bytes);
  device->counters.dma_bytes += arguments[output].bytes;
  device->counters.commands++;
  return NPU_OK;
}

static int run(npu_device *device, const uint8_t *stream, uint64_t bytes,
               const memory *memory) {
  uint64_t commands = read_number(stream + 8, 4), at = 16;
  for (uint64_t i = 0; i < commands; i++) {
    if (at + 8 > bytes)
      return NPU_ERR_STREAM;
    unsigned opcode = (unsigned)read_number(stream + at, 2);
    int count = (int)read_number(stream + at + 2, 2);
    at += 8;
    if (count > MAX_ARGUMENTS)
      return NPU_ERR_COMMAND;
    if (at + 16 * (uint64_t)count > bytes)
      return NPU_ERR_STREAM;
    argument arguments[MAX_ARGUMENTS];
    for (int k = 0; k < count; k++, at += 16) {
      int status = decode(stream + at, memory, &arguments[k]);
      if (status != NPU_OK)
        return status;
    }
    int status = execute(device, opcode, arguments, count);
    if (status != NPU_OK)
      return status;
  }
  return NPU_OK;
}

int npu_submit(npu_device *device, const void *stream, int64_t bytes,
               const void *weights, void *scratch, int inputs, int outputs,
               ...) {
  const uint8_t *at = stream;
  if (!device || !at || bytes < 16 || memcmp(at, "PHLS", 4) != 0 ||
      read_number(at + 4, 2) != 1 || read_number(at + 12, 4) != (uint64_t)bytes)
    return NPU_ERR_STREAM;
  if (inputs < 0 || inputs > MAX_BUFFERS || outputs < 0 ||
      outputs > MAX_BUFFERS)
    return NPU_ERR_COMMAND;
  memory memory = {.weights = (uint8_t *)(uintptr_t)weights,
                   .scratch = scratch,
                   .input_count = inputs,
                   .output_count = outputs};
  va_list list;
  va_start(list, outputs);
  for (int i = 0; i < inputs; i++)
    memory.inputs[i] = va_arg(list, void *);
  for (int i = 0; i < outputs; i++)
    memory.outputs[i] = va_arg(list, void *);
  va_end(list);
  device->counters.submissions++;
  return run(device, at, (uint64_t)bytes, &memory);
}
