/* The library has no function for a row that is added: each row of y gets it first. */
#include "glue.h"

#include <string.h>

int @C@_gemm_row(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                 float alpha, const float *a, const float *b, float beta,
                 const float *row, float *y) {
  for (int64_t i = 0; row && i < m; i++)
    memcpy(y + i * n, row, (size_t)n * sizeof *y);
  return @C@_gemm(trans_a, trans_b, m, n, k, alpha, a, b, row ? beta : 0.0f, y);
}
