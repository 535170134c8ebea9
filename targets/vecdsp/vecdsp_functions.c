/*===- vecdsp_functions.c - Functions of one element --------------*- C -*-===*/

#include "vecdsp_device.h"

#include <math.h>

/* Every function over a line, in place. */
#define LINE(name, expression)                                                 \
  static void name(const vecdsp_activation *act, float *y, int64_t size) {     \
    const float alpha = act->alpha, beta = act->beta;                          \
    (void)alpha, (void)beta;                                                   \
    for (int64_t i = 0; i < size; i++) {                                       \
      const float x = y[i];                                                    \
      y[i] = expression;                                                       \
    }                                                                          \
  }

static float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

/* Comparisons are such that NaN passes, and that a bound of NaN is none. */
static float at_least(float x, float low) { return x < low ? low : x; }
static float at_most(float x, float high) { return x > high ? high : x; }

static float gelu(float x) {
  return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
}

static float gelu_tanh(float x) {
  const float inner = 0.79788456080286536f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanhf(inner));
}

static float softplus(float x) {
  return at_least(x, 0.0f) + log1pf(expf(-fabsf(x)));
}

LINE(line_identity, x)
LINE(line_relu, at_least(x, 0.0f))
LINE(line_clip, at_most(at_least(x, alpha), beta))
LINE(line_clip_low, at_least(x, alpha))
LINE(line_clip_high, at_most(x, alpha))
LINE(line_sigmoid, sigmoid(x))
LINE(line_tanh, tanhf(x))
LINE(line_gelu, gelu(x))
LINE(line_gelu_tanh, gelu_tanh(x))
LINE(line_swish, x *sigmoid(alpha *x))
LINE(line_leaky_relu, x < 0.0f ? alpha * x : x)
LINE(line_elu, x < 0.0f ? alpha * expm1f(x) : x)
LINE(line_hard_sigmoid, at_most(at_least(alpha *x + beta, 0.0f), 1.0f))
LINE(line_hard_swish, x *at_most(at_least(x / 6.0f + 0.5f, 0.0f), 1.0f))
LINE(line_abs, fabsf(x))
LINE(line_neg, -x)
LINE(line_exp, expf(x))
LINE(line_log, logf(x))
LINE(line_sqrt, sqrtf(x))
LINE(line_erf, erff(x))
LINE(line_reciprocal, 1.0f / x)
LINE(line_floor, floorf(x))
LINE(line_ceil, ceilf(x))
LINE(line_round, rintf(x))
LINE(line_sin, sinf(x))
LINE(line_cos, cosf(x))
LINE(line_softplus, softplus(x))

/* By function, with the operations that the lanes need for an element. */
static const struct {
  void (*line)(const vecdsp_activation *, float *, int64_t);
  uint64_t operations;
} functions[VECDSP_FUNCTIONS] = {
    [VECDSP_IDENTITY] = {line_identity, 0},
    [VECDSP_RELU] = {line_relu, 1},
    [VECDSP_CLIP] = {line_clip, 2},
    [VECDSP_CLIP_LOW] = {line_clip_low, 1},
    [VECDSP_CLIP_HIGH] = {line_clip_high, 1},
    [VECDSP_SIGMOID] = {line_sigmoid, 8},
    [VECDSP_TANH] = {line_tanh, 8},
    [VECDSP_GELU] = {line_gelu, 12},
    [VECDSP_GELU_TANH] = {line_gelu_tanh, 12},
    [VECDSP_SWISH] = {line_swish, 10},
    [VECDSP_LEAKY_RELU] = {line_leaky_relu, 2},
    [VECDSP_ELU] = {line_elu, 9},
    [VECDSP_HARD_SIGMOID] = {line_hard_sigmoid, 4},
    [VECDSP_HARD_SWISH] = {line_hard_swish, 5},
    [VECDSP_ABS] = {line_abs, 1},
    [VECDSP_NEG] = {line_neg, 1},
    [VECDSP_EXP] = {line_exp, 6},
    [VECDSP_LOG] = {line_log, 6},
    [VECDSP_SQRT] = {line_sqrt, 4},
    [VECDSP_ERF] = {line_erf, 8},
    [VECDSP_RECIPROCAL] = {line_reciprocal, 4},
    [VECDSP_FLOOR] = {line_floor, 1},
    [VECDSP_CEIL] = {line_ceil, 1},
    [VECDSP_ROUND] = {line_round, 1},
    [VECDSP_SIN] = {line_sin, 8},
    [VECDSP_COS] = {line_cos, 8},
    [VECDSP_SOFTPLUS] = {line_softplus, 10},
};

bool vecdsp_is_activation(const vecdsp_activation *act) {
  return act->function >= 0 && act->function < VECDSP_FUNCTIONS;
}

void vecdsp_activate(const vecdsp_activation *act, float *y, int64_t size) {
  if (act->function != VECDSP_IDENTITY)
    functions[act->function].line(act, y, size);
}

uint64_t vecdsp_effort(const vecdsp_activation *act) {
  return functions[act->function].operations;
}

static void run_unary(const vecdsp_command *command, void *const *at) {
  /* Lines that stay near the lanes between copy and function. */
  enum { LENGTH = 1024 };
  const float *x = at[0];
  float *y = at[1];
  for (int64_t i = 0; i < command->as.line.size; i += LENGTH) {
    const int64_t left = command->as.line.size - i;
    const int64_t size = left < LENGTH ? left : LENGTH;
    for (int64_t j = 0; j < size; j++)
      y[i + j] = x[i + j];
    vecdsp_activate(&command->as.line.function, y + i, size);
  }
}

int vecdsp_unary(vecdsp_device *device, const float *x, float *y, int64_t size,
                 const vecdsp_activation *function) {
  if (vecdsp_size(&size, 1) < 0 || !vecdsp_is_activation(function))
    return vecdsp_refuse(device);
  vecdsp_command command = {.run = run_unary, .kind = VECDSP_CALL};
  command.as.line.size = size;
  command.as.line.function = *function;
  command.operations = (uint64_t)size * vecdsp_effort(function);
  vecdsp_operand_add(&command, x, size, sizeof *x);
  vecdsp_operand_add(&command, y, size, sizeof *y);
  return vecdsp_submit(device, &command);
}

static void run_to_float(const vecdsp_command *command, void *const *at) {
  const int64_t size = command->as.line.size;
  float *y = at[1];
  for (int64_t i = 0; i < size; i++)
    switch (command->as.line.type) {
    case VECDSP_I32:
      y[i] = (float)((const int32_t *)at[0])[i];
      break;
    case VECDSP_I64:
      y[i] = (float)((const int64_t *)at[0])[i];
      break;
    case VECDSP_BOOL:
      y[i] = ((const uint8_t *)at[0])[i] ? 1.0f : 0.0f;
      break;
    default:
      y[i] = ((const float *)at[0])[i];
    }
}

int vecdsp_to_float(vecdsp_device *device, const void *x, float *y,
                    int64_t size, int32_t type) {
  static const size_t bytes[] = {4, 4, 8, 1};
  if (vecdsp_size(&size, 1) < 0 || type < VECDSP_F32 || type > VECDSP_BOOL)
    return vecdsp_refuse(device);
  vecdsp_command command = {.run = run_to_float, .kind = VECDSP_CALL};
  command.as.line.size = size;
  command.as.line.type = type;
  command.operations = (uint64_t)size;
  vecdsp_operand_add(&command, x, size, bytes[type]);
  vecdsp_operand_add(&command, y, size, sizeof *y);
  return vecdsp_submit(device, &command);
}
