/* Kernels of @NAME@: their text, and the functions that launch them. */
#include "@C@.h"

#include "opencl_internal.h"

#include <string.h>

static const char *const kernels =
    "__kernel void @C@_dense4(__global char *xb, ulong xo, __global char *wb, ulong wo,\n"
    "    __global char *bb, ulong bo, __global char *yb, ulong yo,\n"
    "    int inner, int columns, int has_bias, int relu) {\n"
    "  const int row = get_global_id(1), column = 4 * get_global_id(0);\n"
    "  __global const float *x = (__global const float *)(xb + xo) + row * inner;\n"
    "  __global const float *w = (__global const float *)(wb + wo) + column;\n"
    "  float4 sum = 0;\n"
    "  for (int i = 0; i < inner; ++i) sum += x[i] * vload4(0, w + (long)i * columns);\n"
    "  if (has_bias) sum += vload4(0, (__global const float *)(bb + bo) + column);\n"
    "  if (relu) sum = select(fmax(sum, 0.0f), sum, isnan(sum));\n"
    "  vstore4(sum, 0, (__global float *)(yb + yo) + (long)row * columns + column);\n"
    "}\n";

int @C@_open(phl_opencl **device, const char *kind, const char *platform,
             int64_t number, const char *flags, int64_t timeout) {
  int status = phl_opencl_open(device, kind, platform, number, flags, timeout);
  if (status)
    return status;
  status = phl_opencl_load(*device, &kernels, 1);
  if (status)
    phl_opencl_close(*device);
  return status;
}

static const opencl_kernel *find(const phl_opencl *device, const char *name) {
  for (size_t at = 0; at < device->kernel_count; ++at)
    if (strcmp(device->kernels[at].name, name) == 0)
      return &device->kernels[at];
  return NULL;
}

int @C@_dense(phl_opencl *device, const float *x, const float *w,
              const float *b, float *y, int32_t rows, int32_t inner,
              int32_t columns, int32_t relu) {
  const opencl_kernel *found = find(device, "@C@_dense4");
  if (!found)
    return PHL_OPENCL_ERR_KERNEL;
  /* A buffer is what it is in, and an offset. */
  const void *buffers[] = {x, w, b ? b : x, y};
  for (cl_uint at = 0; at < 4; ++at) {
    cl_mem memory;
    cl_ulong offset;
    int status = opencl_place(device, buffers[at], 0, &memory, &offset);
    if (!status)
      status = clSetKernelArg(found->kernel, 2 * at, sizeof memory, &memory);
    if (!status)
      status = clSetKernelArg(found->kernel, 2 * at + 1, sizeof offset, &offset);
    if (status)
      return status;
  }
  const int32_t numbers[] = {inner, columns, b != NULL, relu};
  for (cl_uint at = 0; at < 4; ++at) {
    const int status =
        clSetKernelArg(found->kernel, 8 + at, sizeof numbers[at], &numbers[at]);
    if (status)
      return status;
  }
  const size_t sizes[] = {(size_t)columns / 4, (size_t)rows};
  return clEnqueueNDRangeKernel(device->queue, found->kernel, 2, NULL, sizes,
                                NULL, 0, NULL, NULL);
}
