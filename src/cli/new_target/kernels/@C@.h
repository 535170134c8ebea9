/* The functions of @NAME@ besides those of opencl_device.h. */
#ifndef @C@_DEVICE_H
#define @C@_DEVICE_H

#include "opencl_device.h"

/** Opens an OpenCL device, and gives it the kernels of this target. */
int @C@_open(phl_opencl **device, const char *kind, const char *platform,
             int64_t number, const char *flags, int64_t timeout);

/** y[rows][columns] = x[rows][inner] * w[inner][columns] + b[columns], then
 * the greater of it and 0 if `relu` is 1. `b` may be NULL. */
int @C@_dense(phl_opencl *device, const float *x, const float *w,
              const float *b, float *y, int32_t rows, int32_t inner,
              int32_t columns, int32_t relu);

#endif
