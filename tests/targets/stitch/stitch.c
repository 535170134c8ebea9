#include "stitch.h"

#include <stdlib.h>

struct stitch_device {
  int calls;
};

int stitch_open(struct stitch_device **device) {
  *device = calloc(1, sizeof(struct stitch_device));
  return *device ? 0 : 1;
}

int stitch_close(struct stitch_device *device) {
  free(device);
  return 0;
}

void stitch_relu(const float *x, float *y, int32_t n) {
  for (int32_t i = 0; i < n; ++i)
    y[i] = x[i] < 0.0f ? 0.0f : x[i];
}

int stitch_scale(struct stitch_device *device, const float *x, const float *c,
                 float *y, int32_t n, bool swapped) {
  int32_t half = swapped ? n / 2 : 0;
  device->calls += 1;
  for (int32_t i = 0; i < n; ++i)
    y[i] = x[i] * c[(i + half) % n];
  return 0;
}
