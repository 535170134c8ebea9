/*===- phl_openblas.h - Products that are more than one sgemm -----*- C -*-===
 *
 * Calls of the target `openblas` besides cblas_sgemm itself. Matrices are
 * row-major and dense. The functions have no state; OpenBLAS runs on as many
 * threads as OPENBLAS_NUM_THREADS allows.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PHL_OPENBLAS_H
#define PHL_OPENBLAS_H

#include <cblas.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y[i] = a[i] b[i] for `count` matrices a[i] of m * k and b[i] of k * n. */
void phl_openblas_batch(const float *a, const float *b, float *y, int64_t count,
                        int32_t m, int32_t k, int32_t n);

/** y = alpha * a' b' + beta * c, where a' is a or its transpose. `c` is null or
 * has c_rows, which is m or 1, rows of c_columns, which is n or 1. */
void phl_openblas_gemm(const float *a, const float *b, const float *c, float *y,
                       int32_t m, int32_t k, int32_t n, bool trans_a,
                       bool trans_b, float alpha, float beta, int32_t c_rows,
                       int32_t c_columns);

/** A convolution with a window of one pixel: y = w x + b, where x is
 * [in_c][pixels], w [out_c][in_c], and b, which may be null, [out_c]. */
void phl_openblas_conv1x1(const float *x, const float *w, const float *b,
                          float *y, int32_t in_c, int32_t out_c,
                          int32_t pixels);

#ifdef __cplusplus
}
#endif

#endif /* PHL_OPENBLAS_H */
