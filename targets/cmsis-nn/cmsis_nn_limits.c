/*===- cmsis_nn_limits.c - What the real library cannot do --------*- C -*-===*/

#include "cmsis_nn_limits.h"

/** Channels that the depthwise function for Helium has in work at once. */
enum { BLOCK = 124 };

/** Start of the last window, along one dimension. */
static int64_t last_start(int32_t out, int32_t stride, int32_t padding) {
  return (int64_t)(out - 1) * stride - padding;
}

nn_convolution_kind nn_kind_of_convolution(const cmsis_nn_conv_params *params,
                                           const cmsis_nn_dims *in,
                                           const cmsis_nn_dims *filter) {
  const bool is_row = filter->h == 1 && params->dilation.w == 1;
  if (is_row && filter->w == 1 && params->dilation.h == 1 &&
      params->padding.h == 0 && params->padding.w == 0)
    return NN_CONVOLVE_1X1;
  if (is_row && nn_has_helium() && in->h == 1 &&
      params->stride.w * in->c % 4 == 0)
    return NN_CONVOLVE_ROWS;
  return NN_CONVOLVE_ANY;
}

/** Division of a row by the function for rows: windows that reach out of it. */
typedef struct {
  int64_t before, after; /**< Windows that start before, and that end behind. */
  int64_t total, odd;    /**< Padding on both sides, and what is more behind. */
} row_parts;

static int64_t windows_outside(int64_t padding, int32_t stride) {
  const int64_t count = (padding + stride - 1) / stride;
  return padding == 0 ? 0 : count > 1 ? count : 1;
}

static row_parts divide_row(const cmsis_nn_conv_params *params,
                            const cmsis_nn_dims *in,
                            const cmsis_nn_dims *filter,
                            const cmsis_nn_dims *out) {
  const int32_t stride = params->stride.w, padding = params->padding.w;
  row_parts parts;
  parts.total = last_start(out->w, stride, 0) + filter->w - in->w;
  parts.odd = parts.total % 2;
  parts.before = windows_outside(padding, stride);
  parts.after = windows_outside(padding + parts.odd, stride);
  return parts;
}

int32_t nn_bytes_of_rows(const cmsis_nn_conv_params *params,
                         const cmsis_nn_dims *in, const cmsis_nn_dims *filter,
                         const cmsis_nn_dims *out) {
  const row_parts parts = divide_row(params, in, filter, out);
  if (parts.before + parts.after > out->w)
    return (in->c * filter->w + 15) / 16 * 64;
  const int64_t first = filter->w + params->padding.w;
  const int64_t last =
      filter->w - 1 + (parts.odd ? parts.after : params->padding.w);
  return (int32_t)(in->c * (first > last ? first : last));
}

/**
 * The first windows are read from padding and a whole window of the row, the
 * last ones from a window less one and padding: that must be what they cover.
 */
static bool can_convolve_row(const cmsis_nn_conv_params *params,
                             const cmsis_nn_dims *in,
                             const cmsis_nn_dims *filter,
                             const cmsis_nn_dims *out) {
  const row_parts parts = divide_row(params, in, filter, out);
  const int32_t stride = params->stride.w, padding = params->padding.w;
  if (2 * (int64_t)padding + parts.odd != parts.total)
    return false;
  if (parts.before + parts.after > out->w)
    return true; // Such rows go on to the function that gathers windows.
  if (out->h != 1 || params->padding.h != 0 || in->w < filter->w)
    return false;
  // Columns from the end of the last window but those of the padding.
  const int64_t behind = padding + parts.odd;
  if (behind == 0)
    return stride == 1; // Else it copies columns from behind the row.
  const bool is_adjacent = (parts.after - 1) * stride + 1 == behind;
  const int64_t columns = parts.odd ? parts.after : padding;
  return behind > 0 && is_adjacent && columns >= behind;
}

bool nn_can_convolve(const cmsis_nn_conv_params *params,
                     const cmsis_nn_dims *in, const cmsis_nn_dims *filter,
                     const cmsis_nn_dims *out) {
  const int64_t taps = (int64_t)filter->h * filter->w * filter->c;
  switch (nn_kind_of_convolution(params, in, filter)) {
  case NN_CONVOLVE_1X1:
    // It multiplies pixels of the image, whatever the size of the result.
    return last_start(out->h, params->stride.h, 0) < in->h &&
           last_start(out->w, params->stride.w, 0) < in->w;
  case NN_CONVOLVE_ROWS:
    if (!can_convolve_row(params, in, filter, out))
      return false;
    break;
  case NN_CONVOLVE_ANY:
    break;
  }
  // Sizes are kept in 16 bits.
  return in->h <= UINT16_MAX && in->w <= UINT16_MAX && taps <= UINT16_MAX &&
         out->h <= UINT16_MAX && out->w <= UINT16_MAX && out->c <= UINT16_MAX;
}

nn_depthwise_kind nn_kind_of_depthwise(const cmsis_nn_dw_conv_params *params,
                                       const cmsis_nn_dims *in,
                                       const cmsis_nn_dims *filter) {
  if (params->ch_mult != 1 || in->n != 1 || params->dilation.h != 1 ||
      params->dilation.w != 1)
    return NN_DEPTHWISE_ANY;
  if (!nn_has_helium() && filter->h == 3 && filter->w == 3 &&
      params->padding.h <= 1 && params->padding.w <= 1)
    return NN_DEPTHWISE_3X3;
  return nn_has_helium() || nn_has_dsp() ? NN_DEPTHWISE_GATHERED
                                         : NN_DEPTHWISE_ANY;
}

nn_depthwise_kind
nn_kind_of_wide_depthwise(const cmsis_nn_dw_conv_params *params,
                          const cmsis_nn_dims *filter) {
  const bool is_fast = params->ch_mult == 1 && params->dilation.h == 1 &&
                       params->dilation.w == 1 && filter->h * filter->w < 512;
  return is_fast && (nn_has_helium() || nn_has_dsp()) ? NN_DEPTHWISE_GATHERED
                                                      : NN_DEPTHWISE_ANY;
}

bool nn_can_convolve_depthwise(nn_depthwise_kind kind,
                               const cmsis_nn_dw_conv_params *params,
                               const cmsis_nn_dims *in,
                               const cmsis_nn_dims *filter,
                               const cmsis_nn_dims *out, bool has_bias) {
  const int64_t last_h =
      last_start(out->h, params->stride.h, params->padding.h);
  const int64_t last_w =
      last_start(out->w, params->stride.w, params->padding.w);
  if (kind == NN_DEPTHWISE_3X3)
    return last_w + 1 < in->w; // The middle column is always read.
  // The rest keeps sizes in 16 bits, and places with a sign.
  if (in->h > INT16_MAX || in->w > INT16_MAX || last_h > INT16_MAX ||
      last_w > INT16_MAX || out->h > UINT16_MAX || out->w > UINT16_MAX ||
      out->c > UINT16_MAX || (int64_t)filter->h * filter->w > UINT16_MAX)
    return false;
  if (kind == NN_DEPTHWISE_ANY)
    return true;
  if (nn_has_helium())
    return has_bias || out->c <= BLOCK; // It adds a block's offset to NULL.
  // Rows above and below the image are cleared, also those that a window that
  // is outside of it does not have.
  return params->padding.h <= filter->h && last_h <= in->h;
}
