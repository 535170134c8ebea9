#ifndef TOY_H
#define TOY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct toy_device toy_device;

enum toy_mode { TOY_FAST = 1, TOY_EXACT = 2 };

struct toy_pair {
  int32_t h, w;
};

struct toy_conv {
  int32_t n, h, w, c, out_c, out_h, out_w;
  struct toy_pair kernel, stride, pad;
  enum toy_mode mode;
  int32_t *signs;
  bool relu;
};

int toy_open(toy_device **device);
int toy_close(toy_device *device);
const char *toy_text(int status);

int toy_conv2d(toy_device *device, const float *x, const float *w,
               const float *b, float *y, float *scratch,
               const struct toy_conv *conv);
void toy_dense(const float *x, const float *w, const float *b, float *y,
               int32_t rows, int32_t inner, int32_t columns, bool relu);

#endif
