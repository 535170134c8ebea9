/* What the commands of Brook compute. */
#include "brook_device.h"
#include <math.h>
#include <string.h>

static int copy(brook_device *d, const brook_command *c) {
  void *to = c->opcode == COPY_OUT ? c->out : brook_at(d, c->out, c->n[0]);
  const void *from = c->opcode == COPY_IN ? c->in[0] : brook_at(d, c->in[0], c->n[0]);
  if (!to || !from) return BAD_ADDRESS;
  memmove(to, from, (size_t)c->n[0]);
  return 0;
}

static float activate(float value, int64_t act) {
  if (act == 1) return value < 0.0f ? 0.0f : value;
  return act == 2 ? value / (1.0f + expf(-value)) : value;
}

static int product(brook_device *d, const brook_command *c) {
  const int64_t *s = c->n, *t = c->n + 4;
  const int64_t outer = s[0] > t[0] ? s[0] : t[0], batch = s[1] > t[1] ? s[1] : t[1];
  const int64_t rows = s[2], inner = s[3], columns = t[3];
  const float *a = brook_at(d, c->in[0], 4 * s[0] * s[1] * rows * inner);
  const float *b = brook_at(d, c->in[1], 4 * t[0] * t[1] * inner * columns);
  const float *bias = c->in[2] ? brook_at(d, c->in[2], 4 * columns) : NULL;
  float *y = brook_at(d, c->out, 4 * outer * batch * rows * columns);
  if (!a || !b || !y || (c->in[2] && !bias)) return BAD_ADDRESS;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t n = 0; n < batch; n++) {
      const float *left = a + ((s[0] > 1 ? o : 0) * s[1] + (s[1] > 1 ? n : 0)) * rows * inner;
      const float *right = b + ((t[0] > 1 ? o : 0) * t[1] + (t[1] > 1 ? n : 0)) * inner * columns;
      for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
          double sum = 0.0;
          for (int64_t k = 0; k < inner; k++) sum += (double)left[i * inner + k] * right[k * columns + j];
          *y++ = activate((float)sum + (bias ? bias[j] : 0.0f), c->n[8]);
        }
    }
  return 0;
}

static int gemm(brook_device *d, const brook_command *c) {
  const int64_t rows = c->n[0], columns = c->n[1], inner = c->n[2], c_rows = c->n[5], c_columns = c->n[6];
  const float *a = brook_at(d, c->in[0], 4 * rows * inner), *b = brook_at(d, c->in[1], 4 * inner * columns);
  const float *add = c->in[2] ? brook_at(d, c->in[2], 4 * c_rows * c_columns) : NULL;
  float *y = brook_at(d, c->out, 4 * rows * columns);
  if (!a || !b || !y || (c->in[2] && !add)) return BAD_ADDRESS;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      double sum = 0.0;
      for (int64_t k = 0; k < inner; k++)
        sum += (double)a[c->n[3] ? k * rows + i : i * inner + k] * b[c->n[4] ? j * inner + k : k * columns + j];
      float value = c->f[0] * (float)sum;
      if (add) value += c->f[1] * add[(c_rows > 1 ? i : 0) * c_columns + (c_columns > 1 ? j : 0)];
      y[i * columns + j] = value;
    }
  return 0;
}

static int softmax(brook_device *d, const brook_command *c) {
  const int64_t rows = c->n[0], size = c->n[1];
  if (size > d->row_size) return BAD_ROW;
  const float *x = brook_at(d, c->in[0], 4 * rows * size);
  const float *mask = c->in[1] ? brook_at(d, c->in[1], 4 * c->n[2] * size) : NULL;
  float *y = brook_at(d, c->out, 4 * rows * size);
  if (!x || !y || (c->in[1] && !mask)) return BAD_ADDRESS;
  for (int64_t i = 0; i < rows; i++) {
    float most = -INFINITY, sum = 0.0f;
    for (int64_t j = 0; j < size; j++) {
      float value = x[i * size + j] * c->f[0];
      if (mask) value += mask[i % c->n[2] * size + j];
      d->row[j] = value;
      if (value > most || isnan(value)) most = value;
    }
    for (int64_t j = 0; j < size; j++) {
      d->row[j] = expf(d->row[j] - most);
      sum += d->row[j];
    }
    for (int64_t j = 0; j < size; j++) y[i * size + j] = d->row[j] / sum;
  }
  return 0;
}

static int norm(brook_device *d, const brook_command *c) {
  const int64_t rows = c->n[0], size = c->n[1];
  if (size > d->row_size) return BAD_ROW;
  const float *x = brook_at(d, c->in[0], 4 * rows * size), *scale = brook_at(d, c->in[1], 4 * size);
  const float *shift = c->in[2] ? brook_at(d, c->in[2], 4 * size) : NULL;
  float *y = brook_at(d, c->out, 4 * rows * size);
  if (!x || !y || !scale || (c->in[2] && !shift)) return BAD_ADDRESS;
  for (int64_t i = 0; i < rows; i++, x += size, y += size) {
    double mean = 0.0, square = 0.0;
    if (c->n[2]) {
      for (int64_t j = 0; j < size; j++) mean += x[j];
      mean /= (double)size;
    }
    for (int64_t j = 0; j < size; j++) {
      d->row[j] = (float)(x[j] - mean);
      square += (double)d->row[j] * d->row[j];
    }
    double by = 1.0 / sqrt(square / (double)size + c->f[0]);
    for (int64_t j = 0; j < size; j++) y[j] = (float)(d->row[j] * by) * scale[j] + (shift ? shift[j] : 0.0f);
  }
  return 0;
}

static int embed(brook_device *d, const brook_command *c) {
  const int64_t rows = c->n[0], size = c->n[1], count = c->n[2];
  const float *table = brook_at(d, c->in[0], 4 * rows * size);
  const void *ids = brook_at(d, c->in[1], (c->n[3] ? 8 : 4) * count);
  float *y = brook_at(d, c->out, 4 * count * size);
  if (!table || !ids || !y) return BAD_ADDRESS;
  for (int64_t i = 0; i < count; i++) {
    int64_t id = c->n[3] ? ((const int64_t *)ids)[i] : ((const int32_t *)ids)[i];
    if (id < 0) id += rows;
    id = id < 0 ? 0 : id >= rows ? rows - 1 : id;
    memcpy(y + i * size, table + id * size, 4 * (size_t)size);
  }
  return 0;
}

static float compute(float a, float b, int64_t function) {
  switch (function) {
  case 0: return a + b;
  case 1: return a - b;
  case 2: return a * b;
  case 3: return a / b;
  case 4: return isnan(a) || a > b ? a : b;
  default: return isnan(a) || a < b ? a : b;
  }
}

static int binary(brook_device *d, const brook_command *c) {
  const int64_t *s = c->n, *t = c->n + 4;
  int64_t shape[4], a_step[4], b_step[4], a_size = 1, b_size = 1, size = 1;
  for (int i = 3; i >= 0; i--) {
    shape[i] = s[i] == 1 ? t[i] : s[i];
    a_step[i] = s[i] == 1 ? 0 : a_size;
    b_step[i] = t[i] == 1 ? 0 : b_size;
    a_size *= s[i];
    b_size *= t[i];
    size *= shape[i];
  }
  const float *a = brook_at(d, c->in[0], 4 * a_size), *b = brook_at(d, c->in[1], 4 * b_size);
  float *y = brook_at(d, c->out, 4 * size);
  if (!a || !b || !y) return BAD_ADDRESS;
  if (a_size == size && b_size == size) {
    for (int64_t i = 0; i < size; i++) y[i] = compute(a[i], b[i], c->n[8]);
    return 0;
  }
  for (int64_t i = 0; i < shape[0]; i++)
    for (int64_t j = 0; j < shape[1]; j++)
      for (int64_t k = 0; k < shape[2]; k++)
        for (int64_t l = 0; l < shape[3]; l++)
          *y++ = compute(a[i * a_step[0] + j * a_step[1] + k * a_step[2] + l * a_step[3]],
                         b[i * b_step[0] + j * b_step[1] + k * b_step[2] + l * b_step[3]], c->n[8]);
  return 0;
}

static int unary(brook_device *d, const brook_command *c) {
  const float *x = brook_at(d, c->in[0], 4 * c->n[0]);
  float *y = brook_at(d, c->out, 4 * c->n[0]);
  if (!x || !y) return BAD_ADDRESS;
  for (int64_t i = 0; i < c->n[0]; i++) {
    float v = x[i];
    switch (c->n[1]) {
    case 0: y[i] = v < 0.0f ? 0.0f : v; break;
    case 1: y[i] = -v; break;
    case 2: y[i] = fabsf(v); break;
    case 3: y[i] = 1.0f / (1.0f + expf(-v)); break;
    case 4: y[i] = tanhf(v); break;
    case 5: y[i] = expf(v); break;
    default: y[i] = sqrtf(v); break;
    }
  }
  return 0;
}

static int reduce(brook_device *d, const brook_command *c) {
  const int64_t outer = c->n[0], size = c->n[1], inner = c->n[2], function = c->n[3];
  const float *x = brook_at(d, c->in[0], 4 * outer * size * inner);
  float *y = brook_at(d, c->out, 4 * outer * inner);
  if (!x || !y) return BAD_ADDRESS;
  for (int64_t i = 0; i < outer; i++)
    for (int64_t j = 0; j < inner; j++) {
      const float *from = x + i * size * inner + j;
      double sum = 0.0;
      float most = from[0];
      for (int64_t k = 0; k < size; k++) {
        sum += from[k * inner];
        if (from[k * inner] > most || isnan(from[k * inner])) most = from[k * inner];
      }
      y[i * inner + j] = function == 2 ? most : (float)(function == 1 ? sum / (double)size : sum);
    }
  return 0;
}

static int transpose(brook_device *d, const brook_command *c) {
  const int64_t *s = c->n, *p = c->n + 4;
  const int64_t steps[4] = {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1};
  const int64_t bytes = 4 * s[0] * steps[0];
  const int32_t *x = brook_at(d, c->in[0], bytes);
  int32_t *y = brook_at(d, c->out, bytes);
  if (!x || !y) return BAD_ADDRESS;
  for (int64_t i = 0; i < s[p[0]]; i++)
    for (int64_t j = 0; j < s[p[1]]; j++)
      for (int64_t k = 0; k < s[p[2]]; k++)
        for (int64_t l = 0; l < s[p[3]]; l++)
          *y++ = x[i * steps[p[0]] + j * steps[p[1]] + k * steps[p[2]] + l * steps[p[3]]];
  return 0;
}

static int choose(brook_device *d, const brook_command *c) {
  const int64_t count = c->n[0], step = c->n[1];
  const unsigned char *condition = brook_at(d, c->in[0], step ? count : 1);
  const float *a = brook_at(d, c->in[1], 4 * count), *b = brook_at(d, c->in[2], 4 * count);
  float *y = brook_at(d, c->out, 4 * count);
  if (!condition || !a || !b || !y) return BAD_ADDRESS;
  for (int64_t i = 0; i < count; i++) y[i] = condition[i * step] ? a[i] : b[i];
  return 0;
}

static int join(brook_device *d, const brook_command *c) {
  const int64_t outer = c->n[0], a_size = c->n[1], b_size = c->n[2];
  const int32_t *a = brook_at(d, c->in[0], 4 * outer * a_size), *b = brook_at(d, c->in[1], 4 * outer * b_size);
  int32_t *y = brook_at(d, c->out, 4 * outer * (a_size + b_size));
  if (!a || !b || !y) return BAD_ADDRESS;
  for (int64_t i = 0; i < outer; i++, y += a_size + b_size) {
    memcpy(y, a + i * a_size, 4 * (size_t)a_size);
    memcpy(y + a_size, b + i * b_size, 4 * (size_t)b_size);
  }
  return 0;
}

int brook_execute(brook_device *d, const brook_command *c) {
  switch (c->opcode) {
  case COPY_IN:
  case COPY_OUT:
  case COPY: return copy(d, c);
  case PRODUCT: return product(d, c);
  case GEMM: return gemm(d, c);
  case SOFTMAX: return softmax(d, c);
  case NORM: return norm(d, c);
  case EMBED: return embed(d, c);
  case BINARY: return binary(d, c);
  case UNARY: return unary(d, c);
  case REDUCE: return reduce(d, c);
  case TRANSPOSE: return transpose(d, c);
  case CHOOSE: return choose(d, c);
  case JOIN: return join(d, c);
  default: return BAD_QUEUE;
  }
}
