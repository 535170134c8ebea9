/* The driver of Nib. f16 is uint16_t; int4 comes two to a byte, the first in the low bits. */
#ifndef NIB_H
#define NIB_H
#include <stdbool.h>
#include <stdint.h>

typedef struct nib_device nib_device;
int nib_open(nib_device **device);
int nib_close(nib_device *d);
const char *nib_text(int status);

typedef struct nib_blocks { int64_t rows, inner, columns, block, panel; } nib_blocks;
int nib_w4(nib_device *d, const float *x, const void *w, const float *s, const void *z, float *y, const nib_blocks *b, void *panel);
int nib_w4_rows(nib_device *d, const float *x, const void *w, const float *s, const void *z, const float *bias,
                float *y, const nib_blocks *b);
int nib_w8(nib_device *d, const float *x, const int8_t *w, const float *s, float *y, int64_t rows, int64_t inner, int64_t columns,
           int64_t step, bool relu);
int nib_embed(nib_device *d, const int8_t *w, const float *s, const int8_t *z, const void *ids, float *y, int64_t rows,
              int64_t size, int64_t count, bool wide);
int nib_rms(nib_device *d, const float *x, const float *r, const float *g, float *y, int64_t rows, int64_t size, float epsilon);
int nib_gate(nib_device *d, const float *g, const float *u, float *y, int64_t count, bool gelu);
int nib_softmax(nib_device *d, const uint16_t *x, uint16_t *y, int64_t outer, int64_t size, int64_t inner, void *row);
int nib_sum(nib_device *d, const uint16_t *a, const uint16_t *b, uint16_t *y, int64_t count, int64_t period);
int nib_argmax(nib_device *d, const float *x, int64_t *y, int64_t rows, int64_t size, bool least);
#endif
