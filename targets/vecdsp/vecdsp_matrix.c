/*===- vecdsp_matrix.c - Products of matrices ---------------------*- C -*-===*/

#include "vecdsp_device.h"

#include <string.h>

/* Rows of a that are computed at once, and rows of b in a panel. */
enum { ROWS = 4, DEPTH = 512 };

/* sum[row][] += a[row][0 .. depth] panel[0 .. depth][]. */
static void add_products(const vecdsp_matrices *matrices, const float *a,
                         int64_t rows, int64_t depth, const float *panel,
                         float sum[ROWS][VECDSP_PANEL]) {
  for (int64_t row = 0; row < rows; row++) {
    const float *at = a + row * matrices->a_row;
    float line[VECDSP_PANEL];
    memcpy(line, sum[row], sizeof line);
    for (int64_t k = 0; k < depth; k++) {
      const float factor = at[k * matrices->a_column];
      for (int j = 0; j < VECDSP_PANEL; j++)
        line[j] += factor * panel[k * VECDSP_PANEL + j];
    }
    memcpy(sum[row], line, sizeof line);
  }
}

/* Epilogue on the sums of a line of the product. */
static void finish_line(const vecdsp_matrices *matrices, int64_t row,
                        int64_t column, int64_t count, float *line) {
  const float *c = matrices->c;
  for (int64_t j = 0; j < count && matrices->alpha != 1.0f; j++)
    line[j] *= matrices->alpha;
  for (int64_t j = 0; j < count && c; j++)
    line[j] += matrices->beta *
               c[row * matrices->c_row + (column + j) * matrices->c_column];
  vecdsp_activate(matrices->act, line, count);
}

/* The columns of one panel, whose sums begin with `first`. */
static void add_panel(const vecdsp_matrices *matrices, int64_t first,
                      int64_t depth, int64_t column, const float *panel) {
  const int64_t left = matrices->n - column;
  const int64_t count = left < VECDSP_PANEL ? left : VECDSP_PANEL;
  for (int64_t row = 0; row < matrices->m; row += ROWS) {
    const int64_t rows = matrices->m - row < ROWS ? matrices->m - row : ROWS;
    float sum[ROWS][VECDSP_PANEL] = {{0.0f}};
    float *y = matrices->y + row * matrices->y_row + column;
    for (int64_t i = 0; i < rows && first; i++)
      memcpy(sum[i], y + i * matrices->y_row, (size_t)count * sizeof *y);
    add_products(matrices,
                 matrices->a + row * matrices->a_row +
                     first * matrices->a_column,
                 rows, depth, panel, sum);
    for (int64_t i = 0; i < rows; i++) {
      if (first + depth == matrices->k)
        finish_line(matrices, row + i, column, count, sum[i]);
      memcpy(y + i * matrices->y_row, sum[i], (size_t)count * sizeof *y);
    }
  }
}

void vecdsp_multiply(const vecdsp_matrices *matrices) {
  float panel[DEPTH * VECDSP_PANEL];
  for (int64_t column = 0; column < matrices->n; column += VECDSP_PANEL)
    for (int64_t first = 0; first < matrices->k; first += DEPTH) {
      const int64_t left = matrices->k - first;
      const int64_t depth = left < DEPTH ? left : DEPTH;
      matrices->pack(matrices->source, first, depth, column, panel);
      add_panel(matrices, first, depth, column, panel);
    }
}

/* A matrix anywhere in memory. */
typedef struct strided {
  const float *at;
  int64_t row, column, columns;
} strided;

static void pack_strided(const void *source, int64_t first, int64_t rows,
                         int64_t column, float *panel) {
  const strided *matrix = source;
  const int64_t left = matrix->columns - column;
  const int64_t count = left < VECDSP_PANEL ? left : VECDSP_PANEL;
  for (int64_t k = 0; k < rows; k++) {
    const float *at =
        matrix->at + (first + k) * matrix->row + column * matrix->column;
    float *to = panel + k * VECDSP_PANEL;
    for (int64_t j = 0; j < VECDSP_PANEL; j++)
      to[j] = j < count ? at[j * matrix->column] : 0.0f;
  }
}

static void run_matmul(const vecdsp_command *command, void *const *at) {
  const vecdsp_nest *batch = &command->as.product.batch;
  const float *a = at[0], *b = at[1], *c = at[2];
  strided right = {b, command->as.product.row[1], command->as.product.column[1],
                   command->as.product.n};
  vecdsp_matrices matrices = {
      .m = command->as.product.m,
      .k = command->as.product.k,
      .n = command->as.product.n,
      .a_row = command->as.product.row[0],
      .a_column = command->as.product.column[0],
      .c_row = command->as.product.row[2],
      .c_column = command->as.product.column[2],
      .y_row = command->as.product.n,
      .alpha = command->as.product.alpha,
      .beta = command->as.product.beta,
      .act = &command->as.product.act,
      .pack = pack_strided,
      .source = &right,
  };
  vecdsp_walk walk;
  vecdsp_begin(batch, &walk);
  do {
    matrices.a = a + walk.at[0];
    right.at = b + walk.at[1];
    matrices.c = c ? c + walk.at[2] : NULL;
    matrices.y = (float *)at[3] + walk.at[3];
    vecdsp_multiply(&matrices);
  } while (vecdsp_next(batch, batch->rank, &walk));
}

/*===-------------------------------- The call ----------------------------===*/

/* A shape without its last two dimensions, which are rows and columns. */
typedef struct shaped {
  const int64_t *shape;
  int64_t rank, rows, columns;
} shaped;

/* A vector is a row on the left, and a column on the right. */
static shaped matrices_of(const int64_t *shape, int64_t rank, bool is_right) {
  shaped out = {shape, rank < 2 ? 0 : rank - 2, 1, 1};
  if (rank == 1) {
    *(is_right ? &out.rows : &out.columns) = shape[0];
    return out;
  }
  out.rows = shape[rank - 2];
  out.columns = shape[rank - 1];
  return out;
}

/* Rows and columns of the addend, as far as it has them. */
static shaped addend_of(const int64_t *shape, int64_t rank) {
  shaped out = {shape, rank < 2 ? 0 : rank - 2, 1, 1};
  out.rows = rank < 2 ? 1 : shape[rank - 2];
  out.columns = rank < 1 ? 1 : shape[rank - 1];
  return out;
}

/* Fills in batches and strides; the sizes of a, b, c and y, or false. */
static bool plan(vecdsp_command *command, const vecdsp_product *product,
                 bool has_c, int64_t sizes[4]) {
  static const shaped none = {NULL, 0, 1, 1};
  shaped each[] = {matrices_of(product->a, product->a_rank, false),
                   matrices_of(product->b, product->b_rank, true),
                   has_c ? addend_of(product->c, product->c_rank) : none};
  const bool transposed[] = {product->trans_a, product->trans_b, false};
  const int64_t *shapes[3];
  int64_t ranks[3], dims[3][2];
  for (int i = 0; i < 3; i++) {
    const int64_t rows = each[i].rows, columns = each[i].columns;
    shapes[i] = each[i].shape;
    ranks[i] = each[i].rank;
    dims[i][0] = transposed[i] ? columns : rows;
    dims[i][1] = transposed[i] ? rows : columns;
    command->as.product.row[i] = transposed[i] ? 1 : columns;
    command->as.product.column[i] = transposed[i] ? columns : 1;
    sizes[i] = rows * columns;
  }
  const int64_t m = dims[0][0], k = dims[0][1], n = dims[1][1];
  if (k != dims[1][0] || (dims[2][0] != 1 && dims[2][0] != m) ||
      (dims[2][1] != 1 && dims[2][1] != n))
    return false;
  command->as.product.row[2] = dims[2][0] == 1 ? 0 : dims[2][1];
  command->as.product.column[2] = dims[2][1] == 1 ? 0 : 1;
  vecdsp_nest *batch = &command->as.product.batch;
  const int64_t batches = vecdsp_broadcast(batch, shapes, ranks, 3);
  if (batches < 0)
    return false;
  sizes[3] = m * n;
  for (int i = 0; i < VECDSP_WALKED; i++)
    for (int d = 0; d < batch->rank; d++)
      batch->stride[i][d] *= sizes[i];
  for (int i = 0; i < 3; i++)
    sizes[i] *= vecdsp_size(shapes[i], ranks[i]);
  sizes[3] *= batches;
  vecdsp_simplify(batch, 4);
  command->as.product.m = m;
  command->as.product.k = k;
  command->as.product.n = n;
  command->operations =
      (uint64_t)sizes[3] * ((uint64_t)k + vecdsp_effort(&product->act));
  return true;
}

int vecdsp_matmul(vecdsp_device *device, const float *a, const float *b,
                  const float *c, float *y, const vecdsp_product *product) {
  vecdsp_command command = {.run = run_matmul, .kind = VECDSP_CALL};
  int64_t sizes[4];
  if (product->a_rank < 1 || vecdsp_size(product->a, product->a_rank) < 0 ||
      product->b_rank < 1 || vecdsp_size(product->b, product->b_rank) < 0 ||
      (c && vecdsp_size(product->c, product->c_rank) < 0) ||
      !vecdsp_is_activation(&product->act) ||
      !plan(&command, product, c != NULL, sizes))
    return vecdsp_refuse(device);
  command.as.product.alpha = product->alpha;
  command.as.product.beta = product->beta;
  command.as.product.act = product->act;
  vecdsp_operand_add(&command, a, sizes[0], sizeof *a);
  vecdsp_operand_add(&command, b, sizes[1], sizeof *b);
  vecdsp_operand_add(&command, c, c ? sizes[2] : 0, sizeof *c);
  vecdsp_operand_add(&command, y, sizes[3], sizeof *y);
  return vecdsp_submit(device, &command);
}
