/* A device that executes blobs, and only while it is activated. */
#ifndef CAPSULE_H
#define CAPSULE_H

#include <stddef.h>
#include <stdint.h>

typedef struct capsule_device capsule_device;

enum {
  CAPSULE_ACTIVATE = 1,
  CAPSULE_EXECUTE,
  CAPSULE_DEACTIVATE,
  CAPSULE_COPY
};

/* `fail` names what the device fails at, each time. */
int capsule_open(capsule_device **out, const char *id, const char *fail);
/* Fails if the device is active, or something is loaded or allocated. */
int capsule_close(capsule_device *device);
const char *capsule_text(int status);

/* Not twice without the other in between. */
int capsule_activate(capsule_device *device);
int capsule_deactivate(capsule_device *device);

int capsule_load(capsule_device *device, const void *data, size_t bytes,
                 void **handle);
int capsule_execute(capsule_device *device, void *handle,
                    const void *const *inputs, size_t num_inputs,
                    void *const *outputs, size_t num_outputs);
int capsule_unload(capsule_device *device, void *handle);

/* Its memory, for those who use it. */
int capsule_allocate(capsule_device *device, size_t bytes, void **address);
int capsule_free(capsule_device *device, void *address);
int capsule_copy(capsule_device *device, void *to, const void *from,
                 size_t bytes);

/* Takes absolute values without any blob. */
int capsule_magnitude(capsule_device *device, const float *x, float *y,
                      size_t count);

/* Has the device fail at one of the above, once. */
void capsule_fail_once(capsule_device *device, int what);
/* Number of its activations. */
size_t capsule_activated(const capsule_device *device);

#endif
