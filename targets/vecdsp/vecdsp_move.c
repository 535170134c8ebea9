/*===- vecdsp_move.c - Elements in another order or place ---------*- C -*-===*/

#include "vecdsp_device.h"

#include <stdarg.h>
#include <string.h>

#define MOVE(type)                                                             \
  do {                                                                         \
    const type *x = at[0];                                                     \
    type *y = at[1];                                                           \
    for (int64_t i = 0; i < count; i++)                                        \
      y[to + i * to_step] = x[from + i * from_step];                           \
  } while (0)

static void move_line(const vecdsp_command *command, void *const *at,
                      int64_t from, int64_t to) {
  const vecdsp_nest *nest = &command->as.loop.nest;
  const int last = nest->rank - 1;
  const int64_t count = nest->count[last], element = command->as.loop.element;
  const int64_t from_step = nest->stride[0][last];
  const int64_t to_step = nest->stride[1][last];
  if (from_step == 1 && to_step == 1) {
    memcpy((char *)at[1] + to * element, (const char *)at[0] + from * element,
           (size_t)(count * element));
    return;
  }
  switch (element) {
  case 1:
    MOVE(uint8_t);
    break;
  case 2:
    MOVE(uint16_t);
    break;
  case 4:
    MOVE(uint32_t);
    break;
  default:
    MOVE(uint64_t);
  }
}

static void run_move(const vecdsp_command *command, void *const *at) {
  const vecdsp_nest *nest = &command->as.loop.nest;
  vecdsp_walk walk;
  vecdsp_begin(nest, &walk);
  do
    move_line(command, at, walk.at[0], walk.at[1]);
  while (vecdsp_next(nest, nest->rank - 1, &walk));
}

/* Queues a move of whole tensors, whose loops are in the command. */
static int submit(vecdsp_device *device, vecdsp_command *command, const void *x,
                  int64_t x_size, void *y, int64_t y_size, int64_t element) {
  vecdsp_simplify(&command->as.loop.nest, 2);
  command->run = run_move;
  command->kind = VECDSP_CALL;
  command->as.loop.element = element;
  vecdsp_operand_add(command, x, x_size, (size_t)element);
  vecdsp_operand_add(command, y, y_size, (size_t)element);
  return vecdsp_submit(device, command);
}

static bool is_element(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

int vecdsp_transpose(vecdsp_device *device, const void *x, void *y,
                     const vecdsp_move *move) {
  const int64_t size = vecdsp_size(move->shape, move->rank);
  if (size < 0 || !is_element(move->element))
    return vecdsp_refuse(device);
  vecdsp_nest dense;
  vecdsp_dense(&dense, move->shape, move->rank);
  int64_t shape[VECDSP_RANK] = {0};
  unsigned seen = 0;
  for (int64_t i = 0; i < move->rank; i++) {
    const int64_t from = move->numbers[i];
    if (from < 0 || from >= move->rank || seen >> from & 1)
      return vecdsp_refuse(device);
    seen |= 1u << from;
    shape[i] = move->shape[from];
  }
  vecdsp_command command = {.operands = 0};
  vecdsp_dense(&command.as.loop.nest, shape, move->rank);
  for (int64_t i = 0; i < move->rank; i++)
    command.as.loop.nest.stride[0][i] = dense.stride[0][move->numbers[i]];
  return submit(device, &command, x, size, y, size, move->element);
}

/* The positions of a slice along its i-th axis; false if they make no sense. */
static bool slice_axis(const vecdsp_move *move, int64_t i, vecdsp_nest *nest) {
  int64_t axis = move->has_axes ? move->axes[i] : i;
  axis += axis < 0 ? move->rank : 0;
  const int64_t step = move->has_steps ? move->steps[i] : 1;
  if (axis < 0 || axis >= move->rank || !step)
    return false;
  const int64_t size = move->shape[axis], stride = nest->stride[0][axis];
  int64_t start = move->numbers[i];
  start += start < 0 ? size : 0;
  start = start < 0 ? 0 : start;
  start = start >= size && step < 0 ? size - 1 : start;
  const int64_t result = move->result[axis];
  /* An axis of one element has any step, as large as it may be. */
  const uint64_t reach = (uint64_t)(step > 0 ? size - 1 - start : start);
  const uint64_t stride_up = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  if (start >= size || reach / stride_up < (uint64_t)result - 1)
    return false;
  nest->start[0] += start * stride;
  nest->stride[0][axis] = result > 1 ? step * stride : 0;
  return true;
}

int vecdsp_slice(vecdsp_device *device, const void *x, void *y,
                 const vecdsp_move *move) {
  const int64_t size = vecdsp_size(move->shape, move->rank);
  const int64_t result = vecdsp_size(move->result, move->rank);
  if (size < 0 || result < 0 || move->count < 0 || move->count > move->rank ||
      !is_element(move->element))
    return vecdsp_refuse(device);
  vecdsp_command command = {.operands = 0};
  vecdsp_nest *nest = &command.as.loop.nest, dense;
  vecdsp_dense(&dense, move->shape, move->rank);
  vecdsp_dense(nest, move->result, move->rank);
  memcpy(nest->stride[0], dense.stride[0], sizeof dense.stride[0]);
  bool is_cut[VECDSP_RANK] = {false};
  for (int64_t i = 0; i < move->count; i++) {
    if (!slice_axis(move, i, nest))
      return vecdsp_refuse(device);
    const int64_t axis = move->has_axes ? move->axes[i] : i;
    is_cut[axis < 0 ? axis + move->rank : axis] = true;
  }
  for (int64_t i = 0; i < move->rank; i++)
    if (!is_cut[i] && move->result[i] != move->shape[i])
      return vecdsp_refuse(device);
  return submit(device, &command, x, size, y, result, move->element);
}

int vecdsp_expand(vecdsp_device *device, const void *x, void *y,
                  const vecdsp_move *move) {
  const int64_t *const shapes[] = {move->shape, move->numbers};
  const int64_t ranks[] = {move->rank, move->count};
  vecdsp_command command = {.operands = 0};
  const int64_t size =
      vecdsp_broadcast(&command.as.loop.nest, shapes, ranks, 2);
  if (size < 0 || !is_element(move->element))
    return vecdsp_refuse(device);
  /* Operand 1 was the asked shape; y is dense. */
  vecdsp_nest *nest = &command.as.loop.nest;
  memcpy(nest->stride[1], nest->stride[2], sizeof nest->stride[1]);
  return submit(device, &command, x, vecdsp_size(move->shape, move->rank), y,
                size, move->element);
}

/* A piece of `size` bytes at `offset` of rows of `row` bytes, out of the whole
 * or into it. */
static int move_piece(vecdsp_device *device, const void *from, void *to,
                      int64_t outer, int64_t size, int64_t row, int64_t offset,
                      bool is_in) {
  const int64_t shape[] = {outer, size};
  vecdsp_command command = {.operands = 0};
  vecdsp_nest *nest = &command.as.loop.nest;
  vecdsp_dense(nest, shape, 2);
  nest->stride[is_in][0] = row;
  nest->start[is_in] = offset;
  const int64_t piece = outer * size, whole = outer * row;
  return submit(device, &command, from, is_in ? piece : whole, to,
                is_in ? whole : piece, 1);
}

/* The bytes of a row of all pieces, or -1. */
static int64_t row_bytes(const vecdsp_pieces *pieces) {
  if (pieces->count < 1 || pieces->count > 4)
    return -1;
  int64_t row = 0;
  for (int64_t i = 0; i < pieces->count; i++) {
    const int64_t shape[] = {pieces->outer, pieces->sizes[i]};
    if (vecdsp_size(shape, 2) < 0)
      return -1;
    row += pieces->sizes[i];
  }
  const int64_t whole[] = {pieces->outer, row};
  return vecdsp_size(whole, 2) < 0 ? -1 : row;
}

int vecdsp_concat(vecdsp_device *device, const void *a, const void *b,
                  const void *c, const void *d, void *y,
                  const vecdsp_pieces *pieces) {
  const void *const from[] = {a, b, c, d};
  const int64_t row = row_bytes(pieces);
  if (row < 0)
    return vecdsp_refuse(device);
  int status = VECDSP_OK;
  int64_t offset = 0;
  for (int64_t i = 0; i < pieces->count && status == VECDSP_OK; i++) {
    status = move_piece(device, from[i], y, pieces->outer, pieces->sizes[i],
                        row, offset, true);
    offset += pieces->sizes[i];
  }
  return status;
}

int vecdsp_split(vecdsp_device *device, const void *x,
                 const vecdsp_pieces *pieces, ...) {
  const int64_t row = row_bytes(pieces);
  if (row < 0)
    return vecdsp_refuse(device);
  int status = VECDSP_OK;
  int64_t offset = 0;
  va_list to;
  va_start(to, pieces);
  for (int64_t i = 0; i < pieces->count && status == VECDSP_OK; i++) {
    status = move_piece(device, x, va_arg(to, void *), pieces->outer,
                        pieces->sizes[i], row, offset, false);
    offset += pieces->sizes[i];
  }
  va_end(to);
  return status;
}

static void run_gather(const vecdsp_command *command, void *const *at) {
  const vecdsp_lookup *lookup = &command->as.lookup;
  const size_t bytes = (size_t)lookup->inner;
  const char *x = at[0];
  char *y = at[2];
  for (int64_t outer = 0; outer < lookup->outer; outer++)
    for (int64_t i = 0; i < lookup->count; i++) {
      int64_t index = lookup->index == 8 ? ((const int64_t *)at[1])[i]
                                         : ((const int32_t *)at[1])[i];
      index += index < 0 ? lookup->size : 0;
      index = index < 0 ? 0 : index;
      index = index >= lookup->size ? lookup->size - 1 : index;
      memcpy(y + (outer * lookup->count + i) * lookup->inner,
             x + (outer * lookup->size + index) * lookup->inner, bytes);
    }
}

int vecdsp_gather(vecdsp_device *device, const void *x, const void *indices,
                  void *y, const vecdsp_lookup *lookup) {
  const int64_t whole[] = {lookup->outer, lookup->size, lookup->inner};
  const int64_t result[] = {lookup->outer, lookup->count, lookup->inner};
  if (vecdsp_size(whole, 3) < 0 || vecdsp_size(result, 3) < 0 ||
      (lookup->index != 4 && lookup->index != 8))
    return vecdsp_refuse(device);
  vecdsp_command command = {.run = run_gather, .kind = VECDSP_CALL};
  command.as.lookup = *lookup;
  vecdsp_operand_add(&command, x, vecdsp_size(whole, 3), 1);
  vecdsp_operand_add(&command, indices, lookup->count, (size_t)lookup->index);
  vecdsp_operand_add(&command, y, vecdsp_size(result, 3), 1);
  return vecdsp_submit(device, &command);
}
