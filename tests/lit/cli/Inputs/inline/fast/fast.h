#pragma once
#include <stddef.h>
#include <stdint.h>

int fast_gemm(const float *a, const float *b, const float *c, float *y,
              float *row, int32_t m, int32_t n, int32_t k, const int32_t *shape,
              float alpha);
void fast_tanh(const float *x, float *y, size_t size);
void fast_exp(const float *x, float *y, size_t size);
