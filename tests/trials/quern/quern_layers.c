/* The layers of Quern. */
#include "quern_device.h"
#include <math.h>
#include <string.h>

/* A number of 8 bits, signed or not. */
static inline int32_t get(const uint8_t *x, int64_t i, int32_t is_unsigned) { return is_unsigned ? x[i] : (int8_t)x[i]; }

/* sum * multiplier * 2^(shift - 31), to the nearest. */
static int32_t scale(int32_t sum, int32_t multiplier, int32_t shift) {
  int32_t right = 31 - shift;
  if (right > 62) return 0;
  int64_t product = (int64_t)sum * multiplier;
  return (int32_t)((product + ((int64_t)1 << (right - 1))) >> right);
}

static uint8_t clamp(int64_t value, int64_t least, int64_t most) {
  return (uint8_t)(value < least ? least : value > most ? most : value);
}

/* A real result, which zero points come to. */
static uint8_t settle(float value, int32_t zero, int32_t is_unsigned) {
  float least = is_unsigned ? 0.0f : -128.0f, most = is_unsigned ? 255.0f : 127.0f;
  float sum = rintf(value) + (float)zero;
  return (uint8_t)(int32_t)(sum < least ? least : sum > most ? most : sum);
}

typedef struct rows { int32_t begin, end; } rows;
/* The rows of a core. */
static rows share(int32_t count, int32_t core) {
  int32_t each = (count + QUERN_CORES - 1) / QUERN_CORES;
  int32_t begin = core * each < count ? core * each : count;
  return (rows){begin, begin + each < count ? begin + each : count};
}

/* Numbers that layers with weights and pools begin with. */
typedef struct layer {
  int32_t in_unsigned, out_unsigned, zero_x, zero_y, least, most;
  int32_t n, h, w, c;
} layer;

static int conv(quern_device *d, const quern_command *k) {
  struct { layer l; int32_t out_c, kernel_h, kernel_w, out_h, out_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w, group; } v;
  if (k->operands != 6 || k->numbers != sizeof v / 4) return BAD_COMMAND;
  memcpy(&v, k->n, sizeof v);
  const layer *l = &v.l;
  const int32_t in_group = l->c / v.group, out_group = v.out_c / v.group;
  const int64_t y_bytes = (int64_t)l->n * v.out_h * v.out_w * v.out_c;
  const uint8_t *x = quern_sram(d, k->at[0], (int64_t)l->n * l->h * l->w * l->c);
  const uint8_t *w = quern_sram(d, k->at[1], (int64_t)v.out_c * v.kernel_h * v.kernel_w * in_group);
  uint8_t *y = quern_sram(d, NULL, y_bytes);
  const int32_t *b = (const int32_t *)(void *)k->at[2], *multipliers = (const int32_t *)(void *)k->at[3];
  const int32_t *shifts = (const int32_t *)(void *)k->at[4];
  if (!x || !w || !y) return NO_SRAM;
  for (int32_t core = 0; core < QUERN_CORES; core++) {
    const rows mine = share(v.out_h, core);
    for (int32_t image = 0; image < l->n; image++)
      for (int32_t i = mine.begin; i < mine.end; i++)
        for (int32_t j = 0; j < v.out_w; j++)
          for (int32_t o = 0; o < v.out_c; o++) {
            int32_t sum = b ? b[o] : 0;
            const int32_t first = o / out_group * in_group;
            for (int32_t p = 0; p < v.kernel_h; p++)
              for (int32_t q = 0; q < v.kernel_w; q++) {
                const int32_t row = i * v.stride_h + p * v.dilation_h - v.pad_h, column = j * v.stride_w + q * v.dilation_w - v.pad_w;
                if (row < 0 || row >= l->h || column < 0 || column >= l->w) continue;
                const int64_t from = (((int64_t)image * l->h + row) * l->w + column) * l->c + first;
                const int8_t *by = (const int8_t *)w + (((int64_t)o * v.kernel_h + p) * v.kernel_w + q) * in_group;
                for (int32_t c = 0; c < in_group; c++) sum += (get(x, from + c, l->in_unsigned) - l->zero_x) * by[c];
              }
            y[(((int64_t)image * v.out_h + i) * v.out_w + j) * v.out_c + o] =
                clamp((int64_t)scale(sum, multipliers[o], shifts[o]) + l->zero_y, l->least, l->most);
          }
  }
  memcpy(k->at[5], y, (size_t)y_bytes);
  return 0;
}

static int pair(quern_device *d, const quern_command *k) {
  struct {
    layer l;
    int32_t out_c, kernel_h, kernel_w, out_h, out_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w, zero_q, least_q;
  } v;
  if (k->operands != 10 || k->numbers != sizeof v / 4) return BAD_COMMAND;
  memcpy(&v, k->n, sizeof v);
  const layer *l = &v.l;
  if (l->c > CHANNELS) return BAD_COMMAND;
  const int64_t y_bytes = (int64_t)l->n * v.out_h * v.out_w * v.out_c;
  const uint8_t *x = quern_sram(d, k->at[0], (int64_t)l->n * l->h * l->w * l->c);
  const int8_t *w = (const int8_t *)quern_sram(d, k->at[1], (int64_t)v.kernel_h * v.kernel_w * l->c);
  const int8_t *u = (const int8_t *)quern_sram(d, k->at[6], (int64_t)v.out_c * l->c);
  uint8_t *y = quern_sram(d, NULL, y_bytes);
  const int32_t *b = (const int32_t *)(void *)k->at[2], *multipliers = (const int32_t *)(void *)k->at[3];
  const int32_t *shifts = (const int32_t *)(void *)k->at[4], *e = (const int32_t *)(void *)k->at[7];
  const int32_t *multipliers2 = (const int32_t *)(void *)k->at[8], *shifts2 = (const int32_t *)(void *)k->at[9];
  if (!x || !w || !u || !y) return NO_SRAM;
  for (int32_t image = 0; image < l->n; image++)
    for (int32_t i = 0; i < v.out_h; i++)
      for (int32_t j = 0; j < v.out_w; j++) {
        for (int32_t c = 0; c < l->c; c++) {
          int32_t sum = b ? b[c] : 0;
          for (int32_t p = 0; p < v.kernel_h; p++)
            for (int32_t q = 0; q < v.kernel_w; q++) {
              const int32_t row = i * v.stride_h + p * v.dilation_h - v.pad_h, column = j * v.stride_w + q * v.dilation_w - v.pad_w;
              if (row < 0 || row >= l->h || column < 0 || column >= l->w) continue;
              sum += (get(x, (((int64_t)image * l->h + row) * l->w + column) * l->c + c, l->in_unsigned) - l->zero_x) *
                     w[(p * v.kernel_w + q) * l->c + c];
            }
          d->pixel[c] = (int8_t)clamp((int64_t)scale(sum, multipliers[c], shifts[c]) + v.zero_q, v.least_q, 127);
        }
        for (int32_t o = 0; o < v.out_c; o++) {
          int32_t sum = e ? e[o] : 0;
          for (int32_t c = 0; c < l->c; c++) sum += (d->pixel[c] - v.zero_q) * u[o * l->c + c];
          y[(((int64_t)image * v.out_h + i) * v.out_w + j) * v.out_c + o] =
              clamp((int64_t)scale(sum, multipliers2[o], shifts2[o]) + l->zero_y, l->least, l->most);
        }
      }
  memcpy(k->at[5], y, (size_t)y_bytes);
  return 0;
}

static int dense(quern_device *d, const quern_command *k) {
  struct { int32_t in_unsigned, out_unsigned, zero_x, zero_y, least, most, rows, inner, columns; } v;
  if (k->operands != 6 || k->numbers != sizeof v / 4) return BAD_COMMAND;
  memcpy(&v, k->n, sizeof v);
  const uint8_t *x = quern_sram(d, k->at[0], (int64_t)v.rows * v.inner);
  const int8_t *w = (const int8_t *)quern_sram(d, k->at[1], (int64_t)v.columns * v.inner);
  uint8_t *y = quern_sram(d, NULL, (int64_t)v.rows * v.columns);
  const int32_t *b = (const int32_t *)(void *)k->at[2], *multipliers = (const int32_t *)(void *)k->at[3];
  const int32_t *shifts = (const int32_t *)(void *)k->at[4];
  if (!x || !w || !y) return NO_SRAM;
  /* Columns are divided between the cores here. */
  for (int32_t core = 0; core < QUERN_CORES; core++) {
    const rows mine = share(v.columns, core);
    for (int32_t j = mine.begin; j < mine.end; j++) {
      /* sum of (x - zero) * w = sum of x * w, less the zero point times the sum of w. */
      int32_t weights = 0;
      for (int32_t c = 0; c < v.inner; c++) weights += w[(int64_t)j * v.inner + c];
      for (int32_t i = 0; i < v.rows; i++) {
        int32_t sum = (b ? b[j] : 0) - v.zero_x * weights;
        for (int32_t c = 0; c < v.inner; c++) sum += get(x, (int64_t)i * v.inner + c, v.in_unsigned) * w[(int64_t)j * v.inner + c];
        y[(int64_t)i * v.columns + j] = clamp((int64_t)scale(sum, multipliers[j], shifts[j]) + v.zero_y, v.least, v.most);
      }
    }
  }
  memcpy(k->at[5], y, (size_t)v.rows * (size_t)v.columns);
  return 0;
}

static int sum(quern_device *d, const quern_command *k) {
  (void)d;
  if (k->operands != 3 || k->numbers != 6 || k->reals != 2) return BAD_COMMAND;
  const int32_t count = k->n[0], is_unsigned = k->n[1], zero_a = k->n[2], zero_b = k->n[3], zero_y = k->n[4], least = k->n[5];
  for (int32_t i = 0; i < count; i++) {
    float value = (float)(get(k->at[0], i, is_unsigned) - zero_a) * k->f[0] + (float)(get(k->at[1], i, is_unsigned) - zero_b) * k->f[1];
    uint8_t y = settle(value, zero_y, is_unsigned);
    k->at[2][i] = (is_unsigned ? y : (int8_t)y) < least ? (uint8_t)least : y;
  }
  return 0;
}

static int product(quern_device *d, const quern_command *k) {
  (void)d;
  if (k->operands != 3 || k->numbers != 7 || k->reals != 1) return BAD_COMMAND;
  const int32_t planes = k->n[0], size = k->n[1], whole = k->n[2], is_unsigned = k->n[3], zero_a = k->n[4], zero_b = k->n[5];
  for (int32_t p = 0; p < planes; p++)
    for (int32_t i = 0; i < size; i++) {
      const int64_t at = (int64_t)p * size + i;
      int32_t value = (get(k->at[0], at, is_unsigned) - zero_a) * (get(k->at[1], whole ? at : p, is_unsigned) - zero_b);
      k->at[2][at] = settle((float)value * k->f[0], k->n[6], is_unsigned);
    }
  return 0;
}

static int pool(quern_device *d, const quern_command *k, int average) {
  struct { layer l; int32_t kernel_h, kernel_w, out_h, out_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w, include; } v = {0};
  if (k->operands != 2 || k->numbers != (average ? sizeof v : sizeof v - 4) / 4) return BAD_COMMAND;
  memcpy(&v, k->n, average ? sizeof v : sizeof v - 4);
  (void)d;
  const layer *l = &v.l;
  for (int32_t core = 0; core < QUERN_CORES; core++) {
    const rows mine = share(v.out_h, core);
    for (int32_t image = 0; image < l->n; image++)
      for (int32_t i = mine.begin; i < mine.end; i++)
        for (int32_t j = 0; j < v.out_w; j++)
          for (int32_t c = 0; c < l->c; c++) {
            int32_t total = 0, count = 0, most = -128;
            for (int32_t p = 0; p < v.kernel_h; p++)
              for (int32_t q = 0; q < v.kernel_w; q++) {
                const int32_t row = i * v.stride_h + p - v.pad_h, column = j * v.stride_w + q - v.pad_w;
                if (row < 0 || row >= l->h || column < 0 || column >= l->w) continue;
                const int32_t value = get(k->at[0], (((int64_t)image * l->h + row) * l->w + column) * l->c + c, l->in_unsigned);
                total += value - l->zero_x;
                count++;
                if (value > most) most = value;
              }
            const int64_t to = (((int64_t)image * v.out_h + i) * v.out_w + j) * l->c + c;
            if (v.include) count = v.kernel_h * v.kernel_w;
            k->at[1][to] = average ? settle((float)total / (float)count * k->f[0], l->zero_y, l->out_unsigned) : (uint8_t)most;
          }
  }
  return 0;
}

static int table(quern_device *d, const quern_command *k) {
  if (k->operands != 2 || k->numbers != 8 || k->reals != 2) return BAD_COMMAND;
  const int32_t in_unsigned = k->n[0], out_unsigned = k->n[1], zero_x = k->n[2], zero_y = k->n[3], count = k->n[6];
  const int32_t wanted[5] = {in_unsigned, out_unsigned, zero_x, zero_y, k->n[7]};
  const int same = d->made && !memcmp(wanted, d->made_for, sizeof wanted) && !memcmp(k->f, d->made_scales, sizeof k->f);
  for (int32_t i = 0; i < 256 && !same; i++) {
    const float x = (float)((in_unsigned ? i : (int8_t)i) - zero_x) * k->f[0];
    float y = 1.0f / (1.0f + expf(-x));
    if (k->n[7] == 1) y = tanhf(x);
    if (k->n[7] == 2) y = x * fmaxf(0.0f, fminf(1.0f, x / 6.0f + 0.5f));
    d->table[i] = settle(y / k->f[1], zero_y, out_unsigned);
  }
  memcpy(d->made_for, wanted, sizeof wanted);
  memcpy(d->made_scales, k->f, sizeof k->f);
  d->made = 1;
  for (int32_t i = 0; i < count; i++) k->at[1][i] = d->table[k->at[0][i]];
  return 0;
}

static int join(quern_device *d, const quern_command *k) {
  (void)d;
  if (k->operands != 3 || k->numbers != 7 || k->reals != 2) return BAD_COMMAND;
  const int32_t outer = k->n[0], is_unsigned = k->n[3];
  for (int32_t i = 0; i < outer; i++) {
    uint8_t *y = k->at[2] + (int64_t)i * (k->n[1] + k->n[2]);
    for (int32_t part = 0; part < 2; part++) {
      const int32_t size = k->n[1 + part];
      const uint8_t *x = k->at[part] + (int64_t)i * size;
      for (int32_t j = 0; j < size; j++) *y++ = settle((float)(get(x, j, is_unsigned) - k->n[4 + part]) * k->f[part], k->n[6], is_unsigned);
    }
  }
  return 0;
}

int quern_execute(quern_device *d, const quern_command *c) {
  switch (c->opcode) {
  case 1: return conv(d, c);
  case 2: return pair(d, c);
  case 3: return dense(d, c);
  case 4: return sum(d, c);
  case 5: return product(d, c);
  case 6: return pool(d, c, 1);
  case 7: return pool(d, c, 0);
  case 8: return table(d, c);
  case 9: return join(d, c);
  default: return BAD_COMMAND;
  }
}
