/* The device of the tests whose hooks are scripts. */
#ifndef STITCH_H
#define STITCH_H

#include <stdbool.h>
#include <stdint.h>

struct stitch_device;

int stitch_open(struct stitch_device **device);
int stitch_close(struct stitch_device *device);

/* y = x, and 0 where x is negative. */
void stitch_relu(const float *x, float *y, int32_t n);

/* y = x * c. If `swapped`, the halves of c are the other way around. */
int stitch_scale(struct stitch_device *device, const float *x, const float *c,
                 float *y, int32_t n, bool swapped);

#endif
