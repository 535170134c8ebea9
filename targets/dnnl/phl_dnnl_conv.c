/*===- phl_dnnl_conv.c - Convolutions -----------------------------*- C -*-===*/

#include "phl_dnnl_site.h"
#include <string.h>

/** Parameters of a convolution. */
typedef struct layer {
  const phl_dnnl_conv *conv;
  bool transposed;
  const float *w, *bias, *residual, *lo, *hi;
} layer;

/** Memory descriptors of a convolution, with formats as the caller has them. */
typedef struct formats {
  dnnl_memory_desc_t x, w, any_w, bias, y;
} formats;

static void key_conv(phl_dnnl_key *key, const layer *layer) {
  const phl_dnnl_conv *conv = layer->conv;
  const int64_t words[] = {conv->n,
                           conv->c,
                           conv->h,
                           conv->w,
                           conv->out_c,
                           conv->out_h,
                           conv->out_w,
                           conv->kernel_h,
                           conv->kernel_w,
                           conv->stride_h,
                           conv->stride_w,
                           conv->dilation_h,
                           conv->dilation_w,
                           conv->pad_top,
                           conv->pad_left,
                           conv->pad_bottom,
                           conv->pad_right,
                           conv->group,
                           layer->residual != NULL};
  phl_dnnl_key_ints(key, words, sizeof words / sizeof words[0]);
  phl_dnnl_key_pointer(key, layer->w);
  phl_dnnl_key_pointer(key, layer->bias);
  phl_dnnl_key_act(key, &conv->act, layer->lo, layer->hi);
}

/** Weights as [group][out][in][kh][kw], whichever way they lie in memory; one
 * group is not mentioned. */
static dnnl_status_t weight_formats(const layer *layer, formats *out) {
  const phl_dnnl_conv *conv = layer->conv;
  const int64_t group = conv->group, outs = conv->out_c / group,
                ins = conv->c / group, window = conv->kernel_h * conv->kernel_w;
  dnnl_dims_t dims, strides;
  int rank = 0;
  if (group > 1) {
    dims[rank] = group;
    strides[rank++] = outs * ins * window;
  }
  dims[rank] = outs;
  strides[rank++] = layer->transposed ? window : ins * window;
  dims[rank] = ins;
  strides[rank++] = layer->transposed ? outs * window : window;
  dims[rank] = conv->kernel_h;
  strides[rank++] = conv->kernel_w;
  dims[rank] = conv->kernel_w;
  strides[rank++] = 1;
  dnnl_status_t status =
      dnnl_memory_desc_init_by_strides(&out->w, rank, dims, dnnl_f32, strides);
  if (status == dnnl_success)
    status = dnnl_memory_desc_init_by_tag(&out->any_w, rank, dims, dnnl_f32,
                                          dnnl_format_tag_any);
  return status;
}

static dnnl_status_t all_formats(const layer *layer, formats *out) {
  const phl_dnnl_conv *conv = layer->conv;
  const dnnl_dims_t x = {conv->n, conv->c, conv->h, conv->w};
  const dnnl_dims_t y = {conv->n, conv->out_c, conv->out_h, conv->out_w};
  const dnnl_dims_t bias = {conv->out_c};
  dnnl_status_t status =
      dnnl_memory_desc_init_by_tag(&out->x, 4, x, dnnl_f32, dnnl_nhwc);
  if (status == dnnl_success)
    status = dnnl_memory_desc_init_by_tag(&out->y, 4, y, dnnl_f32, dnnl_nhwc);
  if (status == dnnl_success)
    status =
        dnnl_memory_desc_init_by_tag(&out->bias, 1, bias, dnnl_f32, dnnl_a);
  return status == dnnl_success ? weight_formats(layer, out) : status;
}

/** True if the residual is first copied to the result, where the convolution
 * adds to it. Otherwise it is read where it is; but with groups oneDNN 2.6's
 * gemm convolution then reads the wrong elements. */
static bool sums(const layer *layer) {
  return layer->residual && layer->conv->group > 1;
}

static int describe(phl_dnnl *device, phl_dnnl_site *site, const layer *layer,
                    const formats *formats) {
  const phl_dnnl_conv *conv = layer->conv;
  const dnnl_dims_t strides = {conv->stride_h, conv->stride_w},
                    /* oneDNN refuses to spread a single element. */
      dilates = {conv->kernel_h > 1 ? conv->dilation_h - 1 : 0,
                 conv->kernel_w > 1 ? conv->dilation_w - 1 : 0},
                    before = {conv->pad_top, conv->pad_left},
                    after = {conv->pad_bottom, conv->pad_right};
  const dnnl_memory_desc_t *bias = layer->bias ? &formats->bias : NULL;
  dnnl_convolution_desc_t op;
  dnnl_status_t status =
      layer->transposed
          ? dnnl_dilated_deconvolution_forward_desc_init(
                &op, dnnl_forward_inference, dnnl_deconvolution_direct,
                &formats->x, &formats->any_w, bias, &formats->y, strides,
                dilates, before, after)
          : dnnl_dilated_convolution_forward_desc_init(
                &op, dnnl_forward_inference, dnnl_convolution_direct,
                &formats->x, &formats->any_w, bias, &formats->y, strides,
                dilates, before, after);
  if (status != dnnl_success)
    return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
  const bool sum = sums(layer), addend = layer->residual && !sum;
  const phl_dnnl_post post = {.addends = {&formats->y},
                              .addend_count = addend,
                              .sum = sum,
                              .act = &conv->act,
                              .lo = layer->lo,
                              .hi = layer->hi};
  dnnl_primitive_attr_t attr;
  int failed = phl_dnnl_attributes(&attr, &post);
  return failed ? failed : phl_dnnl_describe(device, site, &op, attr);
}

static int build(phl_dnnl *device, phl_dnnl_site *site, const void *context) {
  const layer *layer = context;
  formats formats;
  int failed = phl_dnnl_fail(PHL_DNNL_DESCRIBE, all_formats(layer, &formats));
  if (!failed)
    failed = describe(device, site, layer, &formats);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_SRC, &formats.x);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_DST, &formats.y);
  if (!failed && layer->residual && !sums(layer))
    failed = phl_dnnl_moving(device, site, phl_dnnl_addend(0), &formats.y);
  if (!failed)
    failed =
        phl_dnnl_constant(device, site, DNNL_ARG_WEIGHTS, layer->w, &formats.w,
                          phl_dnnl_wanted(site, DNNL_ARG_WEIGHTS));
  if (!failed && layer->bias)
    failed = phl_dnnl_constant(device, site, DNNL_ARG_BIAS, layer->bias,
                               &formats.bias, &formats.bias);
  return failed ? failed : phl_dnnl_create(device, site);
}

/** Cut at the end of a transposed convolution's output; negative
 * where rows or columns of nothing but bias are added. */
static int64_t cut_after(int64_t in, int64_t out, int64_t kernel,
                         int64_t stride, int64_t dilation, int64_t before) {
  return (in - 1) * stride + (kernel - 1) * dilation + 1 - out - before;
}

static int run(phl_dnnl *device, const float *x, float *y, const layer *layer) {
  phl_dnnl_key key =
      phl_dnnl_key_of(layer->transposed ? PHL_DNNL_DECONV : PHL_DNNL_CONV);
  key_conv(&key, layer);
  const bool sum = sums(layer);
  if (sum && layer->residual != y) {
    const phl_dnnl_conv *conv = layer->conv;
    const int64_t size = conv->n * conv->out_h * conv->out_w * conv->out_c;
    memcpy(y, layer->residual, (size_t)size * sizeof *y);
  }
  const void *addresses[] = {x, y, layer->residual};
  return phl_dnnl_call(device, &key, build, layer, addresses,
                       layer->residual && !sum ? 3 : 2);
}

int phl_dnnl_conv2d(phl_dnnl *device, const float *x, const float *w,
                    const float *b, const float *bias, const float *residual,
                    const float *lo, const float *hi, float *y,
                    const phl_dnnl_conv *conv) {
  const layer layer = {conv, false, w, b ? b : bias, residual, lo, hi};
  return run(device, x, y, &layer);
}

int phl_dnnl_deconv2d(phl_dnnl *device, const float *x, const float *w,
                      const float *b, const float *bias, const float *residual,
                      const float *lo, const float *hi, float *y,
                      const phl_dnnl_conv *conv) {
  phl_dnnl_conv whole = *conv;
  whole.pad_bottom = cut_after(conv->h, conv->out_h, conv->kernel_h,
                               conv->stride_h, conv->dilation_h, conv->pad_top);
  whole.pad_right = cut_after(conv->w, conv->out_w, conv->kernel_w,
                              conv->stride_w, conv->dilation_w, conv->pad_left);
  const layer layer = {&whole, true, w, b ? b : bias, residual, lo, hi};
  return run(device, x, y, &layer);
}
