/* Simulates Weir. */
#include "weir.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NO_MEMORY = 1, BAD_PROGRAM };
enum { ARENA, INPUT, CONSTANT, OUTPUT };
enum { BINARY = 1, UNARY, CONV, POOL, REDUCE, SOFTMAX, JOIN, PAD, COPY };
enum { RELU, NEG, ABS, SIGMOID, TANH, LEAKY, CLIP };

struct weir_device {
  float *arena;
  int64_t floats;
};

typedef struct slot { uint32_t kind, number; } slot;
typedef struct instruction {
  uint32_t opcode, function, out, in[3];
  uint32_t n[24];
} instruction;
typedef struct program {
  uint32_t slots, instructions, constants;
  const slot *slot;
  const instruction *code;
  const float *constant;
} program;

int weir_open(weir_device **out, int64_t arena) {
  weir_device *d = calloc(1, sizeof *d);
  if (!d) return NO_MEMORY;
  d->arena = malloc((size_t)arena);
  if (!d->arena) {
    free(d);
    return NO_MEMORY;
  }
  memset(d->arena, 0xff, (size_t)arena);
  d->floats = arena / 4;
  *out = d;
  return 0;
}

int weir_close(weir_device *d) {
  free(d->arena);
  free(d);
  return 0;
}

const char *weir_text(int status) {
  return status == NO_MEMORY ? "no memory for the device" : status == BAD_PROGRAM ? "the program is damaged" : "unknown status";
}

int weir_load(weir_device *d, const void *data, size_t bytes, void **handle) {
  (void)d;
  uint32_t head[5];
  program *p = calloc(1, sizeof *p);
  if (!p) return NO_MEMORY;
  if (bytes >= sizeof head) memcpy(head, data, sizeof head);
  if (bytes < sizeof head || memcmp(data, "WEIR", 4) != 0 || head[1] != 1 ||
      bytes != sizeof head + head[2] * sizeof(slot) + head[3] * sizeof(instruction) + 4ull * head[4]) {
    free(p);
    return BAD_PROGRAM;
  }
  p->slots = head[2];
  p->instructions = head[3];
  p->constants = head[4];
  p->slot = (const slot *)(const void *)((const char *)data + sizeof head);
  p->code = (const instruction *)(const void *)(p->slot + p->slots);
  p->constant = (const float *)(const void *)(p->code + p->instructions);
  *handle = p;
  return 0;
}

int weir_unload(weir_device *d, void *handle) {
  (void)d;
  free(handle);
  return 0;
}

static float real(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void binary(const instruction *i, float *y, const float *a, const float *b) {
  const uint32_t *s = i->n, *p = i->n + 4, *q = i->n + 8;
  for (uint32_t e = 0; e < s[0]; e++)
    for (uint32_t f = 0; f < s[1]; f++)
      for (uint32_t g = 0; g < s[2]; g++)
        for (uint32_t h = 0; h < s[3]; h++) {
          const float l = a[(size_t)e * p[0] + f * p[1] + g * p[2] + h * p[3]], r = b[(size_t)e * q[0] + f * q[1] + g * q[2] + h * q[3]];
          switch (i->function) {
          case 0: *y++ = l + r; break;
          case 1: *y++ = l - r; break;
          case 2: *y++ = l * r; break;
          case 3: *y++ = isnan(l) || l > r ? l : r; break;
          default: *y++ = isnan(l) || l < r ? l : r; break;
          }
        }
}

static void unary(const instruction *i, float *y, const float *x) {
  const float low = real(i->n[1]), high = real(i->n[2]);
  for (uint32_t k = 0; k < i->n[0]; k++) {
    const float v = x[k];
    switch (i->function) {
    case RELU: y[k] = v < 0.0f ? 0.0f : v; break;
    case NEG: y[k] = -v; break;
    case ABS: y[k] = fabsf(v); break;
    case SIGMOID: y[k] = 1.0f / (1.0f + expf(-v)); break;
    case TANH: y[k] = tanhf(v); break;
    case LEAKY: y[k] = v < 0.0f ? low * v : v; break;
    default: {
      const float above = v < low ? low : v;
      y[k] = above > high ? high : above;
    }
    }
  }
}

/* The numbers of a window, as compile.py writes them; the last two are bounds. */
typedef struct window {
  uint32_t n, c, h, w, out_c, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w, group, include;
  uint32_t low, high;
} window;

static void conv(const instruction *i, float *y, const float *x, const float *w, const float *b) {
  window v;
  memcpy(&v, i->n, sizeof v);
  const uint32_t in_group = v.c / v.group, out_group = v.out_c / v.group;
  for (uint32_t n = 0; n < v.n; n++)
    for (uint32_t o = 0; o < v.out_c; o++)
      for (uint32_t r = 0; r < v.out_h; r++)
        for (uint32_t s = 0; s < v.out_w; s++) {
          double sum = 0.0;
          for (uint32_t c = 0; c < in_group; c++) {
            const float *plane = x + ((size_t)n * v.c + o / out_group * in_group + c) * v.h * v.w;
            const float *by = w + ((size_t)o * in_group + c) * v.kernel_h * v.kernel_w;
            for (uint32_t p = 0; p < v.kernel_h; p++)
              for (uint32_t q = 0; q < v.kernel_w; q++) {
                const int64_t row = (int64_t)r * v.stride_h + p * v.dilation_h - v.pad_h, column = (int64_t)s * v.stride_w + q * v.dilation_w - v.pad_w;
                if (row < 0 || row >= v.h || column < 0 || column >= v.w) continue;
                sum += (double)plane[row * v.w + column] * by[p * v.kernel_w + q];
              }
          }
          float value = (float)sum + (b ? b[o] : 0.0f);
          if (i->function) {
            if (value < real(v.low)) value = real(v.low);
            if (value > real(v.high)) value = real(v.high);
          }
          *y++ = value;
        }
}

static void pool(const instruction *i, float *y, const float *x) {
  window v;
  memcpy(&v, i->n, sizeof v);
  for (uint32_t plane = 0; plane < v.n * v.c; plane++, x += (size_t)v.h * v.w)
    for (uint32_t r = 0; r < v.out_h; r++)
      for (uint32_t s = 0; s < v.out_w; s++) {
        float most = -INFINITY;
        double sum = 0.0;
        uint32_t count = 0;
        for (uint32_t p = 0; p < v.kernel_h; p++)
          for (uint32_t q = 0; q < v.kernel_w; q++) {
            const int64_t row = (int64_t)r * v.stride_h + p * v.dilation_h - v.pad_h, column = (int64_t)s * v.stride_w + q * v.dilation_w - v.pad_w;
            if (row < 0 || row >= v.h || column < 0 || column >= v.w) continue;
            const float value = x[row * v.w + column];
            if (value > most || isnan(value)) most = value;
            sum += value;
            count++;
          }
        if (v.include) count = v.kernel_h * v.kernel_w;
        *y++ = i->function ? (float)(sum / count) : most;
      }
}

static void reduce(const instruction *i, float *y, const float *x) {
  for (uint32_t r = 0; r < i->n[0]; r++, x += i->n[1]) {
    float most = x[0];
    double sum = 0.0;
    for (uint32_t k = 0; k < i->n[1]; k++) {
      sum += x[k];
      if (x[k] > most || isnan(x[k])) most = x[k];
    }
    y[r] = i->function ? most : (float)(sum / i->n[1]);
  }
}

static void softmax(const instruction *i, float *y, const float *x) {
  for (uint32_t r = 0; r < i->n[0]; r++, x += i->n[1], y += i->n[1]) {
    float most = x[0], sum = 0.0f;
    for (uint32_t k = 1; k < i->n[1]; k++) most = x[k] > most ? x[k] : most;
    for (uint32_t k = 0; k < i->n[1]; k++) sum += y[k] = expf(x[k] - most);
    for (uint32_t k = 0; k < i->n[1]; k++) y[k] /= sum;
  }
}

static void join(const instruction *i, float *y, const float *a, const float *b) {
  for (uint32_t o = 0; o < i->n[0]; o++) {
    memcpy(y, a + (size_t)o * i->n[1], 4ull * i->n[1]);
    memcpy(y + i->n[1], b + (size_t)o * i->n[2], 4ull * i->n[2]);
    y += i->n[1] + i->n[2];
  }
}

static void pad(const instruction *i, float *y, const float *x) {
  const uint32_t *s = i->n, *before = i->n + 4, *t = i->n + 8;
  for (uint32_t e = 0; e < t[0]; e++)
    for (uint32_t f = 0; f < t[1]; f++)
      for (uint32_t g = 0; g < t[2]; g++)
        for (uint32_t h = 0; h < t[3]; h++) {
          /* What is before the tensor is far behind it as a number without a sign. */
          const uint32_t a = e - before[0], b = f - before[1], c = g - before[2], d = h - before[3];
          const int inside = a < s[0] && b < s[1] && c < s[2] && d < s[3];
          *y++ = inside ? x[(((size_t)a * s[1] + b) * s[2] + c) * s[3] + d] : real(i->n[12]);
        }
}

int weir_execute(weir_device *d, void *handle, const void *const *inputs, size_t num_inputs, void *const *outputs, size_t num_outputs) {
  const program *p = handle;
  for (uint32_t k = 0; k < p->instructions; k++) {
    const instruction *i = &p->code[k];
    float *at[4] = {NULL};
    for (int j = 0; j < 4; j++) {
      const uint32_t number = j ? i->in[j - 1] : i->out;
      if (number == UINT32_MAX) continue;
      if (number >= p->slots) return BAD_PROGRAM;
      const slot *s = &p->slot[number];
      if (s->kind == ARENA && s->number < d->floats) at[j] = d->arena + s->number;
      else if (s->kind == INPUT && s->number < num_inputs) at[j] = (float *)(uintptr_t)inputs[s->number];
      else if (s->kind == CONSTANT) at[j] = (float *)(uintptr_t)(p->constant + s->number);
      else if (s->kind == OUTPUT && s->number < num_outputs) at[j] = outputs[s->number];
      else return BAD_PROGRAM;
    }
    switch (i->opcode) {
    case BINARY: binary(i, at[0], at[1], at[2]); break;
    case UNARY: unary(i, at[0], at[1]); break;
    case CONV: conv(i, at[0], at[1], at[2], at[3]); break;
    case POOL: pool(i, at[0], at[1]); break;
    case REDUCE: reduce(i, at[0], at[1]); break;
    case SOFTMAX: softmax(i, at[0], at[1]); break;
    case JOIN: join(i, at[0], at[1], at[2]); break;
    case PAD: pad(i, at[0], at[1]); break;
    case COPY: memcpy(at[0], at[1], 4ull * i->n[0]); break;
    default: return BAD_PROGRAM;
    }
  }
  return 0;
}
