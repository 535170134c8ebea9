/* Functions that the code of @NAME@ calls. */
#ifndef @C@_KERNELS_H
#define @C@_KERNELS_H

#include <stdint.h>

/* y[rows][columns] = x[rows][inner] * w[columns][inner]. What is not 0 ends the inference. */
int @C@_matmul(const float *x, const float *w, float *y, int32_t rows, int32_t inner,
               int32_t columns);

#endif
