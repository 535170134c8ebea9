#include "core.h"
#include <stdlib.h>
struct core {
  int id;
};
int core_open(core **made) {
  *made = malloc(sizeof(core));
  if (*made == NULL)
    return 1;
  (*made)->id = 42;
  return 0;
}
int core_close(core *made) {
  free(made);
  return 0;
}
int core_matmul(core *device, const float *x, float *y, int exact,
                const struct core_weights *w) {
  if (device->id != 42)
    return 2;
  if (exact != CORE_EXACT || w->mode != CORE_ROWS || w->tag != 0 ||
      w->size.columns != w->dims[1])
    return 3;
  for (int i = 0; i < w->dims[0]; ++i) {
    for (int k = 0; k < w->size.depth; ++k)
      w->work[k] = x[i * w->size.depth + k];
    for (int j = 0; j < w->size.columns; ++j) {
      float sum = 0;
      for (int k = 0; k < w->size.depth; ++k)
        sum += w->work[k] * w->data[k * w->size.columns + j];
      y[i * w->size.columns + j] = sum;
    }
  }
  return 0;
}
void core_clip(const float *x, float *y, size_t size, const core_range *range) {
  for (size_t i = 0; i < size; i += (size_t)range->step.columns) {
    y[i] = range->mode == CORE_ROWS && x[i] <= range->low ? range->low : x[i];
  }
}
