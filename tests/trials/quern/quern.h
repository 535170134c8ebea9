/* The driver of Quern. */
#ifndef QUERN_H
#define QUERN_H
#include <stdint.h>

typedef struct quern_device quern_device;
int quern_open(quern_device **device, int64_t sram);
int quern_close(quern_device *d);
const char *quern_text(int status);
int quern_submit(quern_device *d, const void *stream, int64_t bytes, const void *weights, void *scratch, int inputs, int outputs, ...);
#endif
