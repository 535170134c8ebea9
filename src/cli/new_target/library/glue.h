/* Functions between Phaseline and the library. */
#ifndef @C@_GLUE_H
#define @C@_GLUE_H

#include "@C@_library.h"

/* y = alpha * a * b + beta * row for each row of y; `row` may be null. */
int @C@_gemm_row(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                 float alpha, const float *a, const float *b, float beta,
                 const float *row, float *y);

#endif
