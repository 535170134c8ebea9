/* What Nib computes beside products. */
#include "nib_device.h"
#include <math.h>
#include <stdlib.h>

int nib_open(nib_device **out) {
  *out = calloc(1, sizeof **out);
  return *out ? 0 : NO_MEMORY;
}

int nib_close(nib_device *d) {
  free(d);
  return 0;
}

const char *nib_text(int status) {
  return status == NO_MEMORY ? "no memory for the device" : status == BAD_ROW ? "a row is too long" : "unknown status";
}

int nib_embed(nib_device *d, const int8_t *w, const float *s, const int8_t *z, const void *ids, float *y, int64_t rows,
              int64_t size, int64_t count, bool wide) {
  (void)d;
  for (int64_t i = 0; i < count; i++, y += size) {
    int64_t id = wide ? ((const int64_t *)ids)[i] : ((const int32_t *)ids)[i];
    if (id < 0) id += rows;
    if (id < 0) id = 0;
    if (id >= rows) id = rows - 1;
    const int zero = z ? z[id] : 0;
    for (int64_t j = 0; j < size; j++) y[j] = (float)(w[id * size + j] - zero) * s[id];
  }
  return 0;
}

int nib_rms(nib_device *d, const float *x, const float *r, const float *g, float *y, int64_t rows, int64_t size, float epsilon) {
  if (size > ROW) return BAD_ROW;
  for (int64_t i = 0; i < rows; i++) {
    double square = 0.0;
    for (int64_t j = 0; j < size; j++) {
      float value = x[i * size + j];
      if (r) value += r[i * size + j];
      d->row[j] = value;
      square += (double)value * value;
    }
    const double by = 1.0 / sqrt(square / (double)size + epsilon);
    for (int64_t j = 0; j < size; j++) y[i * size + j] = (float)(d->row[j] * by) * g[j];
  }
  return 0;
}

int nib_gate(nib_device *d, const float *g, const float *u, float *y, int64_t count, bool gelu) {
  (void)d;
  for (int64_t i = 0; i < count; i++) {
    const float v = g[i];
    float a = v * (1.0f / (1.0f + expf(-v)));
    if (gelu) a = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    y[i] = a * u[i];
  }
  return 0;
}

int nib_softmax(nib_device *d, const uint16_t *x, uint16_t *y, int64_t outer, int64_t size, int64_t inner, void *scratch) {
  (void)d;
  float *row = scratch;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      const int64_t at = o * size * inner + i;
      float most = -INFINITY, sum = 0.0f;
      for (int64_t j = 0; j < size; j++) {
        row[j] = widen(x[at + j * inner]);
        if (row[j] > most) most = row[j];
      }
      for (int64_t j = 0; j < size; j++) {
        row[j] = expf(row[j] - most);
        sum += row[j];
      }
      for (int64_t j = 0; j < size; j++) y[at + j * inner] = narrow(row[j] / sum);
    }
  return 0;
}

int nib_sum(nib_device *d, const uint16_t *a, const uint16_t *b, uint16_t *y, int64_t count, int64_t period) {
  (void)d;
  for (int64_t i = 0; i < count; i++) y[i] = narrow(widen(a[i]) + widen(b[i % period]));
  return 0;
}

int nib_argmax(nib_device *d, const float *x, int64_t *y, int64_t rows, int64_t size, bool least) {
  (void)d;
  for (int64_t i = 0; i < rows; i++, x += size) {
    int64_t best = 0;
    for (int64_t j = 1; j < size; j++) {
      if (isnan(x[best])) break;
      if (isnan(x[j]) || (least ? x[j] < x[best] : x[j] > x[best])) best = j;
    }
    y[i] = best;
  }
  return 0;
}
