#pragma once
#include <stddef.h>
#include <stdint.h>

void acme_soft_gate(const float *x, const float *limit, float *y, size_t size,
                    float beta);
void acme_histogram(const float *x, int32_t *counts, size_t rows,
                    size_t columns, size_t bins, float low, float high);
void acme_blend(const float *base, const float *a, const float *b, float *low,
                float *high, size_t size);
