#include <stdbool.h>
#include <stdint.h>

void packed_add(const float *x, const uint8_t *w, const float *s, float *y,
                int32_t count, int32_t bytes, bool is_signed);
