/*===- vecdsp_window.c - Convolutions and pools -------------------*- C -*-===*/

#include "vecdsp_device.h"

#include <math.h>

/* The greatest number of anything in a window, so that positions fit. */
#define MOST ((int64_t)1 << 31)

static bool is_window(const vecdsp_window *v) {
  const int64_t positive[] = {v->n,        v->c,          v->h,
                              v->w,        v->out_h,      v->out_w,
                              v->kernel_h, v->kernel_w,   v->stride_h,
                              v->stride_w, v->dilation_h, v->dilation_w};
  const int64_t pads[] = {v->pad_top, v->pad_left, v->pad_bottom, v->pad_right};
  const int64_t x[] = {v->n, v->c, v->h, v->w};
  const int64_t y[] = {v->n, v->c, v->out_h, v->out_w};
  for (int i = 0; i < 12; i++)
    if (positive[i] < 1 || positive[i] > MOST)
      return false;
  for (int i = 0; i < 4; i++)
    if (pads[i] < 0 || pads[i] > MOST)
      return false;
  return vecdsp_size(x, 4) > 0 && vecdsp_size(y, 4) > 0;
}

/*===----------------------------- Convolution ----------------------------===*/

/* The channels of one group of one image, as a matrix with a row for each
 * element of the window and a column for each position. */
typedef struct image {
  const vecdsp_window *window;
  const float *x;
} image;

/* One row of a panel: the element (i, j) of the window over plane x at the
 * positions from `column` on. */
static void pack_row(const vecdsp_window *v, const float *x, int64_t i,
                     int64_t j, int64_t column, float *to) {
  int64_t row = column / v->out_w, at = column % v->out_w;
  for (int p = 0; p < VECDSP_PANEL; p++) {
    const int64_t y = row * v->stride_h + i * v->dilation_h - v->pad_top;
    const int64_t z = at * v->stride_w + j * v->dilation_w - v->pad_left;
    const bool is_inside =
        row < v->out_h && y >= 0 && y < v->h && z >= 0 && z < v->w;
    to[p] = is_inside ? x[y * v->w + z] : 0.0f;
    if (++at == v->out_w) {
      at = 0;
      row++;
    }
  }
}

static void pack_image(const void *source, int64_t first, int64_t rows,
                       int64_t column, float *panel) {
  const image *from = source;
  const vecdsp_window *v = from->window;
  const int64_t window = v->kernel_h * v->kernel_w, plane = v->h * v->w;
  for (int64_t k = 0; k < rows; k++) {
    const int64_t channel = (first + k) / window,
                  element = (first + k) % window;
    pack_row(v, from->x + channel * plane, element / v->kernel_w,
             element % v->kernel_w, column, panel + k * VECDSP_PANEL);
  }
}

static void run_conv(const vecdsp_command *command, void *const *at) {
  const vecdsp_conv *conv = &command->as.conv;
  const vecdsp_window *v = &conv->window;
  const int64_t in_c = v->c / conv->group, out_c = conv->out_c / conv->group;
  const int64_t k = in_c * v->kernel_h * v->kernel_w, n = v->out_h * v->out_w;
  const float *x = at[0], *w = at[1], *b = at[2];
  float *y = at[3];
  for (int64_t i = 0; i < v->n * conv->group; i++) {
    const int64_t group = i % conv->group;
    const image from = {v, x + i * in_c * v->h * v->w};
    const vecdsp_matrices matrices = {
        .m = out_c,
        .k = k,
        .n = n,
        .a = w + group * out_c * k,
        .a_row = k,
        .a_column = 1,
        .c = b ? b + group * out_c : NULL,
        .c_row = 1,
        .y = y + i * out_c * n,
        .y_row = n,
        .alpha = 1.0f,
        .beta = 1.0f,
        .act = &conv->act,
        .pack = pack_image,
        .source = &from,
    };
    vecdsp_multiply(&matrices);
  }
}

int vecdsp_conv2d(vecdsp_device *device, const float *x, const float *w,
                  const float *b, float *y, const vecdsp_conv *conv) {
  const vecdsp_window *v = &conv->window;
  if (!is_window(v) || conv->group < 1 || conv->out_c < 1 ||
      v->c % conv->group || conv->out_c % conv->group ||
      !vecdsp_is_activation(&conv->act))
    return vecdsp_refuse(device);
  const int64_t in[] = {v->n, v->c, v->h, v->w};
  const int64_t filters[] = {conv->out_c, v->c / conv->group, v->kernel_h,
                             v->kernel_w};
  const int64_t out[] = {v->n, conv->out_c, v->out_h, v->out_w};
  const int64_t size = vecdsp_size(out, 4), weights = vecdsp_size(filters, 4);
  if (size < 0 || weights < 0)
    return vecdsp_refuse(device);
  vecdsp_command command = {.run = run_conv, .kind = VECDSP_CALL};
  command.as.conv = *conv;
  command.operations = (uint64_t)size * ((uint64_t)(weights / conv->out_c) +
                                         vecdsp_effort(&conv->act));
  vecdsp_operand_add(&command, x, vecdsp_size(in, 4), sizeof *x);
  vecdsp_operand_add(&command, w, weights, sizeof *w);
  vecdsp_operand_add(&command, b, b ? conv->out_c : 0, sizeof *b);
  vecdsp_operand_add(&command, y, size, sizeof *y);
  return vecdsp_submit(device, &command);
}

/*===-------------------------------- Pools -------------------------------===*/

/* The elements of the window at one position: the sum or the greatest, and how
 * many there are in the image, and in the image with its padding. */
typedef struct seen {
  float most;
  double sum;
  int64_t inside, padded;
} seen;

static seen look(const vecdsp_window *v, const float *x, int64_t top,
                 int64_t left) {
  seen out = {-INFINITY, 0.0, 0, 0};
  for (int64_t i = 0; i < v->kernel_h; i++)
    for (int64_t j = 0; j < v->kernel_w; j++) {
      const int64_t y = top + i * v->dilation_h, z = left + j * v->dilation_w;
      out.padded += y < v->h + v->pad_bottom && z < v->w + v->pad_right;
      if (y < 0 || y >= v->h || z < 0 || z >= v->w)
        continue;
      const float element = x[y * v->w + z];
      out.most = isnan(element) || element > out.most ? element : out.most;
      out.sum += (double)element;
      out.inside++;
    }
  return out;
}

static void run_pool(const vecdsp_command *command, void *const *at) {
  const vecdsp_pool *pool = &command->as.pool;
  const vecdsp_window *v = &pool->window;
  const float *x = at[0];
  float *y = at[1];
  for (int64_t plane = 0; plane < v->n * v->c; plane++, x += v->h * v->w)
    for (int64_t row = 0; row < v->out_h; row++)
      for (int64_t column = 0; column < v->out_w; column++) {
        const seen window = look(v, x, row * v->stride_h - v->pad_top,
                                 column * v->stride_w - v->pad_left);
        const int64_t count = pool->include_pad ? window.padded : window.inside;
        *y++ =
            pool->average ? (float)(window.sum / (double)count) : window.most;
      }
}

int vecdsp_pool2d(vecdsp_device *device, const float *x, float *y,
                  const vecdsp_pool *pool) {
  const vecdsp_window *v = &pool->window;
  if (!is_window(v))
    return vecdsp_refuse(device);
  const int64_t in[] = {v->n, v->c, v->h, v->w};
  const int64_t out[] = {v->n, v->c, v->out_h, v->out_w};
  const int64_t size = vecdsp_size(out, 4);
  vecdsp_command command = {.run = run_pool, .kind = VECDSP_CALL};
  command.as.pool = *pool;
  command.operations =
      (uint64_t)size * (uint64_t)v->kernel_h * (uint64_t)v->kernel_w;
  vecdsp_operand_add(&command, x, vecdsp_size(in, 4), sizeof *x);
  vecdsp_operand_add(&command, y, size, sizeof *y);
  return vecdsp_submit(device, &command);
}
