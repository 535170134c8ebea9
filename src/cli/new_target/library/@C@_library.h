/* The interface of the library @NAME@: what of its own header the target uses. The
 * real one is included in its place where -library-path says where it is. */
#ifndef @C@_LIBRARY_H
#define @C@_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* y[m][n] = alpha * a[m][k] * b[k][n] + beta * y, where `trans_a` stands for a[k][m]
 * and `trans_b` for b[n][k]. With beta 0, y is not read. */
int @C@_gemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
             float alpha, const float *a, const float *b, float beta, float *y);
/* y[i] = a[i] + b[i] */
int @C@_add(size_t count, const float *a, const float *b, float *y);
/* A sentence for a status. */
const char *@C@_text(int status);

#endif
