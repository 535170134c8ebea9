#include "warp.h"
#include <math.h>

void warp_conv(const float *x, const float *w, const float *b, float *y,
               int32_t block, const struct weft_window *s) {
  int32_t blocks = (s->in_c + block - 1) / block,
          out = (s->out_c + block - 1) / block;
  int32_t row_size = (s->in_group + block - 1) / block * block;
  // Whole blocks, where there are no groups: what fills them up is multiplied
  // with zeros.
  int32_t channels = s->groups == 1 ? row_size : s->in_group;
  for (int32_t n = 0; n < s->batch; n++)
    for (int32_t o = 0; o < out * block; o++)
      for (int32_t h = 0; h < s->out_h; h++)
        for (int32_t v = 0; v < s->out_w; v++) {
          float *to =
              y +
              (((n * out + o / block) * s->out_h + h) * s->out_w + v) * block +
              o % block;
          if (o >= s->out_c) {
            *to = NAN;
            continue;
          }
          int32_t first = o / (s->out_c / s->groups) * s->in_group;
          float sum = b ? b[o] : 0;
          for (int32_t i = 0; i < s->kernel_h; i++)
            for (int32_t j = 0; j < s->kernel_w; j++) {
              int32_t row = h * s->stride_h + i - s->pad_top,
                      column = v * s->stride_w + j - s->pad_left;
              if (row < 0 || row >= s->in_h || column < 0 || column >= s->in_w)
                continue;
              for (int32_t k = 0; k < channels; k++) {
                int32_t c = first + k;
                sum +=
                    x[(((n * blocks + c / block) * s->in_h + row) * s->in_w +
                       column) *
                          block +
                      c % block] *
                    w[((o * s->kernel_h + i) * s->kernel_w + j) * row_size + k];
              }
            }
          *to = sum;
        }
}
