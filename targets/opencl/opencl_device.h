/*===- opencl_device.h - A device that runs kernels in OpenCL C ---*- C -*-===
 *
 * A device of any OpenCL 1.2 platform, with memory and an in-order queue of its
 * own. Addresses that phl_opencl_allocate gives are numbers for places in that
 * memory: the host can add to them, but neither read nor write there.
 *
 * Copies and launches only put a command into the queue. What the host gave by
 * address has to stay until phl_opencl_wait returns.
 *
 * All functions return 0 or a status: of OpenCL where it is negative, one of
 * phl_opencl_status where it is not. One thread at a time uses a device.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PHL_OPENCL_DEVICE_H
#define PHL_OPENCL_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum phl_opencl_status {
  PHL_OPENCL_OK = 0,
  /** No host memory. */
  PHL_OPENCL_ERR_MEMORY = 1,
  /** No platform has a device of this kind and number. */
  PHL_OPENCL_ERR_DEVICE = 2,
  /** An address is none of this device, or a range leaves its allocation. */
  PHL_OPENCL_ERR_ADDRESS = 3,
  /** No kernel has this name. */
  PHL_OPENCL_ERR_KERNEL = 4,
  /** Commands took longer than the device may. */
  PHL_OPENCL_ERR_TIMEOUT = 5,
  /** The kernels are no program for this device. */
  PHL_OPENCL_ERR_BUILD = 6,
  /** A kind of device that there is not. */
  PHL_OPENCL_ERR_KIND = 7
};

typedef struct phl_opencl phl_opencl;

/** Opens the device `number`, counted from 0 over all platforms whose name has
 * `platform` in it, of those that are of `kind`: "any", "gpu", "cpu" or
 * "accelerator". Programs are built with `flags`. Waiting takes `timeout`
 * milliseconds at most. NULL stands for "". */
int phl_opencl_open(phl_opencl **device, const char *kind, const char *platform,
                    int64_t number, const char *flags, int64_t timeout);
int phl_opencl_close(phl_opencl *device);

int phl_opencl_allocate(phl_opencl *device, size_t bytes, void **address);
int phl_opencl_free(phl_opencl *device, void *address);
int phl_opencl_copy_in(phl_opencl *device, void *to, const void *from,
                       size_t bytes);
int phl_opencl_copy_out(phl_opencl *device, void *to, const void *from,
                        size_t bytes);

/** Builds a program from these texts. A later program adds its kernels. */
int phl_opencl_load(phl_opencl *device, const char *const *sources,
                    size_t count);

/** Runs a kernel once for each index of a grid. Each buffer is two arguments:
 * `__global char *` and the offset of the address in it, `ulong`. */
int phl_opencl_launch(phl_opencl *device, const char *kernel,
                      const size_t *sizes, const void *const *buffers,
                      size_t count);

/** Returns when all commands are done. */
int phl_opencl_wait(phl_opencl *device);

/** Text of a status. For a program that was not built these are the first
 * words of the compiler, for the first such program of the process. */
const char *phl_opencl_text(int status);

#ifdef __cplusplus
}
#endif

#endif
