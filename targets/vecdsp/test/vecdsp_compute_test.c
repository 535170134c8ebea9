/*===- vecdsp_compute_test.c - Tests of what the DSP computes -----*- C -*-===*/

#include "vecdsp_fixture.h"

void test_vecdsp_functions(void) {
  const float x[6] = {-2.5f, -0.5f, 0.0f, 0.5f, 7.0f, NAN};
  const struct {
    vecdsp_activation act;
    float want[5];
  } cases[] = {
      {{VECDSP_RELU, 0, 0}, {0, 0, 0, 0.5f, 7}},
      {{VECDSP_CLIP, -1, 6}, {-1, -0.5f, 0, 0.5f, 6}},
      {{VECDSP_CLIP, NAN, 6}, {-2.5f, -0.5f, 0, 0.5f, 6}},
      {{VECDSP_CLIP_LOW, -1, 0}, {-1, -0.5f, 0, 0.5f, 7}},
      {{VECDSP_CLIP_HIGH, 0, 0}, {-2.5f, -0.5f, 0, 0, 0}},
      {{VECDSP_SIGMOID, 0, 0},
       {0.0758582f, 0.3775407f, 0.5f, 0.6224593f, 0.9990889f}},
      {{VECDSP_GELU, 0, 0}, {-0.0155242f, -0.1542688f, 0, 0.3457312f, 7}},
      {{VECDSP_GELU_TANH, 0, 0}, {-0.0150843f, -0.1542860f, 0, 0.3457140f, 7}},
      {{VECDSP_SWISH, 1, 0},
       {-0.1896455f, -0.1887703f, 0, 0.3112297f, 6.9936223f}},
      {{VECDSP_LEAKY_RELU, 0.5f, 0}, {-1.25f, -0.25f, 0, 0.5f, 7}},
      {{VECDSP_ELU, 2, 0}, {-1.8358300f, -0.7869387f, 0, 0.5f, 7}},
      {{VECDSP_HARD_SIGMOID, 0.25f, 0.5f}, {0, 0.375f, 0.5f, 0.625f, 1}},
      {{VECDSP_HARD_SWISH, 0, 0}, {-0.2083333f, -0.2083333f, 0, 0.2916667f, 7}},
      {{VECDSP_ROUND, 0, 0}, {-2, 0, 0, 0, 7}},
      {{VECDSP_SOFTPLUS, 0, 0},
       {0.0788897f, 0.4740770f, 0.6931472f, 0.9740770f, 7.0009115f}},
      {{VECDSP_RECIPROCAL, 0, 0}, {-0.4f, -2, INFINITY, 2, 0.1428571f}},
  };
  vecdsp_device *device = vecdsp_usual();
  void *from = vecdsp_upload(device, x, sizeof x);
  void *to = vecdsp_room(device, sizeof x);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float y[6];
    CHECK_STATUS(vecdsp_unary(device, from, to, 6, &cases[i].act), VECDSP_OK);
    vecdsp_download(device, y, to, sizeof y);
    for (int j = 0; j < 5; j++)
      CHECK_NEAR(y[j], cases[i].want[j], "function", cases[i].act.function);
    CHECK(isnan(y[5]), "function %d of NaN", cases[i].act.function);
  }
  const vecdsp_activation none = {VECDSP_FUNCTIONS, 0, 0};
  CHECK_STATUS(vecdsp_unary(device, from, to, 6, &none), VECDSP_ERR_ARGUMENT);
  CHECK_STATUS(vecdsp_unary(device, from, to, 0, &cases[0].act),
               VECDSP_ERR_ARGUMENT);
  vecdsp_close(device);
}

/* Two tensors of which each has dimensions that the other lacks. */
void test_vecdsp_broadcast(void) {
  vecdsp_device *device = vecdsp_usual();
  float a[2 * 3 * 4], b[5 * 2 * 4], y[5 * 2 * 3 * 4];
  const int64_t a_shape[] = {2, 3, 1, 4}, b_shape[] = {5, 2, 1, 1, 4};
  vecdsp_fill(a, 24, 1);
  vecdsp_fill(b, 40, 2);
  void *at_a = vecdsp_upload(device, a, sizeof a);
  void *at_b = vecdsp_upload(device, b, sizeof b);
  void *at_y = vecdsp_room(device, sizeof y);
  vecdsp_pair pair = {.a = a_shape, .b = b_shape, .a_rank = 4, .b_rank = 5};
  pair.function = VECDSP_SUB;
  pair.act.function = VECDSP_RELU;
  CHECK_STATUS(vecdsp_binary(device, at_a, at_b, at_y, &pair), VECDSP_OK);
  vecdsp_download(device, y, at_y, sizeof y);
  for (int i = 0; i < 120; i++) {
    const int l = i % 4, k = i / 4 % 3, j = i / 12 % 2, h = i / 24;
    const float want = a[(j * 3 + k) * 4 + l] - b[(h * 2 + j) * 4 + l];
    CHECK_NEAR(y[i], want < 0.0f ? 0.0f : want, "difference", i);
  }
  const int64_t odd[] = {3};
  pair.b = odd;
  pair.b_rank = 1;
  CHECK_STATUS(vecdsp_binary(device, at_a, at_b, at_y, &pair),
               VECDSP_ERR_ARGUMENT);
  vecdsp_close(device);
}

void test_vecdsp_choices(void) {
  vecdsp_device *device = vecdsp_usual();
  const float a[4] = {1.0f, NAN, 3.0f, -0.5f}, b[2] = {2.0f, -0.5f};
  const int64_t square[] = {2, 2}, row[] = {2}, column[] = {2, 1};
  void *at_a = vecdsp_upload(device, a, sizeof a);
  void *at_b = vecdsp_upload(device, b, sizeof b);
  void *at_c = vecdsp_room(device, 4), *at_y = vecdsp_room(device, 16);
  vecdsp_pair pair = {.a = square, .b = row, .a_rank = 2, .b_rank = 1};
  float y[4];
  uint8_t c[4];
  pair.function = VECDSP_MAX;
  CHECK_STATUS(vecdsp_binary(device, at_a, at_b, at_y, &pair), VECDSP_OK);
  vecdsp_download(device, y, at_y, sizeof y);
  CHECK(y[0] == 2.0f && isnan(y[1]) && y[2] == 3.0f && y[3] == -0.5f, "max");
  pair.function = VECDSP_LESS_OR_EQUAL;
  CHECK_STATUS(vecdsp_binary(device, at_a, at_b, at_c, &pair), VECDSP_OK);
  vecdsp_download(device, c, at_c, sizeof c);
  CHECK(c[0] == 1 && c[1] == 0 && c[2] == 0 && c[3] == 1, "less or equal");
  const vecdsp_choice choice = {square, square, column, 2, 2, 2, 4};
  CHECK_STATUS(vecdsp_select(device, at_c, at_a, at_b, at_y, &choice),
               VECDSP_OK);
  vecdsp_download(device, y, at_y, sizeof y);
  CHECK(y[0] == 1.0f && y[1] == 2.0f && y[2] == -0.5f && y[3] == -0.5f,
        "a choice is %g, %g, %g, %g", (double)y[0], (double)y[1], (double)y[2],
        (double)y[3]);
  vecdsp_close(device);
}

void test_vecdsp_moves(void) {
  vecdsp_device *device = vecdsp_usual();
  const int16_t x[6] = {1, 2, 3, 4, 5, 6};
  int16_t y[12];
  const int64_t shape[] = {2, 3}, turned[] = {1, 0}, one[] = {1};
  const int64_t last[] = {-1}, back[] = {-2}, cut[] = {2, 2},
                wide[] = {2, 2, 3};
  void *from = vecdsp_upload(device, x, sizeof x);
  void *to = vecdsp_room(device, sizeof y);
  vecdsp_move move = {.shape = shape, .rank = 2, .element = 2};
  move.numbers = turned;
  CHECK_STATUS(vecdsp_transpose(device, from, to, &move), VECDSP_OK);
  vecdsp_download(device, y, to, 12);
  CHECK(y[0] == 1 && y[1] == 4 && y[2] == 2 && y[5] == 6, "transpose");
  /* Every second column from the last one backwards. */
  move.numbers = last;
  move.axes = one;
  move.steps = back;
  move.has_axes = move.has_steps = true;
  move.count = 1;
  move.result = cut;
  CHECK_STATUS(vecdsp_slice(device, from, to, &move), VECDSP_OK);
  vecdsp_download(device, y, to, 8);
  CHECK(y[0] == 3 && y[1] == 1 && y[2] == 6 && y[3] == 4, "slice");
  move.steps = one;
  CHECK_STATUS(vecdsp_slice(device, from, to, &move), VECDSP_ERR_ARGUMENT);
  move.numbers = wide;
  move.count = 3;
  CHECK_STATUS(vecdsp_expand(device, from, to, &move), VECDSP_OK);
  vecdsp_download(device, y, to, 24);
  CHECK(!memcmp(y, x, sizeof x) && !memcmp(y + 6, x, sizeof x), "expand");
  vecdsp_close(device);
}

void test_vecdsp_pieces(void) {
  vecdsp_device *device = vecdsp_usual();
  const float a[4] = {1, 2, 3, 4}, b[2] = {5, 6};
  float y[6];
  const int64_t sizes[] = {8, 4};
  const vecdsp_pieces pieces = {2, 2, sizes};
  void *at_a = vecdsp_upload(device, a, sizeof a);
  void *at_b = vecdsp_upload(device, b, sizeof b);
  void *at_y = vecdsp_room(device, sizeof y);
  CHECK_STATUS(vecdsp_concat(device, at_a, at_b, NULL, NULL, at_y, &pieces),
               VECDSP_OK);
  vecdsp_download(device, y, at_y, sizeof y);
  CHECK(y[0] == 1 && y[1] == 2 && y[2] == 5 && y[3] == 3 && y[5] == 6,
        "concat");
  void *left = vecdsp_room(device, 16), *right = vecdsp_room(device, 8);
  CHECK_STATUS(vecdsp_split(device, at_y, &pieces, left, right), VECDSP_OK);
  vecdsp_download(device, y, left, sizeof a);
  CHECK(!memcmp(y, a, sizeof a), "the first piece");
  vecdsp_download(device, y, right, sizeof b);
  CHECK(!memcmp(y, b, sizeof b), "the second piece");
  /* Indices out of range give the nearest row. */
  const int64_t indices[4] = {1, -2, 7, -9};
  void *at_i = vecdsp_upload(device, indices, sizeof indices);
  void *rows = vecdsp_room(device, 32);
  const vecdsp_lookup lookup = {1, 2, 8, 4, 8};
  CHECK_STATUS(vecdsp_gather(device, at_a, at_i, rows, &lookup), VECDSP_OK);
  float z[8];
  vecdsp_download(device, z, rows, sizeof z);
  CHECK(z[0] == 3 && z[2] == 1 && z[4] == 3 && z[6] == 1, "gather");
  vecdsp_close(device);
}

void test_vecdsp_reductions(void) {
  vecdsp_device *device = vecdsp_usual();
  float x[24], y[24];
  const int64_t shape[] = {2, 3, 4}, axes[] = {0, -1};
  vecdsp_fill(x, 24, 5);
  void *from = vecdsp_upload(device, x, sizeof x);
  void *to = vecdsp_room(device, sizeof y);
  vecdsp_dims dims = {shape, axes, 3, 2, VECDSP_REDUCE_MEAN};
  CHECK_STATUS(vecdsp_reduce(device, from, to, &dims), VECDSP_OK);
  vecdsp_download(device, y, to, 12);
  for (int i = 0; i < 3; i++) {
    float sum = 0.0f;
    for (int j = 0; j < 8; j++)
      sum += x[(j / 4 * 3 + i) * 4 + j % 4];
    CHECK_NEAR(y[i], sum / 8.0f, "mean", i);
  }
  dims.reduction = VECDSP_REDUCE_MAX;
  dims.count = 0;
  CHECK_STATUS(vecdsp_reduce(device, from, to, &dims), VECDSP_OK);
  vecdsp_download(device, y, to, 4);
  for (int i = 0; i < 24; i++)
    CHECK(x[i] <= y[0], "the greatest is %g", (double)y[0]);
  const vecdsp_line line = {2, 3, 4, false};
  CHECK_STATUS(vecdsp_softmax(device, from, to, &line), VECDSP_OK);
  vecdsp_download(device, y, to, sizeof y);
  for (int i = 0; i < 8; i++) {
    const float *at = y + i / 4 * 12 + i % 4;
    CHECK_NEAR(at[0] + at[4] + at[8], 1.0f, "sum of softmax", i);
  }
  const vecdsp_rows rows = {6, 4, 0, 1, 4, 0.0f};
  void *scale = vecdsp_upload(device, (float[]){1, 1, 1, 2}, 16);
  CHECK_STATUS(vecdsp_normalise(device, from, scale, NULL, to, &rows),
               VECDSP_OK);
  vecdsp_download(device, y, to, sizeof y);
  for (int i = 0; i < 24; i += 4)
    CHECK_NEAR(y[i] + y[i + 1] + y[i + 2] + y[i + 3] / 2.0f, 0.0f, "norm", i);
  const vecdsp_dims odd = {shape, (int64_t[]){1, -2}, 3, 2, 0};
  CHECK_STATUS(vecdsp_reduce(device, from, to, &odd), VECDSP_ERR_ARGUMENT);
  vecdsp_close(device);
}

/* Products with more rows, columns and depth than the device has at once. */
void test_vecdsp_products(void) {
  enum { M = 6, K = 600, N = 19 };
  vecdsp_device *device = vecdsp_usual();
  static float a[2 * M * K], b[N * K], c[N], y[2 * M * N];
  vecdsp_fill(a, 2 * M * K, 7);
  vecdsp_fill(b, N * K, 8);
  vecdsp_fill(c, N, 9);
  const int64_t a_shape[] = {2, M, K}, b_shape[] = {N, K}, c_shape[] = {N};
  void *at_a = vecdsp_upload(device, a, sizeof a);
  void *at_b = vecdsp_upload(device, b, sizeof b);
  void *at_c = vecdsp_upload(device, c, sizeof c);
  void *at_y = vecdsp_room(device, sizeof y);
  vecdsp_product product = {
      a_shape, b_shape, c_shape,           3, 2, 1, false, true,
      0.5f,    2.0f,    {VECDSP_NEG, 0, 0}};
  CHECK_STATUS(vecdsp_matmul(device, at_a, at_b, at_c, at_y, &product),
               VECDSP_OK);
  vecdsp_download(device, y, at_y, sizeof y);
  for (int i = 0; i < 2 * M * N; i++) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
      sum += a[i / N * K + k] * b[i % N * K + k];
    CHECK_NEAR(y[i], -(0.5f * sum + 2.0f * c[i % N]), "product", i);
  }
  product.trans_b = false;
  CHECK_STATUS(vecdsp_matmul(device, at_a, at_b, at_c, at_y, &product),
               VECDSP_ERR_ARGUMENT);
  vecdsp_close(device);
}

/* One output of a convolution in two groups of two channels. */
static float convolve(const vecdsp_window *v, const float *x, const float *w,
                      int64_t m, int64_t row, int64_t column) {
  float sum = 0.0f;
  for (int64_t c = 0; c < 2; c++)
    for (int64_t i = 0; i < v->kernel_h; i++)
      for (int64_t j = 0; j < v->kernel_w; j++) {
        const int64_t y = row * v->stride_h + i * v->dilation_h - v->pad_top;
        const int64_t z =
            column * v->stride_w + j * v->dilation_w - v->pad_left;
        if (y >= 0 && y < v->h && z >= 0 && z < v->w)
          sum += x[((m / 3 * 2 + c) * v->h + y) * v->w + z] *
                 w[((m * 2 + c) * v->kernel_h + i) * v->kernel_w + j];
      }
  return sum;
}

void test_vecdsp_convolution(void) {
  vecdsp_device *device = vecdsp_usual();
  vecdsp_conv conv = {.window = {.n = 1,
                                 .c = 4,
                                 .h = 7,
                                 .w = 9,
                                 .out_h = 4,
                                 .out_w = 8,
                                 .kernel_h = 3,
                                 .kernel_w = 2,
                                 .stride_h = 2,
                                 .stride_w = 1,
                                 .dilation_h = 1,
                                 .dilation_w = 3,
                                 .pad_top = 1,
                                 .pad_left = 2,
                                 .pad_bottom = 1},
                      .out_c = 6,
                      .group = 2};
  static float x[4 * 7 * 9], w[6 * 2 * 3 * 2], b[6], y[6 * 4 * 8];
  vecdsp_fill(x, 252, 11);
  vecdsp_fill(w, 72, 12);
  vecdsp_fill(b, 6, 13);
  void *at_x = vecdsp_upload(device, x, sizeof x);
  void *at_w = vecdsp_upload(device, w, sizeof w);
  void *at_b = vecdsp_upload(device, b, sizeof b);
  void *at_y = vecdsp_room(device, sizeof y);
  CHECK_STATUS(vecdsp_conv2d(device, at_x, at_w, at_b, at_y, &conv), VECDSP_OK);
  vecdsp_download(device, y, at_y, sizeof y);
  for (int i = 0; i < 192; i++)
    CHECK_NEAR(y[i],
               convolve(&conv.window, x, w, i / 32, i / 8 % 4, i % 8) +
                   b[i / 32],
               "convolution", i);
  conv.group = 3;
  CHECK_STATUS(vecdsp_conv2d(device, at_x, at_w, at_b, at_y, &conv),
               VECDSP_ERR_ARGUMENT);
  vecdsp_close(device);
}

void test_vecdsp_pools(void) {
  vecdsp_device *device = vecdsp_usual();
  const float x[6] = {1, 2, 3, 4, 5, NAN};
  float y[4];
  vecdsp_pool pool = {.window = {.n = 1,
                                 .c = 1,
                                 .h = 2,
                                 .w = 3,
                                 .out_h = 2,
                                 .out_w = 2,
                                 .kernel_h = 2,
                                 .kernel_w = 2,
                                 .stride_h = 1,
                                 .stride_w = 1,
                                 .dilation_h = 1,
                                 .dilation_w = 1,
                                 .pad_top = 1}};
  void *from = vecdsp_upload(device, x, sizeof x);
  void *to = vecdsp_room(device, sizeof y);
  CHECK_STATUS(vecdsp_pool2d(device, from, to, &pool), VECDSP_OK);
  vecdsp_download(device, y, to, sizeof y);
  CHECK(y[0] == 2 && y[1] == 3 && y[2] == 5 && isnan(y[3]), "maxima");
  pool.average = true;
  CHECK_STATUS(vecdsp_pool2d(device, from, to, &pool), VECDSP_OK);
  vecdsp_download(device, y, to, sizeof y);
  CHECK(y[0] == 1.5f && y[1] == 2.5f && y[2] == 3.0f, "means");
  pool.include_pad = true;
  CHECK_STATUS(vecdsp_pool2d(device, from, to, &pool), VECDSP_OK);
  vecdsp_download(device, y, to, sizeof y);
  CHECK(y[0] == 0.75f && y[1] == 1.25f && y[2] == 3.0f, "means with padding");
  pool.window.stride_h = 0;
  CHECK_STATUS(vecdsp_pool2d(device, from, to, &pool), VECDSP_ERR_ARGUMENT);
  vecdsp_close(device);
}
