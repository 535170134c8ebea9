/*===- vecdsp.c - A simulated vector DSP: opening and closing -----*- C -*-===*/

#define _POSIX_C_SOURCE 200809L

#include "vecdsp_device.h"

#include <stdlib.h>
#include <time.h>

#ifndef VECDSP_DRAM
#define VECDSP_DRAM 268435456
#endif
#ifndef VECDSP_LANES
#define VECDSP_LANES 64
#endif
#ifndef VECDSP_BANDWIDTH
#define VECDSP_BANDWIDTH 32
#endif
#ifndef VECDSP_QUEUES_OPENED
#define VECDSP_QUEUES_OPENED 1
#endif
#ifndef VECDSP_DEPTH
#define VECDSP_DEPTH 64
#endif
#ifndef VECDSP_TIMEOUT
#define VECDSP_TIMEOUT 60000
#endif
#ifndef VECDSP_UNIFIED
#define VECDSP_UNIFIED 0
#endif

_Static_assert(sizeof(uintptr_t) >= 8, "addresses of devices need 64 bits");

vecdsp_config vecdsp_default_config(void) {
  const vecdsp_config config = {
      .dram = VECDSP_DRAM,
      .lanes = VECDSP_LANES,
      .bandwidth = VECDSP_BANDWIDTH,
      .queues = VECDSP_QUEUES_OPENED,
      .depth = VECDSP_DEPTH,
      .timeout = VECDSP_TIMEOUT,
      .unified = VECDSP_UNIFIED,
  };
  return config;
}

int vecdsp_open(vecdsp_device **out_device) {
  const vecdsp_config config = vecdsp_default_config();
  return vecdsp_open_as(out_device, &config);
}

/* An address space for each device: no processor of a host has memory there,
 * and none of two devices is at addresses of the other. */
static uintptr_t next_base(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static unsigned opened;
  pthread_mutex_lock(&mutex);
  const uintptr_t number = opened++ % 4096u;
  pthread_mutex_unlock(&mutex);
  return ((uintptr_t)0xd5 << 56) + (number << 44);
}

static bool open_conditions(vecdsp_device *device) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes))
    return false;
  const bool clock = !pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  const bool work = clock && !pthread_cond_init(&device->work, &attributes);
  const bool both = work && !pthread_cond_init(&device->progress, &attributes);
  if (work && !both)
    pthread_cond_destroy(&device->work);
  pthread_condattr_destroy(&attributes);
  return both;
}

static void join_threads(vecdsp_device *device) {
  pthread_mutex_lock(&device->mutex);
  device->closing = true;
  pthread_cond_broadcast(&device->work);
  pthread_mutex_unlock(&device->mutex);
  for (size_t i = 0; i < device->config.queues; i++)
    if (device->streams[i].has_thread)
      pthread_join(device->streams[i].thread, NULL);
  pthread_cond_destroy(&device->work);
  pthread_cond_destroy(&device->progress);
  pthread_mutex_destroy(&device->mutex);
}

static bool open_threads(vecdsp_device *device) {
  if (pthread_mutex_init(&device->mutex, NULL))
    return false;
  if (!open_conditions(device)) {
    pthread_mutex_destroy(&device->mutex);
    return false;
  }
  bool all = true;
  for (size_t i = 0; all && i < device->config.queues; i++) {
    vecdsp_stream *stream = &device->streams[i];
    all = !pthread_create(&stream->thread, NULL, vecdsp_worker, stream);
    stream->has_thread = all;
  }
  if (!all)
    join_threads(device);
  return all;
}

static void release(vecdsp_device *device) {
  for (size_t i = 0; i < device->config.queues; i++)
    free(device->streams[i].ring);
  free(device->dram);
  free(device->blocks);
  free(device);
}

static bool open_rings(vecdsp_device *device) {
  bool all = true;
  for (size_t i = 0; i < device->config.queues; i++) {
    vecdsp_stream *stream = &device->streams[i];
    stream->device = device;
    stream->ring = calloc(device->config.depth, sizeof *stream->ring);
    all = all && stream->ring;
  }
  return all;
}

int vecdsp_open_as(vecdsp_device **out_device, const vecdsp_config *config) {
  if (!config->dram || config->dram >> 44 || config->lanes < 1 ||
      config->bandwidth < 1 || !config->queues ||
      config->queues > VECDSP_QUEUES || !config->depth || config->timeout < 1)
    return VECDSP_ERR_ARGUMENT;
  vecdsp_device *device = calloc(1, sizeof *device);
  if (!device)
    return VECDSP_ERR_MEMORY;
  device->config = *config;
  device->base = next_base();
  if (!config->unified) {
    const size_t last = VECDSP_ALIGNMENT - 1;
    device->dram =
        aligned_alloc(VECDSP_ALIGNMENT, (config->dram + last) & ~last);
  }
  const bool has_memory = config->unified || device->dram;
  if (!open_rings(device) || !has_memory || !open_threads(device)) {
    release(device);
    return VECDSP_ERR_MEMORY;
  }
  *out_device = device;
  return VECDSP_OK;
}

int vecdsp_close(vecdsp_device *device) {
  if (!device)
    return VECDSP_OK;
  vecdsp_drain(device);
  join_threads(device);
  release(device);
  return VECDSP_OK;
}

const char *vecdsp_status_string(int status) {
  switch (status) {
  case VECDSP_OK:
    return "no error";
  case VECDSP_ERR_MEMORY:
    return "the host has no memory, or no thread, to open the device";
  case VECDSP_ERR_DRAM:
    return "the DRAM has no room for an allocation: a larger one is opened by "
           "the option `dram`";
  case VECDSP_ERR_ADDRESS:
    return "an operand is not at an address of this device: data of the host "
           "has to be copied in first";
  case VECDSP_ERR_RANGE:
    return "an operand is in no allocation, or reaches beyond its end";
  case VECDSP_ERR_ALIGNMENT:
    return "an operand is not aligned to its elements";
  case VECDSP_ERR_ARGUMENT:
    return "the numbers of a call make no sense";
  case VECDSP_ERR_TIMEOUT:
    return "no command was finished within the time that the option `timeout` "
           "gives; what was queued is dropped";
  case VECDSP_ERR_FAULT:
    return "the device reports a fault of its own";
  default:
    return "unknown status";
  }
}

/* Statistics of all devices. */
static pthread_mutex_t totals_mutex = PTHREAD_MUTEX_INITIALIZER;
static vecdsp_statistics totals;

static void add(vecdsp_statistics *to, const vecdsp_statistics *more) {
  to->bytes_in += more->bytes_in;
  to->bytes_out += more->bytes_out;
  to->bytes_within += more->bytes_within;
  to->calls += more->calls;
  to->cycles += more->cycles;
  to->busy_ns += more->busy_ns;
  to->waited_ns += more->waited_ns;
  if (more->most_queued > to->most_queued)
    to->most_queued = more->most_queued;
}

void vecdsp_count(vecdsp_device *device, const vecdsp_statistics *more) {
  add(&device->statistics, more);
  pthread_mutex_lock(&totals_mutex);
  add(&totals, more);
  pthread_mutex_unlock(&totals_mutex);
}

int vecdsp_read_statistics(vecdsp_device *device, vecdsp_statistics *out) {
  pthread_mutex_t *mutex = device ? &device->mutex : &totals_mutex;
  pthread_mutex_lock(mutex);
  *out = device ? device->statistics : totals;
  pthread_mutex_unlock(mutex);
  /* The host waits while commands run, so the rest ran beside it. */
  out->overlap_ns =
      out->busy_ns > out->waited_ns ? out->busy_ns - out->waited_ns : 0;
  return VECDSP_OK;
}

int vecdsp_fail_after(vecdsp_device *device, uint64_t n, int status) {
  if (n < 1 || !status)
    return VECDSP_ERR_ARGUMENT;
  pthread_mutex_lock(&device->mutex);
  device->fail_at = device->issued + n;
  device->fail_status = status;
  pthread_mutex_unlock(&device->mutex);
  return VECDSP_OK;
}

int vecdsp_stall_after(vecdsp_device *device, uint64_t n) {
  if (n < 1)
    return VECDSP_ERR_ARGUMENT;
  pthread_mutex_lock(&device->mutex);
  device->stall_at = device->issued + n;
  pthread_mutex_unlock(&device->mutex);
  return VECDSP_OK;
}
