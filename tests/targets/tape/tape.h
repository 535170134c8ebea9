/* A device that executes tapes: a list of steps over slots, with weights. */
#ifndef TAPE_H
#define TAPE_H

#include <stddef.h>

typedef struct tape_device tape_device;

int tape_open(tape_device **out);
/* Fails if a tape is still loaded. */
int tape_close(tape_device *device);
const char *tape_text(int status);
int tape_load(tape_device *device, const void *data, size_t bytes,
              void **handle);
int tape_execute(tape_device *device, void *handle, const void *const *inputs,
                 size_t num_inputs, void *const *outputs, size_t num_outputs);
int tape_unload(tape_device *device, void *handle);

#endif
