/*===- vecdsp_nest.c - Shapes, and loops over operands ------------*- C -*-===*/

#include "vecdsp_device.h"

#include <string.h>

/* Far beyond any DRAM, and far from overflow. */
#define MOST_ELEMENTS ((int64_t)1 << 44)

int64_t vecdsp_size(const int64_t *shape, int64_t rank) {
  if (rank < 0 || rank > VECDSP_RANK)
    return -1;
  int64_t size = 1;
  for (int64_t i = 0; i < rank; i++) {
    if (shape[i] < 1 || shape[i] > MOST_ELEMENTS / size)
      return -1;
    size *= shape[i];
  }
  return size;
}

void vecdsp_operand_add(vecdsp_command *command, const void *address,
                        int64_t size, size_t element) {
  vecdsp_operand *operand = &command->operand[command->operands++];
  operand->address = address;
  operand->bytes = (size_t)size * element;
  operand->alignment = element;
  operand->host = false;
}

void vecdsp_dense(vecdsp_nest *nest, const int64_t *shape, int64_t rank) {
  memset(nest, 0, sizeof *nest);
  nest->rank = (int)rank;
  int64_t stride = 1;
  for (int i = nest->rank - 1; i >= 0; i--) {
    nest->count[i] = shape[i];
    for (int operand = 0; operand < VECDSP_WALKED; operand++)
      nest->stride[operand][i] = stride;
    stride *= shape[i];
  }
}

/* The shape that shapes broadcast to; false if they do not. */
static bool common_shape(int64_t *shape, int64_t *rank,
                         const int64_t *const *shapes, const int64_t *ranks,
                         int count) {
  *rank = 0;
  for (int i = 0; i < count; i++) {
    if (vecdsp_size(shapes[i], ranks[i]) < 0)
      return false;
    *rank = ranks[i] > *rank ? ranks[i] : *rank;
  }
  for (int64_t d = 0; d < *rank; d++) {
    shape[d] = 1;
    for (int i = 0; i < count; i++) {
      const int64_t own = d - (*rank - ranks[i]);
      if (own < 0 || shapes[i][own] == 1)
        continue;
      if (shape[d] != 1 && shape[d] != shapes[i][own])
        return false;
      shape[d] = shapes[i][own];
    }
  }
  return true;
}

int64_t vecdsp_broadcast(vecdsp_nest *nest, const int64_t *const *shapes,
                         const int64_t *ranks, int count) {
  int64_t shape[VECDSP_RANK] = {0}, rank = 0;
  if (!common_shape(shape, &rank, shapes, ranks, count))
    return -1;
  vecdsp_dense(nest, shape, rank);
  for (int i = 0; i < count; i++) {
    int64_t stride = 1;
    for (int64_t d = rank - 1; d >= 0; d--) {
      const int64_t own = d - (rank - ranks[i]);
      const int64_t size = own < 0 ? 1 : shapes[i][own];
      nest->stride[i][d] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }
  return vecdsp_size(shape, rank);
}

/* True if loop `at` goes on where a turn of the loop `outer` ends. */
static bool joins(const vecdsp_nest *nest, int operands, int outer, int at) {
  for (int i = 0; i < operands; i++)
    if (nest->stride[i][outer] != nest->stride[i][at] * nest->count[at])
      return false;
  return true;
}

void vecdsp_simplify(vecdsp_nest *nest, int operands) {
  int rank = 0;
  for (int d = 0; d < nest->rank; d++) {
    if (nest->count[d] == 1)
      continue;
    const bool joined = rank && joins(nest, operands, rank - 1, d);
    const int to = joined ? rank - 1 : rank++;
    nest->count[to] =
        joined ? nest->count[to] * nest->count[d] : nest->count[d];
    for (int i = 0; i < VECDSP_WALKED; i++)
      nest->stride[i][to] = nest->stride[i][d];
  }
  if (!rank) {
    nest->count[0] = 1;
    for (int i = 0; i < VECDSP_WALKED; i++)
      nest->stride[i][0] = 0;
    rank = 1;
  }
  nest->rank = rank;
}

void vecdsp_begin(const vecdsp_nest *nest, vecdsp_walk *walk) {
  memset(walk->index, 0, sizeof walk->index);
  memcpy(walk->at, nest->start, sizeof walk->at);
}

bool vecdsp_next(const vecdsp_nest *nest, int levels, vecdsp_walk *walk) {
  for (int d = levels - 1; d >= 0; d--) {
    const bool more = ++walk->index[d] < nest->count[d];
    const int64_t turns = more ? 1 : 1 - nest->count[d];
    for (int i = 0; i < VECDSP_WALKED; i++)
      walk->at[i] += turns * nest->stride[i][d];
    if (more)
      return true;
    walk->index[d] = 0;
  }
  return false;
}
