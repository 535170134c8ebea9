/*===- shim.c - Tests of the dnnl target's C ----------------------*- C -*-===
 *
 * Calls every function of phl_dnnl.h and compares with plain loops, twice: the
 * second call finds what the first one made.
 *
 *===----------------------------------------------------------------------===*/

#include "shim.h"

int failures;
phl_dnnl *device;

float *fill(size_t count) {
  static uint32_t state = 1;
  float *data = malloc(count * sizeof *data);
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = (float)(state >> 8) / (float)(1 << 23) - 1.0f;
  }
  return data;
}

void check(const char *what, int status, const float *got, const float *want,
           size_t count) {
  float worst = 0;
  for (size_t i = 0; i < count && !status; ++i) {
    const float error = fabsf(got[i] - want[i]) / (1 + fabsf(want[i]));
    worst = error <= worst ? worst : error;
  }
  const bool passed = !status && worst < 2e-5f;
  failures += !passed;
  if (!passed || getenv("VERBOSE"))
    printf("%s: %s, worst error %g\n", what, phl_dnnl_status_string(status),
           (double)worst);
}

float activate(const phl_dnnl_act *act, float x) {
  if (act->relu)
    return x > 0 ? x : 0;
  if (act->clip)
    return x < -0.25f ? -0.25f : x > 0.5f ? 0.5f : x;
  if (act->gelu_erf)
    return 0.5f * x * (1 + erff(x / sqrtf(2)));
  if (act->swish)
    return x / (1 + expf(-act->swish_alpha * x));
  if (act->hard_swish)
    return x * fminf(fmaxf(x / 6 + 0.5f, 0), 1);
  if (act->hard_sigmoid)
    return fminf(fmaxf(act->hard_alpha * x + act->hard_beta, 0), 1);
  if (act->leaky_relu)
    return x > 0 ? x : act->leaky_alpha * x;
  if (act->elu)
    return x > 0 ? x : act->elu_alpha * (expf(x) - 1);
  if (act->sigmoid)
    return 1 / (1 + expf(-x));
  if (act->tanh)
    return tanhf(x);
  if (act->mish)
    return x * tanhf(log1pf(expf(x)));
  if (act->abs)
    return fabsf(x);
  if (act->exp)
    return expf(x);
  if (act->round)
    return nearbyintf(x);
  return x;
}

static void test_softmax(void) {
  const int64_t shape[] = {2, 3, 4, 5};
  for (int axis = -1; axis < 4; ++axis)
    for (int log = 0; log < 2; ++log) {
      const phl_dnnl_soft soft = {shape, 4, log ? 7 : axis, log, axis};
      const int64_t count = shape[axis < 0 ? 3 : axis];
      int64_t inner = 1;
      for (int i = axis < 0 ? 4 : axis + 1; i < 4; ++i)
        inner *= shape[i];
      float *x = fill(120), *y = fill(120), *want = fill(120);
      for (int64_t i = 0; i < 120; ++i) {
        const int64_t base = i / inner / count * inner * count + i % inner;
        float sum = 0;
        for (int64_t j = 0; j < count; ++j)
          sum += expf(x[base + j * inner]);
        want[i] = log ? x[i] - logf(sum) : expf(x[i]) / sum;
      }
      check("softmax", phl_dnnl_softmax(device, x, y, &soft), y, want, 120);
      free(x), free(y), free(want);
    }
}

static float combine(phl_dnnl_binary_op op, float a, float b) {
  switch (op) {
  case PHL_DNNL_ADD:
    return a + b;
  case PHL_DNNL_SUB:
    return a - b;
  case PHL_DNNL_MUL:
    return a * b;
  case PHL_DNNL_DIV:
    return a / b;
  case PHL_DNNL_MAX:
    return fmaxf(a, b);
  default:
    return fminf(a, b);
  }
}

/** Strides of a shape that is aligned with the last of four dimensions. */
static void strides_of(const int64_t *shape, int64_t rank, int64_t *strides) {
  int64_t stride = 1;
  for (int64_t i = 3; i >= 0; --i) {
    const int64_t size = i < 4 - rank ? 1 : shape[i - (4 - rank)];
    strides[i] = size == 1 ? 0 : stride;
    stride *= size;
  }
}

static void test_binary(void) {
  const int64_t full[] = {2, 3, 4, 5}, channel[] = {3, 1, 1}, row[] = {5},
                inner[] = {2, 1, 4, 1}, last[] = {4, 5}, ones[] = {1};
  const struct {
    const int64_t *shape;
    int64_t rank, size;
  } others[] = {{full, 4, 120}, {channel, 3, 3}, {row, 1, 5}, {inner, 4, 8},
                {last, 2, 20},  {ones, 0, 1},    {ones, 1, 1}};
  for (int op = 0; op < 6; ++op)
    for (int i = 0; i < 14; ++i) {
      const int other = i % 7;
      const bool swap = i >= 7, relu = i == 2;
      phl_dnnl_pair pair = {(phl_dnnl_binary_op)op, full,
                            others[other].shape,    4,
                            others[other].rank,     relu};
      if (swap)
        pair = (phl_dnnl_pair){(phl_dnnl_binary_op)op,
                               others[other].shape,
                               full,
                               others[other].rank,
                               4,
                               relu};
      int64_t a_strides[4], b_strides[4];
      strides_of(pair.a, pair.a_rank, a_strides);
      strides_of(pair.b, pair.b_rank, b_strides);
      float *a = fill(120), *b = fill(120), *y = fill(120), *want = fill(120);
      for (int64_t j = 0; j < 120; ++j) {
        const int64_t at[] = {j / 60, j / 20 % 3, j / 5 % 4, j % 5};
        int64_t left = 0, right = 0;
        for (int d = 0; d < 4; ++d) {
          left += at[d] * a_strides[d];
          right += at[d] * b_strides[d];
        }
        want[j] = combine(pair.op, a[left], b[right]);
        want[j] = relu ? fmaxf(want[j], 0) : want[j];
      }
      char what[64];
      snprintf(what, sizeof what, "binary %d, operand %d%s", op, other,
               swap ? ", swapped" : "");
      check(what, phl_dnnl_binary(device, a, b, y, &pair), y, want, 120);
      free(a), free(b), free(y), free(want);
    }
}

static void test_eltwise(void) {
  const phl_dnnl_act acts[] = {
      {.relu = true},
      {.clip = true},
      {.sigmoid = true},
      {.tanh = true},
      {.gelu_erf = true},
      {.swish = true, .swish_alpha = 1},
      {.mish = true},
      {.leaky_relu = true, .leaky_alpha = 0.1f},
      {.abs = true},
      {.elu = true, .elu_alpha = 1},
      {.exp = true},
      {.hard_sigmoid = true, .hard_alpha = 0.2f, .hard_beta = 0.5f},
      {.hard_swish = true},
      {.round = true}};
  const float lo = -0.25f, hi = 0.5f;
  for (unsigned i = 0; i < sizeof acts / sizeof acts[0]; ++i) {
    float *x = fill(77), *y = fill(77), *want = fill(77);
    for (int j = 0; j < 77; ++j) {
      x[j] *= 8;
      want[j] = activate(&acts[i], x[j]);
    }
    char what[64];
    snprintf(what, sizeof what, "eltwise %u", i);
    check(what, phl_dnnl_eltwise(device, x, &lo, &hi, y, 77, &acts[i]), y, want,
          77);
    free(x), free(y), free(want);
  }
}

static void test_concat(void) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6}, c[] = {7, 8};
  const float want[] = {1, 2, 5, 7, 3, 4, 6, 8};
  float y[8];
  phl_dnnl_concat(a, b, c, NULL, y, 2, 2, 1, 1, 0);
  check("concat", 0, y, want, 8);
}

static void test_failure(void) {
  const phl_dnnl_pool pool = {.n = 1,
                              .c = 1,
                              .h = 4,
                              .w = 4,
                              .kernel_h = 2,
                              .kernel_w = 2,
                              .stride_h = 1,
                              .stride_w = 1,
                              .dilation_h = 1,
                              .dilation_w = 1,
                              .pad_top = -1,
                              .out_h = 3,
                              .out_w = 3};
  float x[16] = {0}, y[9];
  const int status = phl_dnnl_pool2d(device, x, y, &pool);
  const char *text = phl_dnnl_status_string(status);
  if (!status || !strstr(text, "invalid arguments")) {
    printf("a negative pad gives: %s\n", text);
    ++failures;
  }
}

int main(void) {
  int status = phl_dnnl_open(&device);
  if (status) {
    puts(phl_dnnl_status_string(status));
    return 1;
  }
  test_images();
  test_matmuls();
  test_softmax();
  test_binary();
  test_eltwise();
  test_concat();
  test_failure();
  status = phl_dnnl_close(device);
  if (failures || status)
    printf("%d failures\n", failures);
  return failures || status;
}
