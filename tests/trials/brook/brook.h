/* The driver of Brook. Addresses are of its DRAM; all functions that compute or copy only queue a command. */
#ifndef BROOK_H
#define BROOK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct brook_device brook_device;
int brook_open(brook_device **device, int64_t queues, int64_t depth, int64_t row, int64_t dram);
int brook_close(brook_device *d);
const char *brook_text(int status);
int brook_allocate(brook_device *d, size_t bytes, void **address);
int brook_free(brook_device *d, void *address);
int brook_copy_in(brook_device *d, void *to, const void *from, size_t bytes);
int brook_copy_out(brook_device *d, void *to, const void *from, size_t bytes);
int brook_copy(brook_device *d, void *to, const void *from, size_t bytes);

int brook_wait(brook_device *d);
int brook_submit(brook_device *d, int64_t *ticket);
int brook_wait_for(brook_device *d, int64_t ticket);
int brook_select(brook_device *d, int64_t queue);
int brook_after(brook_device *d, int64_t ticket);

typedef struct brook_product_work {
  const int64_t *a, *b;
  int64_t a_rank, b_rank, act;
} brook_product_work;
int brook_product(brook_device *d, const float *a, const float *b, const float *c, float *y, const brook_product_work *w);
typedef struct brook_gemm_work {
  int64_t rows, columns, inner;
  bool trans_a, trans_b;
  float alpha, beta;
  int64_t c_rows, c_columns;
} brook_gemm_work;
int brook_gemm(brook_device *d, const float *a, const float *b, const float *c, float *y, const brook_gemm_work *w);
int brook_softmax(brook_device *d, const float *x, const float *mask, float *y, int64_t rows, int64_t size, int64_t mask_rows, float factor);
int brook_layer_norm(brook_device *d, const float *x, const float *scale, const float *shift, float *y, int64_t rows, int64_t size,
                     float epsilon);
int brook_rms_norm(brook_device *d, const float *x, const float *scale, float *y, int64_t rows, int64_t size, float epsilon);
int brook_embed(brook_device *d, const float *table, const void *ids, float *y, int64_t rows, int64_t size, int64_t count, bool wide);
typedef struct brook_binary_work {
  const int64_t *a, *b;
  int64_t a_rank, b_rank, function;
} brook_binary_work;
int brook_binary(brook_device *d, const float *a, const float *b, float *y, const brook_binary_work *w);
int brook_unary(brook_device *d, const float *x, float *y, int64_t count, int64_t function);
int brook_reduce(brook_device *d, const float *x, float *y, const int64_t *shape, int64_t rank, int64_t axis, int64_t function);
int brook_transpose(brook_device *d, const void *x, void *y, const int64_t *shape, const int64_t *perm, int64_t rank);
int brook_choose(brook_device *d, const bool *c, const float *a, const float *b, float *y, int64_t count, int64_t step);
int brook_join(brook_device *d, const void *a, const void *b, void *y, int64_t outer, int64_t a_size, int64_t b_size);
#endif
