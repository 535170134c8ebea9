#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** 4 rows of `a` times 8 columns of `w`, which are adjacent, over `k`. */
void lanes_product(const float *a, const float *w, float *y, int32_t k,
                   bool first, size_t a_step, size_t y_step);

/** Up to 8 channels of a row of a convolution. `sizes`: rows and columns of the
 * kernel, and the step of its columns. */
int lanes_row(const float *x, const float *w, const float *b, float *y,
              int32_t width, int32_t channels, int32_t in_channels,
              int32_t in_rows, int32_t in_columns, int32_t top, int32_t left,
              const int32_t *sizes, size_t x_row, size_t x_column,
              size_t y_column);

void lanes_add(const float *a, const float *b, float *y, int32_t n);

struct lanes_size {
  int32_t rows, columns;
  size_t a_step, b_step, y_step;
};

void lanes_mul(const float *a, const float *b, float *y,
               const struct lanes_size *size);
