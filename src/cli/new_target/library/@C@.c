/* Stands in for the library @NAME@ where it is not installed: the same functions, in
 * plain C. It is for tests and not fast. */
#include "@C@_library.h"

enum { BAD_SIZE = 1 };

int @C@_gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
             float alpha, const float *a, const float *b, float beta, float *y) {
  if (m < 0 || n < 0 || k < 0) return BAD_SIZE;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++, y++) {
      float sum = 0.0f;
      for (int64_t l = 0; l < k; l++)
        sum += a[trans_a ? l * m + i : i * k + l] * b[trans_b ? j * k + l : l * n + j];
      *y = beta == 0.0f ? alpha * sum : alpha * sum + beta * *y;
    }
  return 0;
}

int @C@_add(size_t count, const float *a, const float *b, float *y) {
  for (size_t i = 0; i < count; i++) y[i] = a[i] + b[i];
  return 0;
}

const char *@C@_text(int status) {
  return status == BAD_SIZE ? "a size is negative" : "unknown status";
}
