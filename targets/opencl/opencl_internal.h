/*===- opencl_internal.h - What the device's sources share --------*- C -*-===*/

#ifndef PHL_OPENCL_INTERNAL_H
#define PHL_OPENCL_INTERNAL_H

/* Queues as OpenCL 1.2 has them, which all platforms do. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "opencl_device.h"

/* A buffer, and the address that stands for its start. */
typedef struct {
  cl_mem memory;
  uintptr_t start;
  size_t bytes;
} opencl_block;

typedef struct {
  cl_kernel kernel;
  char *name;
} opencl_kernel;

struct phl_opencl {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  char *flags;
  /* Milliseconds. */
  int64_t timeout;
  /* The next allocation's address. */
  uintptr_t next;
  opencl_block *blocks;
  size_t block_count;
  /* In the order of their names. */
  opencl_kernel *kernels;
  size_t kernel_count;
};

/* The buffer that so many bytes from an address on are in. */
int opencl_place(const phl_opencl *device, const void *address, size_t bytes,
                 cl_mem *memory, cl_ulong *offset);

#endif
