#include <stddef.h>
#include <stdint.h>
int ot_load(uint32_t tile, const void *host, size_t bytes);
int ot_store(uint32_t tile, void *host, size_t bytes);
int ot_sub(uint32_t a, uint32_t b, uint32_t y, size_t count);
