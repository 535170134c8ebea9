/* The driver of @NAME@. */
#ifndef @C@_DRIVER_H
#define @C@_DRIVER_H

#include <stdint.h>

typedef struct @C@_device @C@_device;

int @C@_open(@C@_device **device);
int @C@_close(@C@_device *device);
/* A sentence for a status. */
const char *@C@_text(int status);

/* Runs the commands of a stream in order, until one fails. Buffers are in
 * `weights`, in `scratch`, or one of the inputs and outputs, whose addresses
 * are the arguments after `outputs`. */
int @C@_submit(@C@_device *device, const void *stream, int64_t bytes,
               const void *weights, void *scratch, int inputs, int outputs, ...);

#endif
