#include "inst.h"

int inst_calls;

int inst_open(inst_device **device) {
  *device = (inst_device *)(void *)&inst_calls;
  return 0;
}

int inst_close(inst_device *device) { return (void *)device != &inst_calls; }

const char *inst_text(int status) {
  return status == 3 ? "another one's device" : "unknown";
}

int inst_relu(inst_device *device, const float *x, float *y, int32_t n) {
  if ((void *)device != &inst_calls)
    return 3;
  inst_calls++;
  for (int i = 0; i < n; i++)
    y[i] = (x[i] > 0 ? x[i] : 0) * inst_factor(inst_calls);
  return 0;
}
