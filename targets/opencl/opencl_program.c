/*===- opencl_program.c - Kernels ---------------------------------*- C -*-===*/

#include "opencl_internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of what a compiler said first: it does not change while
 * somebody reads it. */
static char build_log[512];
static atomic_flag is_written = ATOMIC_FLAG_INIT;

static int compare(const void *a, const void *b) {
  const opencl_kernel *left = a, *right = b;
  return strcmp(left->name, right->name);
}

/* Takes over a kernel. */
static int add(phl_opencl *device, cl_kernel kernel) {
  size_t bytes = 0;
  int status =
      clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, NULL, &bytes);
  if (status)
    return status;
  char *name = malloc(bytes + 1);
  opencl_kernel *kernels =
      realloc(device->kernels, (device->kernel_count + 1) * sizeof *kernels);
  device->kernels = kernels ? kernels : device->kernels;
  if (!name || !kernels) {
    free(name);
    return PHL_OPENCL_ERR_MEMORY;
  }
  name[bytes] = 0;
  status = clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, bytes, name, NULL);
  if (status) {
    free(name);
    return status;
  }
  kernels[device->kernel_count++] = (opencl_kernel){kernel, name};
  return PHL_OPENCL_OK;
}

static int add_all(phl_opencl *device, cl_program program) {
  cl_uint count = 0;
  int status = clCreateKernelsInProgram(program, 0, NULL, &count);
  if (status || count == 0)
    return status;
  cl_kernel *kernels = calloc(count, sizeof *kernels);
  if (!kernels)
    return PHL_OPENCL_ERR_MEMORY;
  status = clCreateKernelsInProgram(program, count, kernels, NULL);
  for (cl_uint at = 0; at < count && kernels[at]; ++at) {
    if (!status)
      status = add(device, kernels[at]);
    if (status)
      clReleaseKernel(kernels[at]);
  }
  free(kernels);
  qsort(device->kernels, device->kernel_count, sizeof *device->kernels,
        compare);
  return status;
}

/* Quotients as IEEE 754 has them where the device can. */
static int build(phl_opencl *device, cl_program program) {
  static const char exact[] = " -cl-fp32-correctly-rounded-divide-sqrt";
  cl_device_fp_config config = 0;
  clGetDeviceInfo(device->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config,
                  &config, NULL);
  char *flags = malloc(strlen(device->flags) + sizeof exact);
  if (!flags)
    return PHL_OPENCL_ERR_MEMORY;
  strcpy(flags, device->flags);
  if (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
    strcat(flags, exact);
  const int status = clBuildProgram(program, 1, &device->id, flags, NULL, NULL);
  free(flags);
  if (status != CL_BUILD_PROGRAM_FAILURE)
    return status;
  size_t bytes = 0;
  clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL,
                        &bytes);
  char *log = bytes ? malloc(bytes + 1) : NULL;
  if (log && !atomic_flag_test_and_set(&is_written)) {
    log[0] = log[bytes] = 0;
    clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, bytes, log,
                          NULL);
    strncpy(build_log, log, sizeof build_log - 1);
  }
  free(log);
  return PHL_OPENCL_ERR_BUILD;
}

int phl_opencl_load(phl_opencl *device, const char *const *sources,
                    size_t count) {
  int status = CL_SUCCESS;
  cl_program program =
      clCreateProgramWithSource(device->context, (cl_uint)count,
                                (const char **)(void *)sources, NULL, &status);
  if (status)
    return status;
  status = build(device, program);
  if (!status)
    status = add_all(device, program);
  clReleaseProgram(program);
  return status;
}

int phl_opencl_launch(phl_opencl *device, const char *kernel,
                      const size_t *sizes, const void *const *buffers,
                      size_t count) {
  const opencl_kernel wanted = {NULL, (char *)(uintptr_t)kernel};
  const opencl_kernel *found =
      device->kernel_count
          ? bsearch(&wanted, device->kernels, device->kernel_count,
                    sizeof wanted, compare)
          : NULL;
  if (!found)
    return PHL_OPENCL_ERR_KERNEL;
  for (size_t at = 0; at < count; ++at) {
    cl_mem memory;
    cl_ulong offset;
    int status = opencl_place(device, buffers[at], 0, &memory, &offset);
    if (!status)
      status = clSetKernelArg(found->kernel, (cl_uint)(2 * at), sizeof memory,
                              &memory);
    if (!status)
      status = clSetKernelArg(found->kernel, (cl_uint)(2 * at + 1),
                              sizeof offset, &offset);
    if (status)
      return status;
  }
  const cl_uint dims = sizes[2] > 1 ? 3 : sizes[1] > 1 ? 2 : 1;
  return clEnqueueNDRangeKernel(device->queue, found->kernel, dims, NULL, sizes,
                                NULL, 0, NULL, NULL);
}

const char *phl_opencl_text(int status) {
  static const struct {
    int status;
    const char *text;
  } known[] = {
      {PHL_OPENCL_ERR_MEMORY, "no host memory"},
      {PHL_OPENCL_ERR_DEVICE,
       "no OpenCL device of this kind, platform and number; clinfo lists them, "
       "and Debian's pocl-opencl-icd makes the CPU one"},
      {PHL_OPENCL_ERR_ADDRESS, "an address that is none of the device"},
      {PHL_OPENCL_ERR_KERNEL, "a kernel that was not loaded"},
      {PHL_OPENCL_ERR_TIMEOUT,
       "commands took longer than the option `timeout` allows"},
      {PHL_OPENCL_ERR_KIND,
       "the option `kind` is to be any, gpu, cpu or accelerator"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device has too little memory"},
      {CL_OUT_OF_RESOURCES, "the device has too few resources, or is gone"},
      {CL_OUT_OF_HOST_MEMORY, "the platform has no host memory"},
      {CL_INVALID_BUFFER_SIZE, "a buffer is larger than the device allows"},
      {CL_DEVICE_NOT_AVAILABLE, "the device is not available"},
      {CL_COMPILER_NOT_AVAILABLE, "the platform has no compiler"},
  };
  if (status == PHL_OPENCL_ERR_BUILD)
    return build_log[0] ? build_log : "the kernels could not be compiled";
  for (size_t at = 0; at < sizeof known / sizeof *known; ++at)
    if (known[at].status == status)
      return known[at].text;
  return "an error of OpenCL, by its number in CL/cl.h";
}
