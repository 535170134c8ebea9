/*===- shim_images.c - Convolutions, pools, norms -----------------*- C -*-===*/

#include "shim.h"

static void conv_reference(const phl_dnnl_conv *c, const float *x,
                           const float *w, const float *bias,
                           const float *residual, float *y) {
  const int64_t ins = c->c / c->group, outs = c->out_c / c->group;
  for (int64_t n = 0; n < c->n; ++n)
    for (int64_t oh = 0; oh < c->out_h; ++oh)
      for (int64_t ow = 0; ow < c->out_w; ++ow)
        for (int64_t o = 0; o < c->out_c; ++o) {
          double sum = bias ? (double)bias[o] : 0;
          for (int64_t i = 0; i < ins; ++i)
            for (int64_t kh = 0; kh < c->kernel_h; ++kh)
              for (int64_t kw = 0; kw < c->kernel_w; ++kw) {
                const int64_t ih =
                    oh * c->stride_h - c->pad_top + kh * c->dilation_h;
                const int64_t iw =
                    ow * c->stride_w - c->pad_left + kw * c->dilation_w;
                if (ih < 0 || ih >= c->h || iw < 0 || iw >= c->w)
                  continue;
                const int64_t channel = o / outs * ins + i;
                sum +=
                    (double)x[((n * c->h + ih) * c->w + iw) * c->c + channel] *
                    (double)w[((o * ins + i) * c->kernel_h + kh) * c->kernel_w +
                              kw];
              }
          const int64_t place =
              ((n * c->out_h + oh) * c->out_w + ow) * c->out_c + o;
          y[place] =
              activate(&c->act, (float)sum + (residual ? residual[place] : 0));
        }
}

/** Scatters each input element; the weights are [c][out_c/group][kh][kw]. */
static void deconv_reference(const phl_dnnl_conv *c, const float *x,
                             const float *w, const float *bias,
                             const float *residual, float *y) {
  const int64_t ins = c->c / c->group, outs = c->out_c / c->group;
  const int64_t size = c->n * c->out_h * c->out_w * c->out_c;
  for (int64_t i = 0; i < size; ++i)
    y[i] = (bias ? bias[i % c->out_c] : 0) + (residual ? residual[i] : 0);
  for (int64_t i = 0; i < c->n * c->h * c->w * c->c; ++i)
    for (int64_t o = 0; o < outs; ++o)
      for (int64_t k = 0; k < c->kernel_h * c->kernel_w; ++k) {
        const int64_t channel = i % c->c, iw = i / c->c % c->w,
                      ih = i / c->c / c->w % c->h, n = i / c->c / c->w / c->h;
        const int64_t oh = ih * c->stride_h - c->pad_top +
                           k / c->kernel_w * c->dilation_h,
                      ow = iw * c->stride_w - c->pad_left +
                           k % c->kernel_w * c->dilation_w;
        if (oh < 0 || oh >= c->out_h || ow < 0 || ow >= c->out_w)
          continue;
        y[((n * c->out_h + oh) * c->out_w + ow) * c->out_c +
          channel / ins * outs + o] +=
            x[i] * w[(channel * outs + o) * c->kernel_h * c->kernel_w + k];
      }
  for (int64_t i = 0; i < size; ++i)
    y[i] = activate(&c->act, y[i]);
}

static void test_conv(const char *what, phl_dnnl_conv conv, bool transposed,
                      bool with_bias, bool with_residual) {
  const size_t xs = (size_t)(conv.n * conv.h * conv.w * conv.c),
               ys = (size_t)(conv.n * conv.out_h * conv.out_w * conv.out_c),
               ws = (size_t)(conv.c * conv.out_c / conv.group * conv.kernel_h *
                             conv.kernel_w);
  const float lo = -0.25f, hi = 0.5f;
  float *w = fill(ws);
  float *bias = with_bias ? fill((size_t)conv.out_c) : NULL;
  for (int round = 0; round < 2; ++round) {
    float *x = fill(xs), *y = fill(ys), *want = fill(ys),
          *residual = with_residual ? fill(ys) : NULL;
    (transposed ? deconv_reference : conv_reference)(&conv, x, w, bias,
                                                     residual, want);
    const int status = (transposed ? phl_dnnl_deconv2d : phl_dnnl_conv2d)(
        device, x, w, round ? bias : NULL, round ? NULL : bias, residual, &lo,
        &hi, y, &conv);
    check(what, status, y, want, ys);
    free(x), free(y), free(want), free(residual);
  }
  /* The weights' address is a key: they live as long as the device. */
}

static void test_convs(void) {
  phl_dnnl_conv conv = {
      2, 3, 9, 11, 8, 9, 11, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, {.relu = false}};
  test_conv("conv", conv, false, false, false);
  conv.act.relu = true;
  test_conv("conv with bias, sum and relu", conv, false, true, true);
  conv.act = (phl_dnnl_act){.clip = true};
  test_conv("conv with clip", conv, false, true, false);
  conv.act = (phl_dnnl_act){.gelu_erf = true};
  test_conv("conv with gelu", conv, false, true, true);
  conv.act = (phl_dnnl_act){.swish = true, .swish_alpha = 1};
  test_conv("conv with swish", conv, false, true, true);
  conv.act = (phl_dnnl_act){
      .hard_sigmoid = true, .hard_alpha = 0.2f, .hard_beta = 0.5f};
  test_conv("conv with hard sigmoid", conv, false, true, true);
  phl_dnnl_conv uneven = {
      1, 4, 10, 12, 6, 5, 12, 3, 2, 2, 1, 1, 2, 1, 2, 0, 0, 2, {.relu = false}};
  uneven.act.hard_swish = true;
  test_conv("grouped conv, uneven pads, dilation", uneven, false, true, true);
  const phl_dnnl_conv depthwise = {
      1, 20, 8, 8, 20, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0, 1, 1, 20, {.relu = true}};
  test_conv("depthwise conv", depthwise, false, true, true);
  const phl_dnnl_conv multiplied = {
      1, 5, 8, 8, 10, 8, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 5, {.tanh = true}};
  test_conv("depthwise conv, two outputs each", multiplied, false, true, true);
  phl_dnnl_conv one = {
      1, 16, 7, 7, 32, 7, 7, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, {.relu = false}};
  one.act = (phl_dnnl_act){.elu = true, .elu_alpha = 0.5f};
  test_conv("1x1 conv", one, false, true, true);
  const phl_dnnl_conv up = {
      2, 4, 5, 6, 3, 10, 12, 3, 3, 2, 2, 1, 1, 1, 1, 0, 0, 1, {.relu = true}};
  test_conv("transposed conv", up, true, true, true);
  const phl_dnnl_conv grouped = {
      1, 4, 5, 6, 6, 9, 13, 3, 4, 2, 2, 1, 1, 1, 0, 1, 1, 2, {.mish = true}};
  test_conv("grouped transposed conv", grouped, true, true, false);
}

static void test_pools(void) {
  for (int kind = 0; kind < 3; ++kind)
    for (int reach = 0; reach < 2; ++reach) {
      /* With reach, windows go over the lower right edge, as with ceil_mode. */
      phl_dnnl_pool pool = {.n = 2,
                            .c = 5,
                            .h = 10,
                            .w = 11,
                            .kernel_h = 3,
                            .kernel_w = 2,
                            .stride_h = 2,
                            .stride_w = 3,
                            .dilation_h = 1,
                            .dilation_w = 1,
                            .pad_top = 1,
                            .out_h = 5 + reach,
                            .out_w = 4,
                            .average = kind > 0,
                            .include_pad = kind > 1};
      if (reach && kind > 1)
        continue;
      const size_t xs = 2 * 10 * 11 * 5,
                   ys = (size_t)(2 * pool.out_h * pool.out_w * 5);
      float *x = fill(xs), *y = fill(ys), *want = fill(ys);
      for (int64_t i = 0; i < (int64_t)ys; ++i) {
        const int64_t c = i % 5, ow = i / 5 % pool.out_w,
                      oh = i / 5 / pool.out_w % pool.out_h,
                      n = i / 5 / pool.out_w / pool.out_h;
        float most = -INFINITY, sum = 0, count = 0;
        for (int64_t k = 0; k < 6; ++k) {
          const int64_t ih = oh * 2 - 1 + k / 2, iw = ow * 3 + k % 2;
          if (ih < 0 || ih >= 10 || iw < 0 || iw >= 11)
            continue;
          const float value = x[((n * 10 + ih) * 11 + iw) * 5 + c];
          most = fmaxf(most, value);
          sum += value;
          count += 1;
        }
        want[i] = kind == 0 ? most : sum / (kind == 1 ? count : 6);
      }
      check("pool", phl_dnnl_pool2d(device, x, y, &pool), y, want, ys);
      free(x), free(y), free(want);
    }
}

static void test_norm(void) {
  const phl_dnnl_norm norm = {2, 6, 4, 5, 1e-3f, true};
  float *x = fill(240), *y = fill(240), *want = fill(240), *scale = fill(6),
        *shift = fill(6), *mean = fill(6), *var = fill(6);
  for (int i = 0; i < 6; ++i)
    var[i] = fabsf(var[i]);
  for (int i = 0; i < 240; ++i) {
    const int c = i % 6;
    want[i] = fmaxf(
        (x[i] - mean[c]) / sqrtf(var[c] + 1e-3f) * scale[c] + shift[c], 0);
  }
  check("batch norm",
        phl_dnnl_batch_norm(device, x, scale, shift, mean, var, y, &norm), y,
        want, 240);
  free(x), free(y), free(want), free(scale), free(shift), free(mean), free(var);
}

void test_images(void) {
  test_convs();
  test_pools();
  test_norm();
}
