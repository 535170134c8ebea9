#include "kit.h"

#include <math.h>
#include <string.h>

void kit_leaky(const float *x, float *y, int32_t size, float alpha) {
  for (int32_t i = 0; i < size; i++)
    y[i] = x[i] < 0.0f ? alpha == 0.0f ? 0.0f : alpha * x[i] : x[i];
}

void kit_sub(const float *a, const float *b, float *y, int32_t size) {
  for (int32_t i = 0; i < size; i++)
    y[i] = a[i] - b[i];
}

void kit_add_row(const float *a, const float *b, float *y, int32_t rows,
                 int32_t columns) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++)
      y[i * columns + j] = a[i * columns + j] + b[j];
}

void kit_add_int(const int32_t *a, const int32_t *b, int32_t *y, int32_t size) {
  for (int32_t i = 0; i < size; i++)
    y[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]);
}

void kit_max_byte(const uint8_t *a, const uint8_t *b, uint8_t *y,
                  int32_t size) {
  for (int32_t i = 0; i < size; i++)
    y[i] = a[i] > b[i] ? a[i] : b[i];
}

void kit_clip(const float *x, float *y, int32_t size, float lo, float hi) {
  for (int32_t i = 0; i < size; i++) {
    float v = x[i] < lo ? lo : x[i];
    y[i] = v > hi ? hi : v;
  }
}

void kit_softmax(const float *x, float *y, int32_t rows, int32_t columns) {
  for (int32_t i = 0; i < rows; i++, x += columns, y += columns) {
    float most = x[0], sum = 0.0f;
    for (int32_t j = 1; j < columns; j++)
      most = x[j] > most ? x[j] : most;
    for (int32_t j = 0; j < columns; j++)
      sum += y[j] = expf(x[j] - most);
    for (int32_t j = 0; j < columns; j++)
      y[j] /= sum;
  }
}

void kit_sum(const float *x, float *y, int32_t outer, int32_t size,
             int32_t inner, bool wide) {
  for (int32_t i = 0; i < outer; i++)
    for (int32_t k = 0; k < inner; k++) {
      double wide_sum = 0.0;
      float sum = 0.0f;
      for (int32_t j = 0; j < size; j++) {
        float value = x[(i * size + j) * inner + k];
        wide_sum += value;
        sum += value;
      }
      y[i * inner + k] = wide ? (float)wide_sum : sum;
    }
}

void kit_argmax(const float *x, int64_t *y, int32_t rows, int32_t columns) {
  for (int32_t i = 0; i < rows; i++) {
    int32_t best = 0;
    for (int32_t j = 1; j < columns; j++)
      if (x[i * columns + j] > x[i * columns + best])
        best = j;
    y[i] = best;
  }
}

void kit_transpose(const float *x, float *y, int32_t images, int32_t rows,
                   int32_t columns) {
  for (int32_t n = 0; n < images; n++)
    for (int32_t i = 0; i < columns; i++)
      for (int32_t j = 0; j < rows; j++)
        *y++ = x[(n * rows + j) * columns + i];
}

void kit_concat(const float *a, const float *b, float *y, int32_t rows,
                int32_t a_columns, int32_t b_columns) {
  for (int32_t i = 0; i < rows; i++) {
    memcpy(y, a + i * a_columns, (size_t)a_columns * sizeof *y);
    y += a_columns;
    memcpy(y, b + i * b_columns, (size_t)b_columns * sizeof *y);
    y += b_columns;
  }
}

void kit_split(const float *x, float *a, float *b, int32_t rows,
               int32_t a_columns, int32_t b_columns) {
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = 0; j < a_columns; j++)
      *a++ = *x++;
    for (int32_t j = 0; j < b_columns; j++)
      *b++ = *x++;
  }
}

/* The greatest first; of equal ones the first. */
void kit_top_k(const float *x, float *values, int64_t *indices, int32_t rows,
               int32_t columns, int32_t k) {
  for (int32_t i = 0; i < rows; i++, x += columns)
    for (int32_t n = 0; n < k; n++, values++, indices++) {
      int32_t best = -1;
      for (int32_t j = 0; j < columns; j++) {
        int after = n == 0 || x[j] < values[-1] ||
                    (x[j] == values[-1] && j > indices[-1]);
        if (after && (best < 0 || x[j] > x[best]))
          best = j;
      }
      *values = x[best];
      *indices = best;
    }
}

void kit_cumsum(const float *x, float *y, int32_t rows, int32_t columns,
                bool exclusive) {
  for (int32_t i = 0; i < rows; i++) {
    float sum = 0.0f;
    for (int32_t j = 0; j < columns; j++, x++) {
      *y++ = exclusive ? sum : sum + *x;
      sum += *x;
    }
  }
}

void kit_max_pool(const float *x, float *y, int32_t planes, int32_t h,
                  int32_t w, int32_t out_h, int32_t out_w,
                  const struct kit_window *v) {
  for (int32_t n = 0; n < planes; n++)
    for (int32_t i = 0; i < out_h; i++)
      for (int32_t j = 0; j < out_w; j++) {
        float most = -INFINITY;
        for (int32_t p = 0; p < v->kernel_h; p++)
          for (int32_t q = 0; q < v->kernel_w; q++) {
            int32_t row = i * v->stride_h - v->pad_top + p * v->dilation_h;
            int32_t column = j * v->stride_w - v->pad_left + q * v->dilation_w;
            if (row < 0 || column < 0 || row >= h || column >= w)
              continue;
            float value = x[(n * h + row) * w + column];
            most = value > most ? value : most;
          }
        *y++ = most;
      }
}

void kit_average_pool(const float *x, float *y, int32_t planes, int32_t h,
                      int32_t w, int32_t out_h, int32_t out_w,
                      const struct kit_window *v) {
  for (int32_t n = 0; n < planes; n++)
    for (int32_t i = 0; i < out_h; i++)
      for (int32_t j = 0; j < out_w; j++) {
        float sum = 0.0f;
        int32_t count = 0;
        for (int32_t p = 0; p < v->kernel_h; p++)
          for (int32_t q = 0; q < v->kernel_w; q++) {
            int32_t row = i * v->stride_h - v->pad_top + p * v->dilation_h;
            int32_t column = j * v->stride_w - v->pad_left + q * v->dilation_w;
            if (row < 0 || column < 0 || row >= h || column >= w)
              continue;
            sum += x[(n * h + row) * w + column];
            count++;
          }
        *y++ = sum / (float)count;
      }
}

void kit_layer_norm(const float *x, const float *scale, const float *bias,
                    float *y, int32_t rows, int32_t columns, float epsilon) {
  for (int32_t i = 0; i < rows; i++, x += columns, y += columns) {
    float mean = 0.0f, spread = 0.0f;
    for (int32_t j = 0; j < columns; j++)
      mean += x[j] / (float)columns;
    for (int32_t j = 0; j < columns; j++)
      spread += (x[j] - mean) * (x[j] - mean) / (float)columns;
    for (int32_t j = 0; j < columns; j++)
      y[j] = (x[j] - mean) / sqrtf(spread + epsilon) * scale[j] +
             (bias ? bias[j] : 0.0f);
  }
}

void kit_quantize(const float *x, uint8_t *y, int32_t size, float scale,
                  int32_t zero, bool even) {
  for (int32_t i = 0; i < size; i++) {
    float scaled = x[i] / scale;
    float value = (even ? rintf(scaled) : roundf(scaled)) + (float)zero;
    y[i] = value < 0.0f ? 0 : value > 255.0f ? 255 : (uint8_t)value;
  }
}
