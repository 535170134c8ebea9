/* Functions of the core @NAME@ that are written by hand. Replace the loops by its
 * intrinsics, or by a .S file among the sources. */
#include "@C@_kernels.h"

#include <stddef.h>

int @C@_matmul(const float *x, const float *w, float *y, int32_t rows, int32_t inner,
               int32_t columns) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < columns; j++) {
      float sum = 0.0f;
      for (int32_t k = 0; k < inner; k++)
        sum += x[(ptrdiff_t)i * inner + k] * w[(ptrdiff_t)j * inner + k];
      *y++ = sum;
    }
  return 0;
}
