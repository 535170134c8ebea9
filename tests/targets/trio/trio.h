// An engine with 4 KiB of memory and four channels to it.
#ifndef TRIO_H
#define TRIO_H

#include <stdint.h>

typedef struct trio trio;

int trio_open(trio **engine);
int trio_close(trio *engine);
const char *trio_text(int status);

// A transfer between the engine's memory and the host's, which takes place by
// the time that its channel is waited for.
int trio_load(trio *engine, uint32_t to, const void *from, uint32_t bytes,
              uint32_t channel);
int trio_store(trio *engine, uint32_t from, void *to, uint32_t bytes,
               uint32_t channel);
int trio_wait(trio *engine, uint32_t channel);

// y = a * b + c, of so many f32.
int trio_fuse(trio *engine, uint32_t a, uint32_t b, uint32_t c, uint32_t y,
              uint32_t count);

#endif
