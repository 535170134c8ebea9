/* Runs a package with a device that has memory of its own, and counts what is
 * moved. */
#include "far.h"
#include "net.h"
#include <stdio.h>

static _Alignas(64) unsigned char arena[NET_ARENA_BYTES + 64];

int main(void) {
  static float x[NET_INPUT_0_ELEMENTS], y[NET_OUTPUT_0_ELEMENTS];
  void *devices[NET_NUM_DEVICES];
  if (NET_DEVICE_0_OPEN(&devices[0]) != 0)
    return 1;
  far_counts before = far_counted();
  for (int run = 0; run < 5; run++) {
    if (run == 3)
      far_fail_after(2);
    for (int i = 0; i < NET_INPUT_0_ELEMENTS; i++)
      x[i] = (float)(i % 7 - 3 + run);
    int32_t status = net_run(x, y, arena, devices);
    far_counts now = far_counted();
    if (status) {
      printf("run %d: %s\n", run, NET_DEVICE_0_STATUS_STRING(status));
      before = now;
      continue;
    }
    printf("run %d: status %d, %zu bytes in, %zu out, %zu within, %zu calls, y "
           "%g %g\n",
           run, (int)status, now.in - before.in, now.out - before.out,
           now.within - before.within, now.calls - before.calls, (double)y[0],
           (double)y[1]);
    before = now;
  }
  return NET_DEVICE_0_CLOSE(devices[0]);
}
