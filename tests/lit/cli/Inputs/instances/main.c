/* Runs the compiled models `net` and, with TWO, `net2` on one vector. */
#include "net.h"
#include <stdio.h>
#ifdef TWO
#include "net2.h"
#endif

static _Alignas(64) unsigned char arena[4096];
static float x[4] = {1, -2, 4, 9}, y[4];
static void *devices[2];

#define RUN(model, MODEL)                                                      \
  if (MODEL##_DEVICE_0_OPEN(&devices[0]) ||                                    \
      MODEL##_DEVICE_1_OPEN(&devices[1]))                                      \
    return 1;                                                                  \
  printf("status %d\n", (int)model##_run(x, y, arena, devices));               \
  printf(#model " %g %g %g %g\n", y[0], y[1], y[2], y[3]);                     \
  if (MODEL##_DEVICE_0_CLOSE(devices[0]) ||                                    \
      MODEL##_DEVICE_1_CLOSE(devices[1]))                                      \
    return 2;

int main(void) {
  RUN(net, NET)
#ifdef TWO
  RUN(net2, NET2)
#endif
  return 0;
}
