/* The driver of Heddle. Tiles are offsets in the scratchpad (f16), or in the memory of sums (f32). */
#ifndef HEDDLE_H
#define HEDDLE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct heddle_device heddle_device;
int heddle_open(heddle_device **device, int64_t spm, int64_t sums);
int heddle_close(heddle_device *device);
const char *heddle_text(int status);

/* A transfer of up to four dimensions, outermost first; strides in bytes. */
typedef struct heddle_span {
  uint32_t count[4];
  int64_t host[4];
  int64_t tile[4];
  uint32_t element;
} heddle_span;
int heddle_fetch(heddle_device *d, uint32_t tile, const void *host, const heddle_span *span, uint32_t channel);
int heddle_put(heddle_device *d, uint32_t tile, void *host, const heddle_span *span, uint32_t channel);
/* From f32 sums to f16, with an activation: 1 relu, 2 relu6. */
int heddle_drain(heddle_device *d, uint32_t tile, void *host, const heddle_span *span, uint32_t act, uint32_t channel);
int heddle_join(heddle_device *d, uint32_t channel);

typedef struct heddle_window {
  int32_t in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride_h, stride_w;
  int32_t dilation_h, dilation_w, pad_top, pad_left;
  bool first, bias;
} heddle_window;
int heddle_conv(heddle_device *d, const heddle_window *v, uint32_t x, uint32_t w, uint32_t b, uint32_t y);
int heddle_depthwise(heddle_device *d, const heddle_window *v, uint32_t x, uint32_t w, uint32_t b, uint32_t y);
int heddle_pool(heddle_device *d, const heddle_window *v, bool average, uint32_t x, uint32_t y);

typedef struct heddle_matrix {
  int32_t batch, rows, inner, columns;
  /* Columns of a block of w; 0 if it is a plain matrix. */
  int32_t block;
  bool first, bias;
} heddle_matrix;
int heddle_product(heddle_device *d, const heddle_matrix *p, uint32_t x, uint32_t w, uint32_t b, uint32_t y);
int heddle_sum(heddle_device *d, uint32_t count, bool minus, bool relu, uint32_t a, uint32_t b, uint32_t y);
int heddle_norm(heddle_device *d, uint32_t rows, uint32_t size, float epsilon, bool has_shift, uint32_t x,
                uint32_t scale, uint32_t shift, uint32_t y);
int heddle_softmax(heddle_device *d, uint32_t rows, uint32_t size, uint32_t x, uint32_t y);
#endif
