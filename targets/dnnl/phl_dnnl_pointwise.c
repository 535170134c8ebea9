/*===- phl_dnnl_pointwise.c - Element by element ------------------*- C -*-===*/

#include "phl_dnnl_site.h"

/** An activation with its limits. */
typedef struct layer {
  const phl_dnnl_act *act;
  const float *lo, *hi;
  int64_t size;
} layer;

static int build_eltwise(phl_dnnl *device, phl_dnnl_site *site,
                         const void *context) {
  const layer *layer = context;
  const dnnl_dims_t dims = {layer->size};
  dnnl_alg_kind_t kind;
  float alpha, beta;
  if (!phl_dnnl_algorithm(layer->act, layer->lo, layer->hi, &kind, &alpha,
                          &beta))
    return phl_dnnl_fail(PHL_DNNL_DESCRIBE, dnnl_invalid_arguments);
  dnnl_memory_desc_t x;
  dnnl_eltwise_desc_t op;
  dnnl_status_t status =
      dnnl_memory_desc_init_by_tag(&x, 1, dims, dnnl_f32, dnnl_a);
  if (status == dnnl_success)
    status = dnnl_eltwise_forward_desc_init(&op, dnnl_forward_inference, kind,
                                            &x, alpha, beta);
  if (status != dnnl_success)
    return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
  dnnl_primitive_attr_t attr;
  int failed = phl_dnnl_attributes(&attr, &(phl_dnnl_post){.sum = false});
  if (!failed)
    failed = phl_dnnl_describe(device, site, &op, attr);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_SRC, &x);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_DST, &x);
  return failed ? failed : phl_dnnl_create(device, site);
}

static int eltwise(phl_dnnl *device, const float *x, const float *lo,
                   const float *hi, float *y, int64_t size,
                   const phl_dnnl_act *act) {
  const layer layer = {act, lo, hi, size};
  phl_dnnl_key key = phl_dnnl_key_of(PHL_DNNL_ELTWISE);
  phl_dnnl_key_int(&key, size);
  phl_dnnl_key_act(&key, act, lo, hi);
  const void *addresses[] = {x, y};
  return phl_dnnl_call(device, &key, build_eltwise, &layer, addresses, 2);
}

/** Gives y the NaNs of x back, where oneDNN made numbers of them. */
static void keep_nans(const float *x, float *y, int64_t size) {
  for (int64_t i = 0; i < size; ++i)
    y[i] = x[i] == x[i] ? y[i] : x[i];
}

int phl_dnnl_eltwise(phl_dnnl *device, const float *x, const float *lo,
                     const float *hi, float *y, int64_t size,
                     const phl_dnnl_act *act) {
  int failed = eltwise(device, x, lo, hi, y, size, act);
  if (!failed && act->hard_sigmoid) {
    /* So far y is the linear half. oneDNN 2.6 does not heed an activation that
     * follows another one, so the limits are a primitive of their own. */
    static const float zero = 0, one = 1;
    const phl_dnnl_act clip = {.clip = true};
    failed = eltwise(device, y, &zero, &one, y, size, &clip);
  }
  if (!failed && (act->relu || act->clip || act->exp || act->hard_sigmoid))
    keep_nans(x, y, size);
  return failed;
}

/** A row-major tensor, with leading ones up to `rank`. */
static dnnl_status_t plain(dnnl_memory_desc_t *out, const int64_t *shape,
                           int64_t own_rank, int rank) {
  dnnl_dims_t dims, strides;
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const int64_t place = i - (rank - own_rank);
    dims[i] = place < 0 ? 1 : shape[place];
    strides[i] = stride;
    stride *= dims[i];
  }
  return dnnl_memory_desc_init_by_strides(out, rank, dims, dnnl_f32, strides);
}

static const dnnl_alg_kind_t algorithms[] = {
    [PHL_DNNL_ADD] = dnnl_binary_add, [PHL_DNNL_SUB] = dnnl_binary_sub,
    [PHL_DNNL_MUL] = dnnl_binary_mul, [PHL_DNNL_DIV] = dnnl_binary_div,
    [PHL_DNNL_MAX] = dnnl_binary_max, [PHL_DNNL_MIN] = dnnl_binary_min};

static int build_binary(phl_dnnl *device, phl_dnnl_site *site,
                        const void *context) {
  const phl_dnnl_pair *pair = context;
  const int64_t larger =
      pair->a_rank > pair->b_rank ? pair->a_rank : pair->b_rank;
  /* oneDNN knows no scalars. */
  const int rank = larger > 0 ? (int)larger : 1;
  dnnl_memory_desc_t a, b, y;
  dnnl_binary_desc_t op;
  int64_t shape[DNNL_MAX_NDIMS];
  dnnl_status_t status = plain(&a, pair->a, pair->a_rank, rank);
  if (status == dnnl_success)
    status = plain(&b, pair->b, pair->b_rank, rank);
  for (int i = 0; i < rank && status == dnnl_success; ++i)
    shape[i] = a.dims[i] == 1 ? b.dims[i] : a.dims[i];
  if (status == dnnl_success)
    status = plain(&y, shape, rank, rank);
  if (status == dnnl_success)
    status = dnnl_binary_desc_init(&op, algorithms[pair->op], &a, &b, &y);
  if (status != dnnl_success)
    return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
  dnnl_primitive_attr_t attr;
  int failed = phl_dnnl_attributes(&attr, &(phl_dnnl_post){.sum = false});
  if (!failed)
    failed = phl_dnnl_describe(device, site, &op, attr);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_SRC_0, &a);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_SRC_1, &b);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_DST, &y);
  return failed ? failed : phl_dnnl_create(device, site);
}

/** A tensor's dimension, counted from the last one. */
static int64_t dim(const int64_t *shape, int64_t rank, int64_t from_last) {
  return from_last < rank ? shape[rank - 1 - from_last] : 1;
}

/** Gives a result the NaNs of both operands back: oneDNN's larger and smaller
 * of a number and NaN may be the number. */
static void keep_operands_nans(const float *a, const float *b, float *y,
                               const phl_dnnl_pair *pair) {
  int64_t dims[DNNL_MAX_NDIMS], steps[2][DNNL_MAX_NDIMS];
  int64_t index[DNNL_MAX_NDIMS] = {0};
  int64_t size = 1, sizes[2] = {1, 1};
  const int64_t rank =
      pair->a_rank > pair->b_rank ? pair->a_rank : pair->b_rank;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t own[] = {dim(pair->a, pair->a_rank, i),
                           dim(pair->b, pair->b_rank, i)};
    dims[i] = own[0] == 1 ? own[1] : own[0];
    for (int side = 0; side < 2; ++side) {
      steps[side][i] = own[side] == 1 ? 0 : sizes[side];
      sizes[side] *= own[side];
    }
    size *= dims[i];
  }
  for (int64_t at = 0, at_a = 0, at_b = 0; at < size; ++at) {
    y[at] = a[at_a] == a[at_a] ? y[at] : a[at_a];
    y[at] = b[at_b] == b[at_b] ? y[at] : b[at_b];
    for (int64_t i = 0; i < rank; ++i) {
      at_a += steps[0][i];
      at_b += steps[1][i];
      if (++index[i] < dims[i])
        break;
      index[i] = 0;
      at_a -= steps[0][i] * dims[i];
      at_b -= steps[1][i] * dims[i];
    }
  }
}

static void plain_relu(float *y, const phl_dnnl_pair *pair) {
  const int64_t rank =
      pair->a_rank > pair->b_rank ? pair->a_rank : pair->b_rank;
  int64_t size = 1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t own = dim(pair->a, pair->a_rank, i);
    size *= own == 1 ? dim(pair->b, pair->b_rank, i) : own;
  }
  for (int64_t i = 0; i < size; ++i)
    y[i] = y[i] < 0 ? 0 : y[i];
}

int phl_dnnl_binary(phl_dnnl *device, const float *a, const float *b, float *y,
                    const phl_dnnl_pair *pair) {
  phl_dnnl_key key = phl_dnnl_key_of(PHL_DNNL_BINARY);
  phl_dnnl_key_int(&key, pair->op);
  phl_dnnl_key_ints(&key, pair->a, pair->a_rank);
  phl_dnnl_key_ints(&key, pair->b, pair->b_rank);
  const void *addresses[] = {a, b, y};
  const int failed =
      phl_dnnl_call(device, &key, build_binary, pair, addresses, 3);
  if (!failed && (pair->op == PHL_DNNL_MAX || pair->op == PHL_DNNL_MIN))
    keep_operands_nans(a, b, y, pair);
  /* As a post-op it would make numbers of NaNs. */
  if (!failed && pair->relu)
    plain_relu(y, pair);
  return failed;
}
