#include <stdint.h>
void one_sub(const float *a, const float *b, float *y, int32_t n);
