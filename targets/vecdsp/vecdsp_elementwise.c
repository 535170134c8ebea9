/*===- vecdsp_elementwise.c - Functions of elements that broadcast -*- C
 * -*-===*/

#include "vecdsp_device.h"

#include <math.h>

static float greater(float a, float b) { return isnan(a) || a > b ? a : b; }

static float less(float a, float b) { return isnan(a) || a < b ? a : b; }

/* A function over a line, by element types; operands that advance by 1, or of
 * which one stays, are loops of their own, which become vectors. */
#define LINE(name, in, out, expression)                                        \
  static void name(const void *left, int64_t a_step, const void *right,        \
                   int64_t b_step, void *result, int64_t size) {               \
    const in *a_at = left, *b_at = right;                                      \
    out *y = result;                                                           \
    if (a_step == 1 && b_step == 1)                                            \
      for (int64_t i = 0; i < size; i++) {                                     \
        const in a = a_at[i], b = b_at[i];                                     \
        y[i] = (out)(expression);                                              \
      }                                                                        \
    else if (a_step == 1 && b_step == 0)                                       \
      for (int64_t i = 0; i < size; i++) {                                     \
        const in a = a_at[i], b = *b_at;                                       \
        y[i] = (out)(expression);                                              \
      }                                                                        \
    else                                                                       \
      for (int64_t i = 0; i < size; i++) {                                     \
        const in a = a_at[i * a_step], b = b_at[i * b_step];                   \
        y[i] = (out)(expression);                                              \
      }                                                                        \
  }

LINE(line_add, float, float, a + b)
LINE(line_sub, float, float, a - b)
LINE(line_mul, float, float, a *b)
LINE(line_div, float, float, a / b)
LINE(line_pow, float, float, powf(a, b))
LINE(line_max, float, float, isnan(b) ? b : greater(a, b))
LINE(line_min, float, float, isnan(b) ? b : less(a, b))
LINE(line_prelu, float, float, a < 0.0f ? a * b : a)
LINE(line_equal, float, uint8_t, a == b)
LINE(line_less, float, uint8_t, a < b)
LINE(line_less_or_equal, float, uint8_t, a <= b)
LINE(line_greater, float, uint8_t, a > b)
LINE(line_greater_or_equal, float, uint8_t, a >= b)
LINE(line_and, uint8_t, uint8_t, a &b)
LINE(line_or, uint8_t, uint8_t, a | b)
LINE(line_xor, uint8_t, uint8_t, a ^ b)
LINE(line_not, uint8_t, uint8_t, (a ^ 1) | (b & 0))

typedef void line_function(const void *, int64_t, const void *, int64_t, void *,
                           int64_t);

/* By function: bytes of elements, and the operations of one. */
static const struct {
  line_function *line;
  size_t in, out;
  uint64_t operations;
} functions[VECDSP_PAIR_FUNCTIONS] = {
    [VECDSP_ADD] = {line_add, 4, 4, 1},
    [VECDSP_SUB] = {line_sub, 4, 4, 1},
    [VECDSP_MUL] = {line_mul, 4, 4, 1},
    [VECDSP_DIV] = {line_div, 4, 4, 4},
    [VECDSP_POW] = {line_pow, 4, 4, 12},
    [VECDSP_MAX] = {line_max, 4, 4, 1},
    [VECDSP_MIN] = {line_min, 4, 4, 1},
    [VECDSP_PRELU] = {line_prelu, 4, 4, 2},
    [VECDSP_EQUAL] = {line_equal, 4, 1, 1},
    [VECDSP_LESS] = {line_less, 4, 1, 1},
    [VECDSP_LESS_OR_EQUAL] = {line_less_or_equal, 4, 1, 1},
    [VECDSP_GREATER] = {line_greater, 4, 1, 1},
    [VECDSP_GREATER_OR_EQUAL] = {line_greater_or_equal, 4, 1, 1},
    [VECDSP_AND] = {line_and, 1, 1, 1},
    [VECDSP_OR] = {line_or, 1, 1, 1},
    [VECDSP_XOR] = {line_xor, 1, 1, 1},
    [VECDSP_NOT] = {line_not, 1, 1, 1},
};

static void run_binary(const vecdsp_command *command, void *const *at) {
  const vecdsp_nest *nest = &command->as.loop.nest;
  const int last = nest->rank - 1;
  const int32_t function = command->as.loop.function;
  const size_t in = functions[function].in, out = functions[function].out;
  const char *a = at[0], *b = at[1];
  char *y = at[2];
  vecdsp_walk walk;
  vecdsp_begin(nest, &walk);
  do {
    void *line = y + walk.at[2] * (int64_t)out;
    functions[function].line(a + walk.at[0] * (int64_t)in,
                             nest->stride[0][last],
                             b + walk.at[1] * (int64_t)in,
                             nest->stride[1][last], line, nest->count[last]);
    if (out == sizeof(float))
      vecdsp_activate(&command->as.loop.act, line, nest->count[last]);
  } while (vecdsp_next(nest, last, &walk));
}

int vecdsp_binary(vecdsp_device *device, const void *a, const void *b, void *y,
                  const vecdsp_pair *pair) {
  const int64_t *const shapes[] = {pair->a, pair->b};
  const int64_t ranks[] = {pair->a_rank, pair->b_rank};
  vecdsp_command command = {.run = run_binary, .kind = VECDSP_CALL};
  const int64_t size =
      vecdsp_broadcast(&command.as.loop.nest, shapes, ranks, 2);
  if (size < 0 || pair->function < 0 ||
      pair->function >= VECDSP_PAIR_FUNCTIONS ||
      !vecdsp_is_activation(&pair->act))
    return vecdsp_refuse(device);
  vecdsp_simplify(&command.as.loop.nest, 3);
  command.as.loop.function = pair->function;
  command.as.loop.act = pair->act;
  const size_t in = functions[pair->function].in;
  vecdsp_operand_add(&command, a, vecdsp_size(pair->a, pair->a_rank), in);
  vecdsp_operand_add(&command, b, vecdsp_size(pair->b, pair->b_rank), in);
  vecdsp_operand_add(&command, y, size, functions[pair->function].out);
  command.operations = (uint64_t)size * (functions[pair->function].operations +
                                         vecdsp_effort(&pair->act));
  return vecdsp_submit(device, &command);
}

/* An element of `bytes` bytes of the one or the other. */
#define CHOOSE(type)                                                           \
  do {                                                                         \
    const type *from_a = at[1], *from_b = at[2];                               \
    type *to = at[3];                                                          \
    for (int64_t i = 0; i < count; i++, ia += a_step, ib += b_step)            \
      to[iy + i] = c[ic + i * c_step] ? from_a[ia] : from_b[ib];               \
  } while (0)

static void choose(const vecdsp_command *command, void *const *at,
                   const vecdsp_walk *walk) {
  const vecdsp_nest *nest = &command->as.loop.nest;
  const int last = nest->rank - 1;
  const int64_t count = nest->count[last], c_step = nest->stride[0][last],
                a_step = nest->stride[1][last], b_step = nest->stride[2][last];
  const int64_t ic = walk->at[0], iy = walk->at[3];
  int64_t ia = walk->at[1], ib = walk->at[2];
  const uint8_t *c = at[0];
  switch (command->as.loop.element) {
  case 1:
    CHOOSE(uint8_t);
    break;
  case 2:
    CHOOSE(uint16_t);
    break;
  case 4:
    CHOOSE(uint32_t);
    break;
  default:
    CHOOSE(uint64_t);
  }
}

static void run_select(const vecdsp_command *command, void *const *at) {
  const vecdsp_nest *nest = &command->as.loop.nest;
  vecdsp_walk walk;
  vecdsp_begin(nest, &walk);
  do
    choose(command, at, &walk);
  while (vecdsp_next(nest, nest->rank - 1, &walk));
}

int vecdsp_select(vecdsp_device *device, const void *c, const void *a,
                  const void *b, void *y, const vecdsp_choice *choice) {
  const int64_t *const shapes[] = {choice->c, choice->a, choice->b};
  const int64_t ranks[] = {choice->c_rank, choice->a_rank, choice->b_rank};
  const int64_t element = choice->element;
  vecdsp_command command = {.run = run_select, .kind = VECDSP_CALL};
  const int64_t size =
      vecdsp_broadcast(&command.as.loop.nest, shapes, ranks, 3);
  if (size < 0 ||
      (element != 1 && element != 2 && element != 4 && element != 8))
    return vecdsp_refuse(device);
  vecdsp_simplify(&command.as.loop.nest, 4);
  command.as.loop.element = element;
  command.operations = (uint64_t)size;
  const size_t bytes = (size_t)element;
  vecdsp_operand_add(&command, c, vecdsp_size(choice->c, choice->c_rank), 1);
  vecdsp_operand_add(&command, a, vecdsp_size(choice->a, choice->a_rank),
                     bytes);
  vecdsp_operand_add(&command, b, vecdsp_size(choice->b, choice->b_rank),
                     bytes);
  vecdsp_operand_add(&command, y, size, bytes);
  return vecdsp_submit(device, &command);
}
