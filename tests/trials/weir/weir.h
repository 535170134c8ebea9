/* The driver of Weir, which executes programs of compile.py. */
#ifndef WEIR_H
#define WEIR_H
#include <stddef.h>
#include <stdint.h>

typedef struct weir_device weir_device;
int weir_open(weir_device **device, int64_t arena);
int weir_close(weir_device *d);
const char *weir_text(int status);
int weir_load(weir_device *d, const void *data, size_t bytes, void **handle);
int weir_execute(weir_device *d, void *handle, const void *const *inputs, size_t num_inputs, void *const *outputs, size_t num_outputs);
int weir_unload(weir_device *d, void *handle);
#endif
