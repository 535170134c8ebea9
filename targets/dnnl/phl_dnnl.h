/*===- phl_dnnl.h - Layers computed by oneDNN ---------------------*- C -*-===
 *
 * Functions that the target `dnnl` calls: layers of f32 networks over plain
 * arrays, computed by oneDNN 2.6 or a later 2.x.
 *
 * Layouts. Images are NHWC in memory; sizes are named n, c, h, w all the same.
 * Other tensors are row-major.
 *
 * Sites. The first call with a given description and given constants makes the
 * primitive, converts the constants to the format that it wants, and keeps both
 * in the device. Later calls only look them up and run. Constants (weights,
 * biases, clip limits) are recognised by address, so what is behind a constant
 * pointer must stay the same until the device is closed.
 *
 * Status. Functions return 0 or a status that phl_dnnl_status_string explains.
 *
 * Threads. One thread at a time may use a device; oneDNN itself uses as many as
 * OpenMP allows (OMP_NUM_THREADS).
 *
 *===----------------------------------------------------------------------===*/

#ifndef PHL_DNNL_H
#define PHL_DNNL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phl_dnnl phl_dnnl;

/** Opens a device on the CPU. */
int phl_dnnl_open(phl_dnnl **out_device);

/** Closes a device; null is allowed. */
int phl_dnnl_close(phl_dnnl *device);

/** A sentence for `status`, never null; the text is static. */
const char *phl_dnnl_status_string(int status);

/** Activation of a result, element by element; at most one flag is set. */
typedef struct phl_dnnl_act {
  bool relu, sigmoid, tanh, gelu_erf, gelu_tanh, hard_swish, mish;
  /** Limits are given as `lo` and `hi` of the call; null for none. */
  bool clip;
  bool swish, leaky_relu, elu, hard_sigmoid;
  bool abs, sqrt, exp, round;
  /** Factor within the sigmoid of swish, where 0 counts as 1; slopes of
   * leaky_relu and elu. */
  float swish_alpha, leaky_alpha, elu_alpha;
  /** hard_sigmoid is clip(alpha * x + beta, 0, 1). */
  float hard_alpha, hard_beta;
} phl_dnnl_act;

/** A convolution, or a transposed one. */
typedef struct phl_dnnl_conv {
  /** Input and output image. */
  int64_t n, c, h, w, out_c, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  /** Zeros around the input; of a transposed convolution, what is cut off of
   * the output, where bottom and right follow from its size. */
  int64_t pad_top, pad_left, pad_bottom, pad_right;
  int64_t group;
  phl_dnnl_act act;
} phl_dnnl_conv;

/** y = act(conv(x, w) + bias + residual). `w` is [out_c][c/group][kh][kw],
 * `residual` has the shape of y. The bias is `b` or `bias`, one of which is
 * null at least; the residual may be null too. */
int phl_dnnl_conv2d(phl_dnnl *device, const float *x, const float *w,
                    const float *b, const float *bias, const float *residual,
                    const float *lo, const float *hi, float *y,
                    const phl_dnnl_conv *conv);

/** As phl_dnnl_conv2d, transposed; `w` is [c][out_c/group][kh][kw]. */
int phl_dnnl_deconv2d(phl_dnnl *device, const float *x, const float *w,
                      const float *b, const float *bias, const float *residual,
                      const float *lo, const float *hi, float *y,
                      const phl_dnnl_conv *conv);

/** A product of matrices, with leading dimensions that broadcast. */
typedef struct phl_dnnl_product {
  /** Shapes; c is the shape of the addend. Ranks of a and b are 2 to 6. */
  const int64_t *a, *b, *c;
  int64_t a_rank, b_rank, c_rank;
  bool trans_a, trans_b;
  /** b is a constant, and so is the addend. */
  bool b_const, c_const;
  /** Factors, where 0 counts as 1. */
  float alpha, divisor;
  float beta;
  phl_dnnl_act act;
} phl_dnnl_product;

/** y = act(alpha * a b / divisor + beta * c + residual). `c` broadcasts to y
 * and may be null; beta other than 1 needs a constant. `residual` has the shape
 * of y; it may be null. */
int phl_dnnl_matmul(phl_dnnl *device, const float *a, const float *b,
                    const float *c, const float *residual, const float *lo,
                    const float *hi, float *y, const phl_dnnl_product *product);

/** A pool. */
typedef struct phl_dnnl_pool {
  int64_t n, c, h, w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int64_t pad_top, pad_left;
  bool average;
  /** Zeros around the image count as elements of an average. */
  bool include_pad;
} phl_dnnl_pool;

/** y = pool(x). A window may reach over the lower and right edge. */
int phl_dnnl_pool2d(phl_dnnl *device, const float *x, float *y,
                    const phl_dnnl_pool *pool);

/** A batch normalisation with given statistics. */
typedef struct phl_dnnl_norm {
  int64_t n, c, h, w;
  float epsilon;
  bool relu;
} phl_dnnl_norm;

/** y = act((x - mean) / sqrt(var + epsilon) * scale + shift). */
int phl_dnnl_batch_norm(phl_dnnl *device, const float *x, const float *scale,
                        const float *shift, const float *mean, const float *var,
                        float *y, const phl_dnnl_norm *norm);

/** A softmax along one axis of a tensor. */
typedef struct phl_dnnl_soft {
  const int64_t *shape;
  int64_t rank, axis;
  /** Take the logarithm, and log_axis instead of axis. */
  bool log;
  int64_t log_axis;
} phl_dnnl_soft;

/** y = softmax(x), or its logarithm. A negative axis counts from the end. */
int phl_dnnl_softmax(phl_dnnl *device, const float *x, float *y,
                     const phl_dnnl_soft *soft);

typedef enum phl_dnnl_binary_op {
  PHL_DNNL_ADD,
  PHL_DNNL_SUB,
  PHL_DNNL_MUL,
  PHL_DNNL_DIV,
  PHL_DNNL_MAX,
  PHL_DNNL_MIN
} phl_dnnl_binary_op;

/** An operation on two tensors, of rank 6 at most, that broadcast. */
typedef struct phl_dnnl_pair {
  phl_dnnl_binary_op op;
  const int64_t *a, *b;
  int64_t a_rank, b_rank;
  bool relu;
} phl_dnnl_pair;

/** y = act(a op b). */
int phl_dnnl_binary(phl_dnnl *device, const float *a, const float *b, float *y,
                    const phl_dnnl_pair *pair);

/** y[i] = act(x[i]) for i < size. */
int phl_dnnl_eltwise(phl_dnnl *device, const float *x, const float *lo,
                     const float *hi, float *y, int64_t size,
                     const phl_dnnl_act *act);

/** The channels of up to four images, one image after the other; counts are 0
 * for those that are null. `pixels` is n * h * w. */
void phl_dnnl_concat(const float *a, const float *b, const float *c,
                     const float *d, float *y, int64_t pixels, int64_t a_c,
                     int64_t b_c, int64_t c_c, int64_t d_c);

#ifdef __cplusplus
}
#endif

#endif /* PHL_DNNL_H */
