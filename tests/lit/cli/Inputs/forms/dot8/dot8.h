// Layers in int8.
#ifndef DOT8_H
#define DOT8_H

#include <stdint.h>

// `b` may be NULL. Sums are multiplied by the factor of their channel.
int dot8_conv(const int8_t *x, const int8_t *w, const int32_t *b,
              const float *factors, int8_t *y, int zx, int zy, int least,
              int most, int channels, int height, int width, int filters,
              int rows, int columns, int kh, int kw, int sh, int sw, int top,
              int left, int groups);
int dot8_product(const int8_t *x, const int8_t *w, const int32_t *b,
                 const float *factors, int8_t *y, int zx, int zy, int least,
                 int most, int rows, int depth, int columns);
int dot8_add(const int8_t *a, const int8_t *b, int8_t *y, int size, float sa,
             int za, float sb, int zb, float sy, int zy, int least, int most);

#endif
