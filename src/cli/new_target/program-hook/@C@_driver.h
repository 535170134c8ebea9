/* The driver of @NAME@. */
#ifndef @C@_DRIVER_H
#define @C@_DRIVER_H

#include <stdint.h>

typedef struct @C@_device @C@_device;

int @C@_open(@C@_device **device);
int @C@_close(@C@_device *device);
/* A sentence for a status. */
const char *@C@_text(int status);

/* An instruction of the vector unit, on registers; opcodes are those of compile.py. */
typedef struct @C@_step {
  uint8_t opcode, result, a, b;
} @C@_step;

/* Runs a program on vectors of `elements`. The inputs are in the first registers; the
 * outputs are what is in the registers `results` at the end. */
int @C@_run(@C@_device *device, const @C@_step *code, int32_t steps, int64_t elements,
            const float *const *in, int32_t ins, float *const *out,
            const uint8_t *results, int32_t outs);

/* y = x * w; w as pack.py writes it: for each of `columns` a count, then pairs of a
 * place in a row of x and the bits of a float. */
int @C@_matmul(@C@_device *device, const float *x, const int32_t *w, float *y,
               int32_t rows, int32_t inner, int32_t columns);

#endif
