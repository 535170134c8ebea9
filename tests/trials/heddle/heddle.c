/* The engine: windows, products, rows. */
#include "heddle_device.h"
#include <math.h>

enum { BLOCK = 8, LANES = HEDDLE_LANES };

/* Adds the products of one window to the sums of up to LANES columns of a block. */
static void window_lanes(const heddle_window *v, const unsigned char *x, const unsigned char *w, int i, int j, int lane,
                         int lanes, float *sum) {
  for (int p = 0; p < v->kernel_h; p++) {
    int row = i * v->stride_h + p * v->dilation_h - v->pad_top;
    if (row < 0 || row >= v->in_h) continue;
    for (int q = 0; q < v->kernel_w; q++) {
      int column = j * v->stride_w + q * v->dilation_w - v->pad_left;
      if (column < 0 || column >= v->in_w) continue;
      const unsigned char *from = x + 2 * (int64_t)(row * v->in_w + column) * v->in_c;
      const unsigned char *by = w + 2 * ((int64_t)(p * v->kernel_w + q) * v->in_c * BLOCK + lane);
      for (int c = 0; c < v->in_c; c++) {
        float value = get_half(from + 2 * c);
        for (int l = 0; l < lanes; l++) sum[l] += value * get_half(by + 2 * (c * BLOCK + l));
      }
    }
  }
}

int heddle_conv(heddle_device *d, const heddle_window *v, uint32_t x, uint32_t w, uint32_t b, uint32_t y) {
  const int blocks = (v->out_c + BLOCK - 1) / BLOCK;
  const int64_t block_bytes = 2ll * v->kernel_h * v->kernel_w * v->in_c * BLOCK;
  if (!in_spm(d, x, 2ll * v->in_h * v->in_w * v->in_c) || !in_spm(d, w, blocks * block_bytes) ||
      !in_sums(d, y, 4ll * v->out_h * v->out_w * v->out_c) || (v->bias && !in_spm(d, b, 2ll * v->out_c)))
    return BAD_PLACE;
  for (int block = 0; block < blocks; block++)
    for (int i = 0; i < v->out_h; i++)
      for (int j = 0; j < v->out_w; j++)
        for (int lane = 0; lane < BLOCK; lane += LANES) {
          int channel = block * BLOCK + lane;
          int lanes = LANES < BLOCK - lane ? LANES : BLOCK - lane;
          if (channel + lanes > v->out_c) lanes = v->out_c - channel;
          if (lanes <= 0) break;
          float sum[LANES];
          unsigned char *out = d->sums + y + 4 * ((int64_t)(i * v->out_w + j) * v->out_c + channel);
          if (v->first) for (int l = 0; l < lanes; l++) sum[l] = v->bias ? get_half(d->spm + b + 2 * (channel + l)) : 0.0f;
          else memcpy(sum, out, 4 * (size_t)lanes);
          window_lanes(v, d->spm + x, d->spm + w + block * block_bytes, i, j, lane, lanes, sum);
          memcpy(out, sum, 4 * (size_t)lanes);
        }
  return 0;
}

int heddle_depthwise(heddle_device *d, const heddle_window *v, uint32_t x, uint32_t w, uint32_t b, uint32_t y) {
  if (!in_spm(d, x, 2ll * v->in_h * v->in_w * v->in_c) || !in_spm(d, w, 2ll * v->kernel_h * v->kernel_w * v->in_c) ||
      !in_sums(d, y, 4ll * v->out_h * v->out_w * v->out_c) || (v->bias && !in_spm(d, b, 2ll * v->out_c)))
    return BAD_PLACE;
  unsigned char *out = d->sums + y;
  for (int i = 0; i < v->out_h; i++) {
    int top = i * v->stride_h - v->pad_top;
    int p0 = top < 0 ? (-top + v->dilation_h - 1) / v->dilation_h : 0;
    for (int j = 0; j < v->out_w; j++)
      for (int c = 0; c < v->in_c; c++, out += 4) {
        float sum = v->bias ? get_half(d->spm + b + 2 * c) : 0.0f;
        for (int p = p0; p < v->kernel_h; p++) {
          int row = top + p * v->dilation_h;
          if (row >= v->in_h) break;
          for (int q = 0; q < v->kernel_w; q++) {
            int column = j * v->stride_w + q * v->dilation_w - v->pad_left;
            if (column < 0 || column >= v->in_w) continue;
            sum += get_half(d->spm + x + 2 * ((int64_t)(row * v->in_w + column) * v->in_c + c)) *
                   get_half(d->spm + w + 2 * ((int64_t)(p * v->kernel_w + q) * v->in_c + c));
          }
        }
        memcpy(out, &sum, 4);
      }
  }
  return 0;
}

int heddle_pool(heddle_device *d, const heddle_window *v, bool average, uint32_t x, uint32_t y) {
  if (!in_spm(d, x, 2ll * v->in_h * v->in_w * v->in_c) || !in_spm(d, y, 2ll * v->out_h * v->out_w * v->out_c))
    return BAD_PLACE;
  unsigned char *out = d->spm + y;
  for (int i = 0; i < v->out_h; i++)
    for (int j = 0; j < v->out_w; j++)
      for (int c = 0; c < v->in_c; c++, out += 2) {
        float best = -INFINITY, sum = 0.0f;
        int count = 0;
        for (int p = 0; p < v->kernel_h; p++)
          for (int q = 0; q < v->kernel_w; q++) {
            int row = i * v->stride_h + p * v->dilation_h - v->pad_top;
            int column = j * v->stride_w + q * v->dilation_w - v->pad_left;
            if (row < 0 || row >= v->in_h || column < 0 || column >= v->in_w) continue;
            float value = get_half(d->spm + x + 2 * ((int64_t)(row * v->in_w + column) * v->in_c + c));
            if (!(value <= best) && !isnan(best)) best = value;
            sum += value;
            count++;
          }
        set_half(out, average ? sum / (float)count : best);
      }
  return 0;
}

/* Where the weight of a row and a column is. */
static int64_t weight(const heddle_matrix *p, int k, int j) {
  if (p->block == 0) return (int64_t)k * p->columns + j;
  return ((int64_t)(j / p->block) * p->inner + k) * p->block + j % p->block;
}

int heddle_product(heddle_device *d, const heddle_matrix *p, uint32_t x, uint32_t w, uint32_t b, uint32_t y) {
  const int64_t columns = p->block ? (p->columns + p->block - 1) / p->block * p->block : p->columns;
  const int64_t x_step = (int64_t)p->rows * p->inner, w_step = columns * p->inner, y_step = (int64_t)p->rows * p->columns;
  if (!in_spm(d, x, 2 * p->batch * x_step) || !in_spm(d, w, 2 * p->batch * w_step) || !in_sums(d, y, 4 * p->batch * y_step) ||
      (p->bias && !in_spm(d, b, 2ll * p->columns)))
    return BAD_PLACE;
  for (int n = 0; n < p->batch; n++)
    for (int i = 0; i < p->rows; i++)
      for (int j = 0; j < p->columns; j += LANES) {
        int lanes = p->columns - j < LANES ? p->columns - j : LANES;
        float sum[LANES];
        unsigned char *out = d->sums + y + 4 * (n * y_step + (int64_t)i * p->columns + j);
        if (p->first) for (int l = 0; l < lanes; l++) sum[l] = p->bias ? get_half(d->spm + b + 2 * (j + l)) : 0.0f;
        else memcpy(sum, out, 4 * (size_t)lanes);
        for (int k = 0; k < p->inner; k++) {
          float value = get_half(d->spm + x + 2 * (n * x_step + (int64_t)i * p->inner + k));
          for (int l = 0; l < lanes; l++) sum[l] += value * get_half(d->spm + w + 2 * (n * w_step + weight(p, k, j + l)));
        }
        memcpy(out, sum, 4 * (size_t)lanes);
      }
  return 0;
}

int heddle_sum(heddle_device *d, uint32_t count, bool minus, bool relu, uint32_t a, uint32_t b, uint32_t y) {
  if (!in_spm(d, a, 2ll * count) || !in_spm(d, b, 2ll * count) || !in_spm(d, y, 2ll * count)) return BAD_PLACE;
  for (uint32_t i = 0; i < count; i++) {
    float left = get_half(d->spm + a + 2 * i), right = get_half(d->spm + b + 2 * i);
    float value = minus ? left - right : left + right;
    set_half(d->spm + y + 2 * i, relu && value < 0.0f ? 0.0f : value);
  }
  return 0;
}

int heddle_norm(heddle_device *d, uint32_t rows, uint32_t size, float epsilon, bool has_shift, uint32_t x,
                uint32_t scale, uint32_t shift, uint32_t y) {
  const int64_t bytes = 4ll * rows * size;
  if (size > ROW) return BAD_SIZE;
  if (!in_spm(d, x, bytes) || !in_spm(d, scale, 4ll * size) || (has_shift && !in_spm(d, shift, 4ll * size)) || !in_spm(d, y, bytes))
    return BAD_PLACE;
  for (uint32_t i = 0; i < rows; i++) {
    double mean = 0.0, var = 0.0;
    for (uint32_t j = 0; j < size; j++) {
      memcpy(&d->row[j], d->spm + x + 4 * (i * size + j), 4);
      mean += d->row[j];
    }
    mean /= size;
    for (uint32_t j = 0; j < size; j++) var += (d->row[j] - mean) * (d->row[j] - mean);
    double by = 1.0 / sqrt(var / size + epsilon);
    for (uint32_t j = 0; j < size; j++) {
      float factor, term = 0.0f;
      memcpy(&factor, d->spm + scale + 4 * j, 4);
      if (has_shift) memcpy(&term, d->spm + shift + 4 * j, 4);
      float value = (float)((d->row[j] - mean) * by) * factor + term;
      memcpy(d->spm + y + 4 * (i * size + j), &value, 4);
    }
  }
  return 0;
}

int heddle_softmax(heddle_device *d, uint32_t rows, uint32_t size, uint32_t x, uint32_t y) {
  if (size > ROW) return BAD_SIZE;
  if (!in_spm(d, x, 2ll * rows * size) || !in_spm(d, y, 2ll * rows * size)) return BAD_PLACE;
  for (uint32_t i = 0; i < rows; i++) {
    float most = get_half(d->spm + x + 2 * i * size), sum = 0.0f;
    for (uint32_t j = 1; j < size; j++) {
      float value = get_half(d->spm + x + 2 * (i * size + j));
      if (value > most) most = value;
    }
    for (uint32_t j = 0; j < size; j++) {
      d->row[j] = expf(get_half(d->spm + x + 2 * (i * size + j)) - most);
      sum += d->row[j];
    }
    for (uint32_t j = 0; j < size; j++) set_half(d->spm + y + 2 * (i * size + j), d->row[j] / sum);
  }
  return 0;
}
