#include <stddef.h>
#include <stdint.h>
int tiny_dq(const void *x, float s, float *y, size_t n, int32_t kind);
int tiny_dqf8(const void *x, float s, float *y, size_t n, int32_t mantissa);
int tiny_dqf4(const void *x, float s, float *y, size_t n);
int tiny_add(const void *a, const void *b, void *y, size_t n, int32_t bf);
int tiny_product(const float *a, const void *w, float s, float *y, size_t m,
                 size_t k, size_t n);
