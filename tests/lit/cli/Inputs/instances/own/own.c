#include "own.h"
#ifdef __clang__
#define COMPILED 10
#else
#define COMPILED 1
#endif
void own_relu(const float *x, float *y, int n) {
  const float factor = (float)(own_factor() * COMPILED);
  for (int i = 0; i < n; i++)
    y[i] = (x[i] > 0 ? x[i] : 0) * factor;
}
