/*===- phl_dnnl_matmul.c - Products of matrices -------------------*- C -*-===*/

#include "phl_dnnl_site.h"

#define MAX_RANK 6

/** Parameters of a product. */
typedef struct layer {
  const phl_dnnl_product *product;
  const float *b, *c, *residual, *lo, *hi;
} layer;

/** The product as oneDNN gets it: all shapes of one rank. */
typedef struct shapes {
  int rank;
  dnnl_dims_t a, b, y;
} shapes;

/** Dimension `i` of `rank`, counted as if the shape had leading ones. */
static int64_t dim(const int64_t *shape, int64_t own_rank, int64_t rank,
                   int64_t i) {
  return i < rank - own_rank ? 1 : shape[i - (rank - own_rank)];
}

static int64_t batch(const int64_t *shape, int64_t rank) {
  int64_t size = 1;
  for (int64_t i = 0; i + 2 < rank; ++i)
    size *= shape[i];
  return size;
}

/** True if a and b have the same leading dimensions. */
static bool same_batch(const phl_dnnl_product *product) {
  if (product->a_rank != product->b_rank)
    return false;
  for (int64_t i = 0; i + 2 < product->a_rank; ++i)
    if (product->a[i] != product->b[i])
      return false;
  return true;
}

/** Shapes of the least rank: fewer and larger products are faster. */
static shapes shapes_of(const phl_dnnl_product *product) {
  const int64_t *a = product->a, *b = product->b;
  const int64_t ra = product->a_rank, rb = product->b_rank;
  const int64_t m = a[ra - (product->trans_a ? 1 : 2)],
                k = a[ra - (product->trans_a ? 2 : 1)],
                n = b[rb - (product->trans_b ? 2 : 1)];
  if (batch(b, rb) == 1 && !product->trans_a) {
    const int64_t rows = batch(a, ra) * m;
    return (shapes){2, {rows, k}, {k, n}, {rows, n}};
  }
  if (same_batch(product)) {
    const int64_t count = batch(a, ra);
    return (shapes){3, {count, m, k}, {count, k, n}, {count, m, n}};
  }
  const int rank = (int)(ra > rb ? ra : rb);
  shapes shapes = {.rank = rank};
  for (int i = 0; i < rank - 2; ++i) {
    shapes.a[i] = dim(a, ra, rank, i);
    shapes.b[i] = dim(b, rb, rank, i);
    shapes.y[i] = shapes.a[i] == 1 ? shapes.b[i] : shapes.a[i];
  }
  shapes.a[rank - 2] = shapes.y[rank - 2] = m;
  shapes.a[rank - 1] = shapes.b[rank - 2] = k;
  shapes.b[rank - 1] = shapes.y[rank - 1] = n;
  return shapes;
}

/** Row-major matrices, or column-major ones where they are transposed. */
static dnnl_status_t plain(dnnl_memory_desc_t *out, int rank,
                           const dnnl_dims_t dims, bool transposed) {
  dnnl_dims_t strides;
  const int row = rank - (transposed ? 1 : 2), column = 2 * rank - 3 - row;
  strides[column] = 1;
  strides[row] = dims[column];
  int64_t stride = dims[row] * dims[column];
  for (int i = rank - 3; i >= 0; --i) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return dnnl_memory_desc_init_by_strides(out, rank, dims, dnnl_f32, strides);
}

/** Factor of the product. */
static float factor(const phl_dnnl_product *product) {
  const float alpha = product->alpha != 0 ? product->alpha : 1;
  return product->divisor != 0 ? alpha / product->divisor : alpha;
}

/** Memory descriptors of a product. */
typedef struct formats {
  dnnl_memory_desc_t a, b, any_b, c, y;
  bool bias;
} formats;

/** The addend: aligned with the last dimensions of the result. An addend of the
 * result's own shape takes the result's merged dimensions. */
static dnnl_status_t addend_format(const phl_dnnl_product *product,
                                   const shapes *shapes, formats *out) {
  dnnl_dims_t dims;
  int64_t size = 1, wanted = 1;
  for (int64_t i = 0; i < product->c_rank; ++i)
    size *= product->c[i];
  for (int i = 0; i < shapes->rank; ++i)
    wanted *= shapes->y[i];
  const int64_t columns = shapes->y[shapes->rank - 1];
  const bool row = size == columns && (columns == 1 || product->c_rank == 0 ||
                                       product->c[product->c_rank - 1] != 1);
  for (int i = 0; i < shapes->rank; ++i)
    dims[i] = size == wanted ? shapes->y[i]
              : row ? (i == shapes->rank - 1 ? columns : 1)
                    : dim(product->c, product->c_rank, shapes->rank, i);
  /* A bias is added before alpha multiplies, and must be constant. */
  out->bias = row && size != wanted && factor(product) == 1 && product->c_const;
  return plain(&out->c, shapes->rank, dims, false);
}

static dnnl_status_t formats_of(const layer *layer, formats *out) {
  const phl_dnnl_product *product = layer->product;
  const shapes shapes = shapes_of(product);
  const int rank = shapes.rank;
  out->bias = false;
  dnnl_status_t status = plain(&out->a, rank, shapes.a, product->trans_a);
  if (status == dnnl_success)
    status = plain(&out->b, rank, shapes.b, product->trans_b);
  if (status == dnnl_success)
    status = plain(&out->y, rank, shapes.y, false);
  if (status == dnnl_success)
    status = dnnl_memory_desc_init_by_tag(&out->any_b, rank, shapes.b, dnnl_f32,
                                          dnnl_format_tag_any);
  if (status == dnnl_success && layer->c)
    status = addend_format(product, &shapes, out);
  return status;
}

static int describe(phl_dnnl *device, phl_dnnl_site *site, const layer *layer,
                    const formats *formats) {
  const phl_dnnl_product *product = layer->product;
  dnnl_matmul_desc_t op;
  dnnl_status_t status = dnnl_matmul_desc_init(
      &op, &formats->a, product->b_const ? &formats->any_b : &formats->b,
      formats->bias ? &formats->c : NULL, &formats->y);
  if (status != dnnl_success)
    return phl_dnnl_fail(PHL_DNNL_DESCRIBE, status);
  phl_dnnl_post post = {.alpha = factor(product),
                        .act = &product->act,
                        .lo = layer->lo,
                        .hi = layer->hi};
  if (layer->c && !formats->bias)
    post.addends[post.addend_count++] = &formats->c;
  if (layer->residual)
    post.addends[post.addend_count++] = &formats->y;
  dnnl_primitive_attr_t attr;
  int failed = phl_dnnl_attributes(&attr, &post);
  return failed ? failed : phl_dnnl_describe(device, site, &op, attr);
}

/** Adds a constant addend, multiplied by beta. */
static int constant_addend(phl_dnnl *device, phl_dnnl_site *site, int arg,
                           const layer *layer, const formats *formats) {
  const float beta = layer->product->beta;
  if (beta == 1)
    return phl_dnnl_constant(device, site, arg, layer->c, &formats->c,
                             &formats->c);
  const size_t bytes = dnnl_memory_desc_get_size(&formats->c);
  float *scaled = phl_dnnl_own(site, bytes);
  if (!scaled)
    return phl_dnnl_fail(PHL_DNNL_CONVERT, dnnl_out_of_memory);
  for (size_t i = 0; i < bytes / sizeof *scaled; ++i)
    scaled[i] = beta * layer->c[i];
  return phl_dnnl_constant(device, site, arg, scaled, &formats->c, &formats->c);
}

static int build(phl_dnnl *device, phl_dnnl_site *site, const void *context) {
  const layer *layer = context;
  const phl_dnnl_product *product = layer->product;
  formats formats;
  int failed = phl_dnnl_fail(PHL_DNNL_DESCRIBE, formats_of(layer, &formats));
  if (!failed)
    failed = describe(device, site, layer, &formats);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_SRC, &formats.a);
  if (!failed)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_DST, &formats.y);
  if (!failed && !product->b_const)
    failed = phl_dnnl_moving(device, site, DNNL_ARG_WEIGHTS, &formats.b);
  const bool addend = layer->c && !formats.bias;
  const int c_arg = formats.bias ? DNNL_ARG_BIAS : phl_dnnl_addend(0);
  if (!failed && addend && !product->c_const)
    failed = phl_dnnl_moving(device, site, c_arg, &formats.c);
  if (!failed && layer->residual)
    failed = phl_dnnl_moving(device, site, phl_dnnl_addend(addend), &formats.y);
  if (!failed && product->b_const)
    failed =
        phl_dnnl_constant(device, site, DNNL_ARG_WEIGHTS, layer->b, &formats.b,
                          phl_dnnl_wanted(site, DNNL_ARG_WEIGHTS));
  if (!failed && layer->c && product->c_const)
    failed = constant_addend(device, site, c_arg, layer, &formats);
  return failed ? failed : phl_dnnl_create(device, site);
}

static void key_product(phl_dnnl_key *key, const layer *layer) {
  const phl_dnnl_product *product = layer->product;
  phl_dnnl_key_ints(key, product->a, product->a_rank);
  phl_dnnl_key_ints(key, product->b, product->b_rank);
  phl_dnnl_key_ints(key, product->c, layer->c ? product->c_rank : 0);
  const int64_t flags[] = {product->trans_a, product->trans_b,
                           product->b_const, product->c_const,
                           layer->c != NULL, layer->residual != NULL};
  phl_dnnl_key_ints(key, flags, sizeof flags / sizeof flags[0]);
  phl_dnnl_key_float(key, factor(product));
  phl_dnnl_key_float(key, product->beta);
  phl_dnnl_key_pointer(key, product->b_const ? layer->b : NULL);
  phl_dnnl_key_pointer(key, product->c_const ? layer->c : NULL);
  phl_dnnl_key_act(key, &product->act, layer->lo, layer->hi);
}

int phl_dnnl_matmul(phl_dnnl *device, const float *a, const float *b,
                    const float *c, const float *residual, const float *lo,
                    const float *hi, float *y,
                    const phl_dnnl_product *product) {
  const layer layer = {product, b, c, residual, lo, hi};
  phl_dnnl_key key = phl_dnnl_key_of(PHL_DNNL_MATMUL);
  key_product(&key, &layer);
  const void *addresses[5] = {a, y};
  int count = 2;
  if (!product->b_const)
    addresses[count++] = b;
  if (c && !product->c_const)
    addresses[count++] = c;
  if (residual)
    addresses[count++] = residual;
  return phl_dnnl_call(device, &key, build, &layer, addresses, count);
}
