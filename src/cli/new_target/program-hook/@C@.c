/* Simulates @NAME@. Replace @C@_run and @C@_matmul by what hands the work to the
 * hardware. */
#include "@C@_driver.h"

#include <stdlib.h>
#include <string.h>

enum { NO_MEMORY = 1, BAD_PROGRAM, BAD_MATRIX };
enum { ADD = 1, SUB, MUL, NEG, RELU };
enum { REGISTERS = 64, LANES = 32 };

struct @C@_device {
  float registers[REGISTERS][LANES];
};

int @C@_open(@C@_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : NO_MEMORY;
}

int @C@_close(@C@_device *device) {
  free(device);
  return 0;
}

const char *@C@_text(int status) {
  switch (status) {
  case NO_MEMORY: return "no memory to open the device";
  case BAD_PROGRAM: return "a program has an unknown opcode or register";
  case BAD_MATRIX: return "a packed matrix has a place outside of its rows";
  default: return "unknown status";
  }
}

static int step(@C@_device *device, const @C@_step *s) {
  if (s->result >= REGISTERS || s->a >= REGISTERS || s->b >= REGISTERS) return BAD_PROGRAM;
  const float *a = device->registers[s->a], *b = device->registers[s->b];
  float *y = device->registers[s->result];
  for (int i = 0; i < LANES; i++) switch (s->opcode) {
    case ADD: y[i] = a[i] + b[i]; break;
    case SUB: y[i] = a[i] - b[i]; break;
    case MUL: y[i] = a[i] * b[i]; break;
    case NEG: y[i] = -a[i]; break;
    case RELU: y[i] = a[i] < 0.0f ? 0.0f : a[i]; break;
    default: return BAD_PROGRAM;
  }
  return 0;
}

int @C@_run(@C@_device *device, const @C@_step *code, int32_t steps, int64_t elements,
            const float *const *in, int32_t ins, float *const *out,
            const uint8_t *results, int32_t outs) {
  if (ins > REGISTERS) return BAD_PROGRAM;
  for (int64_t start = 0; start < elements; start += LANES) {
    size_t bytes = (size_t)(elements - start < LANES ? elements - start : LANES) * sizeof(float);
    for (int32_t i = 0; i < ins; i++) memcpy(device->registers[i], in[i] + start, bytes);
    for (int32_t i = 0; i < steps; i++) {
      int status = step(device, &code[i]);
      if (status) return status;
    }
    for (int32_t i = 0; i < outs; i++)
      memcpy(out[i] + start, device->registers[results[i] % REGISTERS], bytes);
  }
  return 0;
}

int @C@_matmul(@C@_device *device, const float *x, const int32_t *w, float *y,
               int32_t rows, int32_t inner, int32_t columns) {
  (void)device;
  for (int32_t j = 0; j < columns; j++) {
    int32_t count = *w++;
    for (int32_t i = 0; i < rows; i++) {
      float sum = 0.0f;
      for (int32_t k = 0; k < count; k++) {
        float value;
        if (w[2 * k] < 0 || w[2 * k] >= inner) return BAD_MATRIX;
        memcpy(&value, &w[2 * k + 1], sizeof value);
        sum += x[(int64_t)i * inner + w[2 * k]] * value;
      }
      y[(int64_t)i * columns + j] = sum;
    }
    w += 2 * count;
  }
  return 0;
}
