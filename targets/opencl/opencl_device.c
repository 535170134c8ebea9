/*===- opencl_device.c - Opening, memory and time -----------------*- C -*-===*/

/* Clocks. */
#define _POSIX_C_SOURCE 200809L

#include "opencl_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  MAX_PLATFORMS = 16,
  MAX_DEVICES = 64,
  /* Addresses of allocations are multiples of it, and apart by it. */
  PAGE = 4096
};

static int has_name(cl_platform_id platform, const char *part) {
  char name[256] = "";
  if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name,
                        NULL) != CL_SUCCESS)
    return 0;
  return strstr(name, part) != NULL;
}

static cl_device_type type_of(const char *kind) {
  if (strcmp(kind, "gpu") == 0)
    return CL_DEVICE_TYPE_GPU;
  if (strcmp(kind, "cpu") == 0)
    return CL_DEVICE_TYPE_CPU;
  if (strcmp(kind, "accelerator") == 0)
    return CL_DEVICE_TYPE_ACCELERATOR;
  return strcmp(kind, "any") == 0 ? CL_DEVICE_TYPE_ALL : 0;
}

static int find(cl_device_id *found, const char *kind, const char *part,
                int64_t number) {
  cl_platform_id platforms[MAX_PLATFORMS];
  cl_uint count = 0;
  if (type_of(kind) == 0)
    return PHL_OPENCL_ERR_KIND;
  /* Without any platform this is an error of the loader's own. */
  if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS)
    return PHL_OPENCL_ERR_DEVICE;
  count = count < MAX_PLATFORMS ? count : MAX_PLATFORMS;
  for (cl_uint at = 0; at < count; ++at) {
    cl_device_id devices[MAX_DEVICES];
    cl_uint more = 0;
    if (!has_name(platforms[at], part) ||
        clGetDeviceIDs(platforms[at], type_of(kind), MAX_DEVICES, devices,
                       &more) != CL_SUCCESS)
      continue;
    more = more < MAX_DEVICES ? more : MAX_DEVICES;
    if (number < (int64_t)more) {
      *found = devices[number];
      return PHL_OPENCL_OK;
    }
    number -= more;
  }
  return PHL_OPENCL_ERR_DEVICE;
}

int phl_opencl_open(phl_opencl **out, const char *kind, const char *platform,
                    int64_t number, const char *flags, int64_t timeout) {
  cl_device_id id;
  int status = find(&id, kind ? kind : "any", platform ? platform : "", number);
  if (status)
    return status;
  phl_opencl *device = calloc(1, sizeof *device);
  if (!device)
    return PHL_OPENCL_ERR_MEMORY;
  device->id = id;
  device->timeout = timeout;
  device->next = PAGE;
  flags = flags ? flags : "";
  device->flags = malloc(strlen(flags) + 1);
  status = device->flags ? CL_SUCCESS : PHL_OPENCL_ERR_MEMORY;
  if (!status) {
    strcpy(device->flags, flags);
    device->context = clCreateContext(NULL, 1, &id, NULL, NULL, &status);
  }
  if (!status)
    device->queue = clCreateCommandQueue(device->context, id, 0, &status);
  if (status) {
    phl_opencl_close(device);
    return status;
  }
  *out = device;
  return PHL_OPENCL_OK;
}

int phl_opencl_close(phl_opencl *device) {
  int status = device->queue ? phl_opencl_wait(device) : 0;
  for (size_t at = 0; at < device->kernel_count; ++at) {
    clReleaseKernel(device->kernels[at].kernel);
    free(device->kernels[at].name);
  }
  for (size_t at = 0; at < device->block_count; ++at)
    clReleaseMemObject(device->blocks[at].memory);
  if (device->queue)
    clReleaseCommandQueue(device->queue);
  if (device->context)
    clReleaseContext(device->context);
  free(device->kernels);
  free(device->blocks);
  free(device->flags);
  free(device);
  return status;
}

int phl_opencl_allocate(phl_opencl *device, size_t bytes, void **address) {
  bytes = bytes ? bytes : 1;
  if (bytes > SIZE_MAX / 2 - device->next - 2 * PAGE)
    return PHL_OPENCL_ERR_MEMORY;
  opencl_block *blocks =
      realloc(device->blocks, (device->block_count + 1) * sizeof *blocks);
  if (!blocks)
    return PHL_OPENCL_ERR_MEMORY;
  device->blocks = blocks;
  int status = CL_SUCCESS;
  opencl_block *block = &blocks[device->block_count];
  block->memory =
      clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
  if (status)
    return status;
  block->start = device->next;
  block->bytes = bytes;
  device->next += (bytes / PAGE + 2) * PAGE;
  device->block_count++;
  *address = (void *)(uintptr_t)block->start;
  return PHL_OPENCL_OK;
}

int phl_opencl_free(phl_opencl *device, void *address) {
  for (size_t at = 0; at < device->block_count; ++at) {
    opencl_block *block = &device->blocks[at];
    if (block->start != (uintptr_t)address)
      continue;
    const int waited = phl_opencl_wait(device);
    const int status = clReleaseMemObject(block->memory);
    *block = device->blocks[--device->block_count];
    return waited ? waited : status;
  }
  return PHL_OPENCL_ERR_ADDRESS;
}

int opencl_place(const phl_opencl *device, const void *address, size_t bytes,
                 cl_mem *memory, cl_ulong *offset) {
  const uintptr_t at = (uintptr_t)address;
  for (size_t index = 0; index < device->block_count; ++index) {
    const opencl_block *block = &device->blocks[index];
    if (at < block->start || at - block->start > block->bytes)
      continue;
    *memory = block->memory;
    *offset = at - block->start;
    return bytes <= block->bytes - *offset ? PHL_OPENCL_OK
                                           : PHL_OPENCL_ERR_ADDRESS;
  }
  return PHL_OPENCL_ERR_ADDRESS;
}

int phl_opencl_copy_in(phl_opencl *device, void *to, const void *from,
                       size_t bytes) {
  cl_mem memory;
  cl_ulong offset;
  const int status = opencl_place(device, to, bytes, &memory, &offset);
  if (status || bytes == 0)
    return status;
  return clEnqueueWriteBuffer(device->queue, memory, CL_FALSE, offset, bytes,
                              from, 0, NULL, NULL);
}

int phl_opencl_copy_out(phl_opencl *device, void *to, const void *from,
                        size_t bytes) {
  cl_mem memory;
  cl_ulong offset;
  const int status = opencl_place(device, from, bytes, &memory, &offset);
  if (status || bytes == 0)
    return status;
  return clEnqueueReadBuffer(device->queue, memory, CL_FALSE, offset, bytes, to,
                             0, NULL, NULL);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Until the event has come, or failed. */
static int poll(cl_event event, int64_t timeout) {
  const int64_t end = now() + timeout * 1000;
  int64_t pause = 20;
  for (;;) {
    cl_int state;
    const int status = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                      sizeof state, &state, NULL);
    if (status)
      return status;
    if (state <= CL_COMPLETE)
      return state;
    if (now() > end)
      return PHL_OPENCL_ERR_TIMEOUT;
    nanosleep(&(struct timespec){0, pause * 1000}, NULL);
    pause = pause < 1000 ? pause * 2 : pause;
  }
}

int phl_opencl_wait(phl_opencl *device) {
  cl_event event;
  int status = clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &event);
  if (status)
    return status;
  status = clFlush(device->queue);
  if (!status)
    status = poll(event, device->timeout);
  clReleaseEvent(event);
  return status;
}
