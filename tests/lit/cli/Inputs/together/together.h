#include <stdint.h>

/* y = x * w, each column times its scale. Without scales they are in w, each in
 * front of its column. */
int together_product(const float *x, const float *w, const float *scales,
                     float *y, int32_t rows, int32_t inner, int32_t columns);
