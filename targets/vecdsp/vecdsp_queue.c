/*===- vecdsp_queue.c - The vector DSP's queue and copies ---------*- C -*-===*/

#define _POSIX_C_SOURCE 200809L

#include "vecdsp_device.h"

#include <string.h>
#include <time.h>

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/*===--------------------------- The device's side ------------------------===*/

static void count_command(vecdsp_device *device, const vecdsp_command *command,
                          uint64_t busy) {
  vecdsp_statistics more = {.cycles = command->cycles, .busy_ns = busy};
  switch (command->kind) {
  case VECDSP_CALL:
    more.calls = 1;
    break;
  case VECDSP_IN:
    more.bytes_in = command->operand[0].bytes;
    break;
  case VECDSP_OUT:
    more.bytes_out = command->operand[0].bytes;
    break;
  case VECDSP_WITHIN:
    more.bytes_within = command->operand[0].bytes;
    break;
  case VECDSP_AFTER:
    break;
  }
  vecdsp_count(device, &more);
}

static void count_wait(vecdsp_device *device, uint64_t start) {
  const vecdsp_statistics more = {.waited_ns = now() - start};
  vecdsp_count(device, &more);
}

/* True if the commands of a ticket are over. */
static bool is_over(const vecdsp_device *device, int64_t ticket) {
  const uint64_t queues = device->config.queues;
  const vecdsp_stream *stream = &device->streams[(uint64_t)ticket % queues];
  return stream->done >= (uint64_t)ticket / queues;
}

/* Runs the command at a place; the mutex is held, but not while it runs. */
static int run(vecdsp_stream *stream, uint64_t place) {
  vecdsp_device *device = stream->device;
  const vecdsp_command *command = &stream->ring[place % device->config.depth];
  while (command->number + 1 == device->stall_at && place >= stream->dropped)
    pthread_cond_wait(&device->work, &device->mutex);
  if (command->kind == VECDSP_AFTER)
    while (!is_over(device, command->as.ticket) && place >= stream->dropped)
      pthread_cond_wait(&device->work, &device->mutex);
  if (place < stream->dropped || device->failure)
    return device->failure;
  if (command->number + 1 == device->fail_at)
    return device->fail_status;
  if (command->kind == VECDSP_AFTER)
    return VECDSP_OK;
  void *at[VECDSP_OPERANDS] = {NULL};
  for (int i = 0; i < command->operands; i++) {
    int status;
    at[i] = vecdsp_reach(device, &command->operand[i], &status);
    if (status != VECDSP_OK)
      return status;
  }
  pthread_mutex_unlock(&device->mutex);
  const uint64_t start = now();
  command->run(command, at);
  const uint64_t end = now();
  pthread_mutex_lock(&device->mutex);
  count_command(device, command, end - start);
  return VECDSP_OK;
}

void *vecdsp_worker(void *argument) {
  vecdsp_stream *stream = argument;
  vecdsp_device *device = stream->device;
  pthread_mutex_lock(&device->mutex);
  while (true) {
    while (stream->done == stream->issued && !device->closing)
      pthread_cond_wait(&device->work, &device->mutex);
    if (stream->done == stream->issued)
      break;
    const int status = run(stream, stream->done);
    /* The first failure counts; of what is dropped there is none. */
    if (stream->done >= stream->dropped && !device->failure)
      device->failure = status;
    stream->done++;
    device->done++;
    pthread_cond_broadcast(&device->progress);
    /* Other queues may wait for this one. */
    if (device->config.queues > 1)
      pthread_cond_broadcast(&device->work);
  }
  pthread_mutex_unlock(&device->mutex);
  return NULL;
}

/*===---------------------------- The host's side -------------------------===*/

/* Waits for some progress; whether it came in time. The mutex is held. */
static bool await(vecdsp_device *device) {
  const uint64_t done = device->done, start = now();
  const uint64_t end = start + (uint64_t)device->config.timeout * 1000000u;
  const struct timespec until = {(time_t)(end / 1000000000u),
                                 (long)(end % 1000000000u)};
  int late = 0;
  while (device->done == done && !late)
    late = pthread_cond_timedwait(&device->progress, &device->mutex, &until);
  count_wait(device, start);
  return device->done != done;
}

/* Drops all that is queued, and waits for the commands that run. */
static void reset(vecdsp_device *device) {
  const uint64_t start = now();
  for (size_t i = 0; i < device->config.queues; i++)
    device->streams[i].dropped = device->streams[i].issued;
  pthread_cond_broadcast(&device->work);
  while (device->done < device->issued)
    pthread_cond_wait(&device->progress, &device->mutex);
  device->failure = VECDSP_OK;
  count_wait(device, start);
}

/* Waits for all commands, and takes the status of a failure among them. The
 * mutex is held. */
static int finish(vecdsp_device *device) {
  while (device->done < device->issued)
    if (!await(device)) {
      reset(device);
      return VECDSP_ERR_TIMEOUT;
    }
  const int status = device->failure;
  device->failure = VECDSP_OK;
  return status;
}

int vecdsp_wait(vecdsp_device *device) {
  pthread_mutex_lock(&device->mutex);
  const int status = finish(device);
  pthread_mutex_unlock(&device->mutex);
  return status;
}

void vecdsp_drain(vecdsp_device *device) {
  pthread_mutex_lock(&device->mutex);
  while (device->done < device->issued)
    if (!await(device)) {
      reset(device);
      device->failure = VECDSP_ERR_TIMEOUT;
    }
  pthread_mutex_unlock(&device->mutex);
}

int vecdsp_refuse(vecdsp_device *device) {
  const int status = vecdsp_wait(device);
  return status != VECDSP_OK ? status : VECDSP_ERR_ARGUMENT;
}

int vecdsp_use_queue(vecdsp_device *device, int64_t queue) {
  if (queue < 0 || (uint64_t)queue >= device->config.queues)
    return vecdsp_refuse(device);
  device->selected = (size_t)queue;
  return VECDSP_OK;
}

/*===------------------------------- Tickets ------------------------------===*/

int vecdsp_ticket(vecdsp_device *device, int64_t *out_ticket) {
  pthread_mutex_lock(&device->mutex);
  const uint64_t issued = device->streams[device->selected].issued;
  *out_ticket = (int64_t)(issued * device->config.queues + device->selected);
  pthread_mutex_unlock(&device->mutex);
  return VECDSP_OK;
}

/* True if the device gave the ticket. The mutex is held. */
static bool is_ticket(const vecdsp_device *device, int64_t ticket) {
  const uint64_t queues = device->config.queues;
  return ticket >= 0 && (uint64_t)ticket / queues <=
                            device->streams[(uint64_t)ticket % queues].issued;
}

int vecdsp_wait_for(vecdsp_device *device, int64_t ticket) {
  int status = VECDSP_OK;
  pthread_mutex_lock(&device->mutex);
  const bool is_known = is_ticket(device, ticket);
  while (status == VECDSP_OK && is_known && !is_over(device, ticket))
    if (!await(device)) {
      reset(device);
      status = VECDSP_ERR_TIMEOUT;
    }
  /* A failure stays for the rest, until all is waited for. */
  if (status == VECDSP_OK && device->failure)
    status = finish(device);
  pthread_mutex_unlock(&device->mutex);
  return is_known ? status : vecdsp_refuse(device);
}

int vecdsp_after(vecdsp_device *device, int64_t ticket) {
  vecdsp_command command = {.kind = VECDSP_AFTER, .as.ticket = ticket};
  pthread_mutex_lock(&device->mutex);
  const bool is_known = is_ticket(device, ticket);
  pthread_mutex_unlock(&device->mutex);
  return is_known ? vecdsp_submit(device, &command) : vecdsp_refuse(device);
}

/* The model of time: lanes and memory work at once. */
static uint64_t cycles(const vecdsp_config *config,
                       const vecdsp_command *command) {
  const uint64_t lanes = (uint64_t)config->lanes;
  const uint64_t width = (uint64_t)config->bandwidth;
  uint64_t bytes = 0;
  for (int i = 0; i < command->operands; i++)
    bytes += command->operand[i].host ? 0 : command->operand[i].bytes;
  const uint64_t computing = (command->operations + lanes - 1) / lanes;
  const uint64_t moving = (bytes + width - 1) / width;
  return VECDSP_LAUNCH + (computing > moving ? computing : moving);
}

int vecdsp_submit(vecdsp_device *device, vecdsp_command *command) {
  const uint64_t depth = device->config.depth;
  int status = VECDSP_OK;
  command->cycles = cycles(&device->config, command);
  pthread_mutex_lock(&device->mutex);
  vecdsp_stream *stream = &device->streams[device->selected];
  while (status == VECDSP_OK && stream->issued - stream->done == depth)
    if (!await(device)) {
      reset(device);
      status = VECDSP_ERR_TIMEOUT;
    }
  if (status == VECDSP_OK) {
    command->number = device->issued++;
    stream->ring[stream->issued++ % depth] = *command;
    const vecdsp_statistics more = {.most_queued =
                                        device->issued - device->done};
    vecdsp_count(device, &more);
    pthread_cond_broadcast(&device->work);
    if (device->config.unified)
      status = finish(device);
  }
  pthread_mutex_unlock(&device->mutex);
  return status;
}

/*===-------------------------------- Copies ------------------------------===*/

static void run_copy(const vecdsp_command *command, void *const *at) {
  memmove(at[0], at[1], command->operand[0].bytes);
}

static int copy(vecdsp_device *device, void *to, const void *from, size_t bytes,
                vecdsp_kind kind) {
  if (!bytes)
    return VECDSP_OK;
  vecdsp_command command = {
      .run = run_copy,
      .kind = kind,
      .operands = 2,
      .operand = {{to, bytes, 1, kind == VECDSP_OUT},
                  {from, bytes, 1, kind == VECDSP_IN}},
  };
  return vecdsp_submit(device, &command);
}

int vecdsp_copy_in(vecdsp_device *device, void *to, const void *from,
                   size_t bytes) {
  return copy(device, to, from, bytes, VECDSP_IN);
}

int vecdsp_copy_out(vecdsp_device *device, void *to, const void *from,
                    size_t bytes) {
  return copy(device, to, from, bytes, VECDSP_OUT);
}

int vecdsp_copy(vecdsp_device *device, void *to, const void *from,
                size_t bytes) {
  return copy(device, to, from, bytes, VECDSP_WITHIN);
}
