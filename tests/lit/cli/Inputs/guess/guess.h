#ifndef GUESS_H
#define GUESS_H

#include <stdint.h>

int guess_copy(uint32_t tile, const void *host, uint32_t rows, uint32_t bytes,
               int64_t host_pitch, uint32_t tile_pitch);
int guess_store(uint32_t tile, void *host, uint32_t rows, uint32_t bytes,
                int64_t host_pitch, uint32_t tile_pitch);
int guess_abs(uint32_t x, uint32_t y, uint32_t count);

#endif
