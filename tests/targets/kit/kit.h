#ifndef KIT_H
#define KIT_H

#include <stdbool.h>
#include <stdint.h>

struct kit_window {
  int32_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left, dilation_h,
      dilation_w;
};

void kit_leaky(const float *x, float *y, int32_t size, float alpha);
void kit_sub(const float *a, const float *b, float *y, int32_t size);
void kit_add_row(const float *a, const float *b, float *y, int32_t rows,
                 int32_t columns);
void kit_add_int(const int32_t *a, const int32_t *b, int32_t *y, int32_t size);
void kit_max_byte(const uint8_t *a, const uint8_t *b, uint8_t *y, int32_t size);
void kit_clip(const float *x, float *y, int32_t size, float lo, float hi);
void kit_softmax(const float *x, float *y, int32_t rows, int32_t columns);
void kit_sum(const float *x, float *y, int32_t outer, int32_t size,
             int32_t inner, bool wide);
void kit_argmax(const float *x, int64_t *y, int32_t rows, int32_t columns);
void kit_transpose(const float *x, float *y, int32_t images, int32_t rows,
                   int32_t columns);
void kit_concat(const float *a, const float *b, float *y, int32_t rows,
                int32_t a_columns, int32_t b_columns);
void kit_split(const float *x, float *a, float *b, int32_t rows,
               int32_t a_columns, int32_t b_columns);
void kit_top_k(const float *x, float *values, int64_t *indices, int32_t rows,
               int32_t columns, int32_t k);
void kit_cumsum(const float *x, float *y, int32_t rows, int32_t columns,
                bool exclusive);
void kit_max_pool(const float *x, float *y, int32_t planes, int32_t h,
                  int32_t w, int32_t out_h, int32_t out_w,
                  const struct kit_window *v);
void kit_average_pool(const float *x, float *y, int32_t planes, int32_t h,
                      int32_t w, int32_t out_h, int32_t out_w,
                      const struct kit_window *v);
void kit_layer_norm(const float *x, const float *scale, const float *bias,
                    float *y, int32_t rows, int32_t columns, float epsilon);
void kit_quantize(const float *x, uint8_t *y, int32_t size, float scale,
                  int32_t zero, bool even);

#endif
