#include <stddef.h>

typedef struct quiet_device quiet_device;

int quiet_open(quiet_device **device);
int quiet_close(quiet_device *device);
int quiet_calls(const quiet_device *device);
int quiet_add(quiet_device *device, const float *a, const float *b, float *y,
              size_t count);
