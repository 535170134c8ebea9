/*===- phl_openblas.c - Products that are more than one sgemm -----*- C -*-===*/

#include "phl_openblas.h"

void phl_openblas_batch(const float *a, const float *b, float *y, int64_t count,
                        int32_t m, int32_t k, int32_t n) {
  const int64_t as = (int64_t)m * k, bs = (int64_t)k * n, ys = (int64_t)m * n;
  for (int64_t i = 0; i < count; ++i)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1,
                a + i * as, k, b + i * bs, n, 0, y + i * ys, n);
}

void phl_openblas_gemm(const float *a, const float *b, const float *c, float *y,
                       int32_t m, int32_t k, int32_t n, bool trans_a,
                       bool trans_b, float alpha, float beta, int32_t c_rows,
                       int32_t c_columns) {
  if (c)
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column)
        y[row * n + column] = c[(c_rows == 1 ? 0 : row) * c_columns +
                                (c_columns == 1 ? 0 : column)];
  /* With beta 0, sgemm does not read y. */
  cblas_sgemm(CblasRowMajor, trans_a ? CblasTrans : CblasNoTrans,
              trans_b ? CblasTrans : CblasNoTrans, m, n, k, alpha, a,
              trans_a ? m : k, b, trans_b ? k : n, c ? beta : 0, y, n);
}

void phl_openblas_conv1x1(const float *x, const float *w, const float *b,
                          float *y, int32_t in_c, int32_t out_c,
                          int32_t pixels) {
  phl_openblas_gemm(w, x, b, y, out_c, in_c, pixels, false, false, 1, 1, out_c,
                    1);
}
