#ifndef WARP_H
#define WARP_H
#include "weft.h"

/* Images [n][c / block][h][w][c % block], of which the last block may have
   zeros behind the last channel; weights [o][h][w][channel of the group],
   filled up in the same way. What stands behind the last channel of the result
   is of no use. */
void warp_conv(const float *x, const float *w, const float *b, float *y,
               int32_t block, const struct weft_window *window);

#endif
