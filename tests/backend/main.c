/* Runs the model of conv.mlir on zeros, where channel c of the output is 2 * c.
 */
#include "model.h"

#include <stdio.h>

#ifdef __cplusplus
#define ALIGN(n) alignas(n)
#else
#define ALIGN(n) _Alignas(n)
#endif

int main(void) {
  ALIGN(64) static unsigned char arena[MODEL_ARENA_BYTES];
  static float x[MODEL_INPUT_0_ELEMENTS];
  static float y[MODEL_OUTPUT_0_ELEMENTS];
  const int32_t status = model_run(x, y, arena);
  if (status != 0)
    return status;
  printf("%s %s %g\n", MODEL_INPUT_0_NAME, MODEL_OUTPUT_0_NAME,
         (double)y[MODEL_OUTPUT_0_ELEMENTS - 1]);
  return 0;
}
