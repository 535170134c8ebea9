#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void noisy_abs(const float *x, float *y, int32_t size);
int noisy_alone(const float *x, float *y, int32_t size);

static int64_t now(void) {
  struct timespec at;
  timespec_get(&at, TIME_UTC);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

void noisy_abs(const float *x, float *y, int32_t size) {
  static unsigned calls;
  for (int32_t i = 0; i < size; i++)
    y[i] = fabsf(x[i]);
  if (calls++ % 2) {
    const int64_t start = now();
    while (now() - start < 400000)
      ;
  }
}

int noisy_alone(const float *x, float *y, int32_t size) {
  const char *threads = getenv("OMP_NUM_THREADS");
  for (int32_t i = 0; i < size; i++)
    y[i] = fabsf(x[i]);
  return threads && strcmp(threads, "1") == 0 ? 0 : 7;
}
