/* The driver of @NAME@. Addresses are those of the device, which the host cannot use.
 * All but the first five functions queue a command and return. */
#ifndef @C@_DRIVER_H
#define @C@_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct @C@_device @C@_device;

int @C@_open(@C@_device **device);
int @C@_close(@C@_device *device);
/* A sentence for a status. */
const char *@C@_text(int status);
int @C@_allocate(@C@_device *device, size_t bytes, void **address);
int @C@_free(@C@_device *device, void *address);

/* Returns when all that was queued is done, with the status of what failed first. */
int @C@_wait(@C@_device *device);

/* The host's end has to stay as it is until the device is waited for. */
int @C@_copy_in(@C@_device *device, void *to, const void *from, size_t bytes);
int @C@_copy_out(@C@_device *device, void *to, const void *from, size_t bytes);
int @C@_copy(@C@_device *device, void *to, const void *from, size_t bytes);

typedef struct @C@_product {
  int64_t rows, inner, columns;
  bool relu, transposed;
} @C@_product;

/* y[rows][columns] = x[rows][inner] * w + b; w is [inner][columns], or with
 * `transposed` [columns][inner]; b may be null. The structure is read at once. */
int @C@_multiply(@C@_device *device, const float *x, const float *w, const float *b,
                 float *y, const @C@_product *product);
int @C@_add(@C@_device *device, const float *a, const float *b, float *y, size_t count);
int @C@_relu(@C@_device *device, const float *x, float *y, size_t count);

#endif
