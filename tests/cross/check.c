/*===- check.c - Runs compiled models on data that is linked in -----*- C -*-===
 *
 * data.h, which tests/cross.rs writes, has for each package its input, the
 * output to expect, and what opens and closes its devices; CASES(X) is X(name,
 * NAME) for each. Plain C99, so that it runs wherever the packages do.
 *
 *===----------------------------------------------------------------------===*/

#include "data.h"
#include <math.h>
#include <stdio.h>

/** The largest difference that counts as equal, of what is not below 1. */
#define TOLERANCE 1e-4f

static int differs(const char *name, const float *found, const float *wanted,
                   unsigned long count) {
  float worst = 0;
  for (unsigned long i = 0; i < count; ++i) {
    const float size = fabsf(wanted[i]) > 1 ? fabsf(wanted[i]) : 1;
    const float error = fabsf(found[i] - wanted[i]) / size;
    if (!(error <= worst))
      worst = error;
  }
  printf("%s: error %g of %lu numbers\n", name, (double)worst, count);
  return !(worst <= TOLERANCE);
}

#define CHECK(model, MODEL)                                                    \
  static int check_##model(void) {                                             \
    static float output[MODEL##_OUTPUT_0_ELEMENTS];                            \
    static unsigned char memory[MODEL##_ARENA_BYTES + 64];                     \
    unsigned char *const arena = memory + (64 - (uintptr_t)memory % 64) % 64;  \
    void *devices[4] = {0};                                                    \
    const void *const inputs[] = {model##_input};                              \
    void *const outputs[] = {output};                                          \
    int32_t status = model##_open(devices);                                    \
    if (status == 0)                                                           \
      status = model##_invoke(inputs, outputs, model##_constants, arena,       \
                              devices, 0);                                     \
    model##_close(devices);                                                    \
    if (status != 0) {                                                         \
      printf(#model ": status %ld\n", (long)status);                           \
      return 1;                                                                \
    }                                                                          \
    return differs(#model, output, model##_wanted, MODEL##_OUTPUT_0_ELEMENTS); \
  }
CASES(CHECK)

#define CALL(model, MODEL) failed |= check_##model();

int main(void) {
  int failed = 0;
  CASES(CALL)
  puts(failed ? "FAILED" : "PASSED");
  return failed;
}
