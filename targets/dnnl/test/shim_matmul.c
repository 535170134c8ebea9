/*===- shim_matmul.c - Products of matrices -----------------------*- C -*-===*/

#include "shim.h"

static void test_matmul(const char *what, phl_dnnl_product product,
                        int64_t count, int64_t m, int64_t k, int64_t n,
                        bool b_shared, int64_t c_rows, int64_t c_columns,
                        bool with_residual) {
  const size_t ys = (size_t)(count * m * n);
  float *b = fill((size_t)((b_shared ? 1 : count) * k * n));
  float *c = c_columns ? fill((size_t)(c_rows * c_columns)) : NULL;
  const float lo = -0.25f, hi = 0.5f;
  for (int round = 0; round < 2; ++round) {
    float *a = fill((size_t)(count * m * k)), *y = fill(ys), *want = fill(ys),
          *residual = with_residual ? fill(ys) : NULL;
    for (int64_t i = 0; i < count * m * n; ++i) {
      const int64_t column = i % n, row = i / n % m, batch = i / n / m;
      double sum = 0;
      for (int64_t j = 0; j < k; ++j)
        sum += (double)a[batch * m * k +
                         (product.trans_a ? j * m + row : row * k + j)] *
               (double)b[(b_shared ? 0 : batch * k * n) +
                         (product.trans_b ? column * k + j : j * n + column)];
      float value = product.alpha * (float)sum / product.divisor;
      if (c)
        value +=
            product.beta * c[row % c_rows * c_columns + column % c_columns];
      want[i] = activate(&product.act, value + (residual ? residual[i] : 0));
    }
    const int status =
        phl_dnnl_matmul(device, a, b, c, residual, &lo, &hi, y, &product);
    check(what, status, y, want, ys);
    free(a), free(y), free(want), free(residual);
  }
}

static void test_shapes(void) {
  const int64_t a3[] = {3, 5, 7}, a4[] = {1, 3, 5, 7}, b2[] = {7, 9},
                b3[] = {3, 7, 9}, b5[] = {1, 1, 3, 7, 9}, c1[] = {9},
                a2[] = {5, 7}, at[] = {7, 5}, bt[] = {9, 7}, cm[] = {5, 1},
                cn[] = {1, 9}, c11[] = {1, 1}, cmn[] = {5, 9};
  phl_dnnl_product p = {.a = a3,
                        .a_rank = 3,
                        .b = b2,
                        .b_rank = 2,
                        .c = c1,
                        .c_rank = 1,
                        .b_const = true,
                        .c_const = true,
                        .alpha = 1,
                        .divisor = 1,
                        .beta = 1};
  p.act.gelu_erf = true;
  test_matmul("matmul with bias, sum and gelu", p, 3, 5, 7, 9, true, 1, 9,
              true);
  p.b = b3, p.b_rank = 3, p.b_const = false, p.c_rank = 0;
  p.act = (phl_dnnl_act){.relu = true};
  test_matmul("batched matmul", p, 3, 5, 7, 9, false, 1, 0, false);
  p.a = a4, p.a_rank = 4, p.b = b5, p.b_rank = 5;
  test_matmul("matmul that broadcasts", p, 3, 5, 7, 9, false, 1, 0, true);
  for (int i = 0; i < 16; ++i) {
    const bool ta = i & 1, tb = i & 2, is_const = i & 4, scaled = i & 8;
    const struct {
      const int64_t *shape;
      int64_t rank, rows, columns;
    } cs[] = {{c1, 1, 1, 9},  {cm, 2, 5, 1},  {cn, 2, 1, 9},
              {c11, 2, 1, 1}, {cmn, 2, 5, 9}, {NULL, 0, 1, 0}};
    for (int j = 0; j < 6; ++j) {
      const phl_dnnl_product gemm = {.a = ta ? at : a2,
                                     .a_rank = 2,
                                     .b = tb ? bt : b2,
                                     .b_rank = 2,
                                     .c = cs[j].shape,
                                     .c_rank = cs[j].rank,
                                     .trans_a = ta,
                                     .trans_b = tb,
                                     .b_const = is_const,
                                     .c_const = is_const,
                                     .alpha = scaled ? 2 : 1,
                                     .divisor = scaled ? 4 : 1,
                                     .beta = scaled && is_const ? 0.25f : 1,
                                     .act = {.clip = true}};
      char what[64];
      snprintf(what, sizeof what, "gemm %d, addend %d", i, j);
      test_matmul(what, gemm, 1, 5, 7, 9, true, cs[j].rows, cs[j].columns,
                  i == 4);
    }
  }
}

static void test_scaled_matmul(void) {
  const int64_t a[] = {5, 7}, b[] = {7, 9}, c[] = {5, 9};
  phl_dnnl_product p = {.a = a,
                        .a_rank = 2,
                        .b = b,
                        .b_rank = 2,
                        .c = c,
                        .c_rank = 2,
                        .c_const = true,
                        .alpha = 0.5f,
                        .divisor = 1,
                        .beta = 2};
  p.act = (phl_dnnl_act){
      .hard_sigmoid = true, .hard_alpha = 0.3f, .hard_beta = 0.4f};
  for (int i = 0; i < 2; ++i) {
    test_matmul("matmul with factor and hard sigmoid", p, 1, 5, 7, 9, true, 5,
                9, true);
    p.b_const = true;
  }
}

void test_matmuls(void) {
  test_shapes();
  test_scaled_matmul();
}
