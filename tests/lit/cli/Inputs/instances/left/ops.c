#include "ops.h"

void vendor_op(const float *x, float *y, int n) {
  for (int i = 0; i < n; i++)
    y[i] = FACTOR * x[i];
}
