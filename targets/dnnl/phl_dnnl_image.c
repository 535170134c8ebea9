/*===- phl_dnnl_image.c - Pools, batch norms, softmaxes, concats --*- C -*-===*/

#include "phl_dnnl_site.h"
#include <math.h>
#include <string.h>

/** Adds the two arguments of a primitive that has only x and y. */
static int add_both(phl_dnnl *device, phl_dnnl_site *site,
                    const dnnl_memory_desc_t *x, const dnnl_memory_desc_t *y) {
  int failed = phl_dnnl_moving(device, site, DNNL_ARG_SRC, x);
  return failed ? failed : phl_dnnl_moving(device, site, DNNL_ARG_DST, y);
}

/** Zeros after the image, so that the last window ends with them. */
static int64_t pad_after(int64_t in, int64_t out, int64_t kernel,
                         int64_t stride, int64_t dilation, int64_t before) {
  return (out - 1) * stride + (kernel - 1) * dilation + 1 - in - before;
}

static int build_pool(phl_dnnl *device, phl_dnnl_site *site,
                      const void *context) {
  const phl_dnnl_pool *pool = context;
  const dnnl_dims_t xs = {pool->n, pool->c, pool->h, pool->w},
                    ys = {pool->n, pool->c, pool->out_h, pool->out_w},
                    strides = {pool->stride_h, pool->stride_w},
                    kernel = {pool->kernel_h, pool->kernel_w},
                    dilation = {pool->dilation_h - 1, pool->dilation_w - 1},
                    before = {pool->pad_top, pool->pad_left},
                    after = {pad_after(pool->h, pool->out_h, pool->kernel_h,
                                       pool->stride_h, pool->dilation_h,
                                       pool->pad_top),
                             pad_after(pool->w, pool->out_w, pool->kernel_w,
                                       pool->stride_w, pool->dilation_w,
                                       pool->pad_left)};
  const dnnl_alg_kind_t kind = !pool->average ? dnnl_pooling_max
                               : pool->include_pad
                                   ? dnnl_pooling_avg_include_padding
                                   : dnnl_pooling_avg_exclude_padding;
  dnnl_memory_desc_t x, y;
  dnnl_pooling_v2_desc_t op;
  dnnl_status_t status =
      dnnl_memory_desc_init_by_tag(&x, 4, xs, dnnl_f32, dnnl_nhwc);
  if (status == dnnl_success)
    status = dnnl_memory_desc_init_by_tag(&y, 4, ys, dnnl_f32, dnnl_nhwc);
  if (status == dnnl_success)
    status = dnnl_pooling_v2_forward_desc_init(&op, dnnl_forward_inference,
                                               kind, &x, &y, strides, kernel,
                                               dilation, before, after);
  if (status != dnnl_success)
    return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
  dnnl_primitive_attr_t attr;
  int failed = phl_dnnl_attributes(&attr, &(phl_dnnl_post){.sum = false});
  if (!failed)
    failed = phl_dnnl_describe(device, site, &op, attr);
  if (!failed)
    failed = add_both(device, site, &x, &y);
  return failed ? failed : phl_dnnl_create(device, site);
}

/** True if some element is NaN, minus infinity or, if `upper` is set, infinity.
 */
static bool is_odd(const float *x, int64_t size, bool upper) {
  const float most = upper ? INFINITY : NAN;
  int odd = 0;
  for (int64_t i = 0; i < size; ++i)
    odd |= !(x[i] > -INFINITY) | (x[i] == most);
  return odd != 0;
}

/** The greatest element of each window, or its NaN; oneDNN ignores some NaNs,
 * and makes the least number of a window of minus infinity. */
static void plain_max_pool(const float *x, float *y,
                           const phl_dnnl_pool *pool) {
  const int64_t points = pool->n * pool->out_h * pool->out_w;
  for (int64_t point = 0; point < points; ++point, y += pool->c) {
    const int64_t ow = point % pool->out_w;
    const int64_t oh = point / pool->out_w % pool->out_h;
    const int64_t n = point / pool->out_w / pool->out_h;
    for (int64_t c = 0; c < pool->c; ++c)
      y[c] = -INFINITY;
    for (int64_t k = 0; k < pool->kernel_h * pool->kernel_w; ++k) {
      const int64_t h = oh * pool->stride_h - pool->pad_top +
                        k / pool->kernel_w * pool->dilation_h;
      const int64_t w = ow * pool->stride_w - pool->pad_left +
                        k % pool->kernel_w * pool->dilation_w;
      if (h < 0 || h >= pool->h || w < 0 || w >= pool->w)
        continue;
      const float *pixel = x + ((n * pool->h + h) * pool->w + w) * pool->c;
      for (int64_t c = 0; c < pool->c; ++c)
        y[c] = y[c] > pixel[c] || isnan(y[c]) ? y[c] : pixel[c];
    }
  }
}

int phl_dnnl_pool2d(phl_dnnl *device, const float *x, float *y,
                    const phl_dnnl_pool *pool) {
  phl_dnnl_key key = phl_dnnl_key_of(PHL_DNNL_POOL);
  if (!pool->average &&
      is_odd(x, pool->n * pool->c * pool->h * pool->w, false)) {
    plain_max_pool(x, y, pool);
    return 0;
  }
  const int64_t words[] = {
      pool->n,        pool->c,        pool->h,          pool->w,
      pool->out_h,    pool->out_w,    pool->kernel_h,   pool->kernel_w,
      pool->stride_h, pool->stride_w, pool->dilation_h, pool->dilation_w,
      pool->pad_top,  pool->pad_left, pool->average,    pool->include_pad};
  phl_dnnl_key_ints(&key, words, sizeof words / sizeof words[0]);
  const void *addresses[] = {x, y};
  return phl_dnnl_call(device, &key, build_pool, pool, addresses, 2);
}

static int build_norm(phl_dnnl *device, phl_dnnl_site *site,
                      const void *context) {
  const phl_dnnl_norm *norm = context;
  const dnnl_dims_t dims = {norm->n, norm->c, norm->h, norm->w};
  const dnnl_dims_t channels = {norm->c};
  const unsigned flags = dnnl_use_global_stats | dnnl_use_scale |
                         dnnl_use_shift |
                         (norm->relu ? dnnl_fuse_norm_relu : 0u);
  dnnl_memory_desc_t x, vector;
  dnnl_batch_normalization_desc_t op;
  dnnl_status_t status =
      dnnl_memory_desc_init_by_tag(&x, 4, dims, dnnl_f32, dnnl_nhwc);
  if (status == dnnl_success)
    status =
        dnnl_memory_desc_init_by_tag(&vector, 1, channels, dnnl_f32, dnnl_a);
  if (status == dnnl_success)
    status = dnnl_batch_normalization_forward_desc_init(
        &op, dnnl_forward_inference, &x, norm->epsilon, flags);
  if (status != dnnl_success)
    return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
  dnnl_primitive_attr_t attr;
  int failed = phl_dnnl_attributes(&attr, &(phl_dnnl_post){.sum = false});
  if (!failed)
    failed = phl_dnnl_describe(device, site, &op, attr);
  if (!failed)
    failed = add_both(device, site, &x, &x);
  const int vectors[] = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN,
                         DNNL_ARG_VARIANCE};
  for (int i = 0; i < 4 && !failed; ++i)
    failed = phl_dnnl_moving(device, site, vectors[i], &vector);
  return failed ? failed : phl_dnnl_create(device, site);
}

int phl_dnnl_batch_norm(phl_dnnl *device, const float *x, const float *scale,
                        const float *shift, const float *mean, const float *var,
                        float *y, const phl_dnnl_norm *norm) {
  phl_dnnl_key key = phl_dnnl_key_of(PHL_DNNL_NORM);
  const int64_t words[] = {norm->n, norm->c, norm->h, norm->w, norm->relu};
  phl_dnnl_key_ints(&key, words, sizeof words / sizeof words[0]);
  phl_dnnl_key_float(&key, norm->epsilon);
  const void *addresses[] = {x, y, scale, shift, mean, var};
  return phl_dnnl_call(device, &key, build_norm, norm, addresses, 6);
}

static int build_softmax(phl_dnnl *device, phl_dnnl_site *site,
                         const void *context) {
  const phl_dnnl_soft *soft = context;
  const int64_t given = soft->log ? soft->log_axis : soft->axis;
  const int64_t axis = given < 0 ? given + soft->rank : given;
  /* Dimensions before and after the axis are one each: any rank will do. */
  dnnl_dims_t dims = {1, soft->shape[axis], 1};
  for (int64_t i = 0; i < soft->rank; ++i)
    if (i != axis)
      dims[i < axis ? 0 : 2] *= soft->shape[i];
  const int rank = dims[2] == 1 ? 2 : 3;
  dnnl_memory_desc_t x;
  dnnl_softmax_v2_desc_t op;
  dnnl_status_t status = dnnl_memory_desc_init_by_tag(
      &x, rank, dims, dnnl_f32, rank == 2 ? dnnl_ab : dnnl_abc);
  if (status == dnnl_success)
    status = dnnl_softmax_v2_forward_desc_init(
        &op, dnnl_forward_inference,
        soft->log ? dnnl_softmax_log : dnnl_softmax_accurate, &x, &x, 1);
  if (status != dnnl_success)
    return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
  dnnl_primitive_attr_t attr;
  int failed = phl_dnnl_attributes(&attr, &(phl_dnnl_post){.sum = false});
  if (!failed)
    failed = phl_dnnl_describe(device, site, &op, attr);
  if (!failed)
    failed = add_both(device, site, &x, &x);
  return failed ? failed : phl_dnnl_create(device, site);
}

/** Makes those rows NaN whose greatest element has no finite difference to
 * itself; oneDNN makes numbers of them. Where a row has a finite one, minus
 * infinity has no part in it. */
static void settle_rows(const float *x, float *y, const phl_dnnl_soft *soft,
                        int64_t axis) {
  int64_t rows = 1, inner = 1;
  for (int64_t i = 0; i < soft->rank; ++i) {
    rows *= i == axis ? 1 : soft->shape[i];
    inner *= i > axis ? soft->shape[i] : 1;
  }
  const int64_t count = soft->shape[axis];
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row / inner * inner * count + row % inner;
    bool beyond = false, some = false;
    for (int64_t i = 0; i < count; ++i) {
      beyond |= !(x[first + i * inner] < INFINITY);
      some |= x[first + i * inner] > -INFINITY;
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = first + i * inner;
      if (beyond || !some)
        y[at] = NAN;
      else if (x[at] == -INFINITY)
        y[at] = soft->log ? -INFINITY : 0;
    }
  }
}

int phl_dnnl_softmax(phl_dnnl *device, const float *x, float *y,
                     const phl_dnnl_soft *soft) {
  phl_dnnl_key key = phl_dnnl_key_of(PHL_DNNL_SOFTMAX);
  phl_dnnl_key_ints(&key, soft->shape, soft->rank);
  phl_dnnl_key_int(&key, soft->log ? soft->log_axis : soft->axis);
  phl_dnnl_key_int(&key, soft->log);
  const void *addresses[] = {x, y};
  const int failed =
      phl_dnnl_call(device, &key, build_softmax, soft, addresses, 2);
  int64_t size = 1;
  for (int64_t i = 0; i < soft->rank; ++i)
    size *= soft->shape[i];
  if (!failed && is_odd(x, size, true)) {
    const int64_t axis = soft->log ? soft->log_axis : soft->axis;
    settle_rows(x, y, soft, axis < 0 ? axis + soft->rank : axis);
  }
  return failed;
}

void phl_dnnl_concat(const float *a, const float *b, const float *c,
                     const float *d, float *y, int64_t pixels, int64_t a_c,
                     int64_t b_c, int64_t c_c, int64_t d_c) {
  const float *images[] = {a, b, c, d};
  const int64_t counts[] = {a_c, b_c, c_c, d_c};
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int i = 0; i < 4; ++i)
      if (images[i]) {
        const size_t count = (size_t)counts[i];
        memcpy(y, images[i], count * sizeof *y);
        images[i] += count;
        y += count;
      }
}
