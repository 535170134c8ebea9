#include "quiet.h"

#include <stdlib.h>

struct quiet_device {
  int calls, cycles;
};

int quiet_open(quiet_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : 1;
}

int quiet_close(quiet_device *device) {
  free(device);
  return 0;
}

int quiet_calls(const quiet_device *device) { return device->calls + 1; }

/* check-target: no defects. Nothing reads it. */
static void count_cycles(quiet_device *device, size_t count) {
  device->cycles += (int)(count / 8 + 1);
}
/* check-target: defects */

int quiet_add(quiet_device *device, const float *a, const float *b, float *y,
              size_t count) {
  device->calls += 1;
  count_cycles(device, count);
  for (size_t i = 0; i < count; i++)
    y[i] = a[i] + b[i];
  return 0;
}
