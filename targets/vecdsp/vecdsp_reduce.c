/*===- vecdsp_reduce.c - Reductions, softmax, normalisation -------*- C -*-===*/

#include "vecdsp_device.h"

#include <math.h>

/*===------------------------------ Reductions ----------------------------===*/

static double begin_sum(int32_t reduction) {
  switch (reduction) {
  case VECDSP_REDUCE_MAX:
    return -INFINITY;
  case VECDSP_REDUCE_MIN:
    return INFINITY;
  case VECDSP_REDUCE_PROD:
    return 1.0;
  default:
    return 0.0;
  }
}

static double combine(int32_t reduction, double sum, double x) {
  switch (reduction) {
  case VECDSP_REDUCE_MAX:
    return isnan(x) || x > sum ? x : sum;
  case VECDSP_REDUCE_MIN:
    return isnan(x) || x < sum ? x : sum;
  case VECDSP_REDUCE_PROD:
    return sum * x;
  case VECDSP_REDUCE_SUM_SQUARE:
  case VECDSP_REDUCE_L2:
    return sum + x * x;
  case VECDSP_REDUCE_L1:
    return sum + fabs(x);
  default:
    return sum + x;
  }
}

static double end_sum(int32_t reduction, double sum, int64_t size) {
  if (reduction == VECDSP_REDUCE_MEAN)
    return sum / (double)size;
  return reduction == VECDSP_REDUCE_L2 ? sqrt(sum) : sum;
}

static void run_reduce(const vecdsp_command *command, void *const *at) {
  const vecdsp_nest *kept = &command->as.reduce.kept;
  const vecdsp_nest *summed = &command->as.reduce.summed;
  const int32_t reduction = command->as.reduce.reduction;
  const int last = summed->rank - 1;
  const int64_t count = summed->count[last], step = summed->stride[0][last];
  const float *x = at[0];
  float *y = at[1];
  vecdsp_walk outer, inner;
  vecdsp_begin(kept, &outer);
  do {
    double sum = begin_sum(reduction);
    int64_t size = 0;
    vecdsp_begin(summed, &inner);
    do {
      const float *line = x + outer.at[0] + inner.at[0];
      for (int64_t i = 0; i < count; i++)
        sum = combine(reduction, sum, (double)line[i * step]);
      size += count;
    } while (vecdsp_next(summed, last, &inner));
    y[outer.at[1]] = (float)end_sum(reduction, sum, size);
  } while (vecdsp_next(kept, kept->rank, &outer));
}

/* Finds the dimensions that are summed; false if an axis makes no sense. */
static bool find_axes(const vecdsp_dims *dims, bool *is_summed) {
  for (int64_t i = 0; i < dims->rank; i++)
    is_summed[i] = !dims->count;
  for (int64_t i = 0; i < dims->count; i++) {
    const int64_t axis =
        dims->axes[i] < 0 ? dims->axes[i] + dims->rank : dims->axes[i];
    if (axis < 0 || axis >= dims->rank || is_summed[axis])
      return false;
    is_summed[axis] = true;
  }
  return true;
}

int vecdsp_reduce(vecdsp_device *device, const float *x, float *y,
                  const vecdsp_dims *dims) {
  const int64_t size = vecdsp_size(dims->shape, dims->rank);
  bool is_summed[VECDSP_RANK];
  if (size < 0 || !find_axes(dims, is_summed) ||
      dims->reduction < VECDSP_REDUCE_SUM || dims->reduction > VECDSP_REDUCE_L2)
    return vecdsp_refuse(device);
  vecdsp_command command = {.run = run_reduce, .kind = VECDSP_CALL};
  vecdsp_nest *kept = &command.as.reduce.kept;
  vecdsp_nest *summed = &command.as.reduce.summed;
  vecdsp_nest whole;
  vecdsp_dense(&whole, dims->shape, dims->rank);
  int64_t shape[VECDSP_RANK] = {0};
  for (int i = 0; i < whole.rank; i++)
    shape[i] = is_summed[i] ? 1 : dims->shape[i];
  vecdsp_dense(kept, shape, dims->rank);
  *summed = whole;
  for (int i = 0; i < whole.rank; i++) {
    kept->stride[0][i] = whole.stride[0][i];
    summed->count[i] = is_summed[i] ? dims->shape[i] : 1;
  }
  vecdsp_simplify(kept, 2);
  vecdsp_simplify(summed, 1);
  command.as.reduce.reduction = dims->reduction;
  command.operations = (uint64_t)size;
  vecdsp_operand_add(&command, x, size, sizeof *x);
  vecdsp_operand_add(&command, y, vecdsp_size(shape, dims->rank), sizeof *y);
  return vecdsp_submit(device, &command);
}

/*===------------------------------- Softmax ------------------------------===*/

static void softmax(const float *x, float *y, int64_t size, int64_t step,
                    bool log) {
  float most = -INFINITY;
  for (int64_t i = 0; i < size; i++)
    most = x[i * step] > most ? x[i * step] : most;
  double sum = 0.0;
  for (int64_t i = 0; i < size; i++) {
    const float power = expf(x[i * step] - most);
    sum += (double)power;
    y[i * step] = log ? x[i * step] - most : power;
  }
  const float factor = (float)(1.0 / sum), addend = (float)-logf((float)sum);
  for (int64_t i = 0; i < size; i++)
    y[i * step] = log ? y[i * step] + addend : y[i * step] * factor;
}

static void run_softmax(const vecdsp_command *command, void *const *at) {
  const vecdsp_line *line = &command->as.soft;
  for (int64_t outer = 0; outer < line->outer; outer++)
    for (int64_t inner = 0; inner < line->inner; inner++) {
      const int64_t start = outer * line->size * line->inner + inner;
      softmax((const float *)at[0] + start, (float *)at[1] + start, line->size,
              line->inner, line->log);
    }
}

int vecdsp_softmax(vecdsp_device *device, const float *x, float *y,
                   const vecdsp_line *line) {
  const int64_t shape[] = {line->outer, line->size, line->inner};
  const int64_t size = vecdsp_size(shape, 3);
  if (size < 0)
    return vecdsp_refuse(device);
  vecdsp_command command = {.run = run_softmax, .kind = VECDSP_CALL};
  command.as.soft = *line;
  command.operations = 10 * (uint64_t)size;
  vecdsp_operand_add(&command, x, size, sizeof *x);
  vecdsp_operand_add(&command, y, size, sizeof *y);
  return vecdsp_submit(device, &command);
}

/*===---------------------------- Normalisation ---------------------------===*/

static void run_normalise(const vecdsp_command *command, void *const *at) {
  const vecdsp_rows *rows = &command->as.normal.rows;
  const float *scale = at[1], *shift = at[2];
  const double size = (double)rows->size;
  for (int64_t r = 0; r < rows->rows; r++) {
    const float *x = (const float *)at[0] + r * rows->size;
    float *y = (float *)at[3] + r * rows->size;
    double mean = 0.0, square = 0.0;
    for (int64_t i = 0; i < rows->size && command->as.normal.centred; i++)
      mean += (double)x[i] / size;
    for (int64_t i = 0; i < rows->size; i++)
      square += ((double)x[i] - mean) * ((double)x[i] - mean) / size;
    const double factor = 1.0 / sqrt(square + (double)rows->epsilon);
    for (int64_t i = 0; i < rows->size; i++) {
      const int64_t own = (r * rows->per_row + i / rows->run) % rows->period;
      const float normal = (float)(((double)x[i] - mean) * factor);
      y[i] = normal * scale[own] + (shift ? shift[own] : 0.0f);
    }
  }
}

static int normalise(vecdsp_device *device, const float *x, const float *scale,
                     const float *shift, float *y, const vecdsp_rows *rows,
                     bool centred) {
  const int64_t shape[] = {rows->rows, rows->size};
  const int64_t size = vecdsp_size(shape, 2);
  if (size < 0 || vecdsp_size(&rows->period, 1) < 0 || rows->run < 1 ||
      rows->per_row < 0 || rows->per_row > rows->period)
    return vecdsp_refuse(device);
  vecdsp_command command = {.run = run_normalise, .kind = VECDSP_CALL};
  command.as.normal.rows = *rows;
  command.as.normal.centred = centred;
  command.operations = 8 * (uint64_t)size;
  vecdsp_operand_add(&command, x, size, sizeof *x);
  vecdsp_operand_add(&command, scale, rows->period, sizeof *scale);
  vecdsp_operand_add(&command, shift, shift ? rows->period : 0, sizeof *shift);
  vecdsp_operand_add(&command, y, size, sizeof *y);
  return vecdsp_submit(device, &command);
}

int vecdsp_normalise(vecdsp_device *device, const float *x, const float *scale,
                     const float *shift, float *y, const vecdsp_rows *rows) {
  return normalise(device, x, scale, shift, y, rows, true);
}

int vecdsp_rms_norm(vecdsp_device *device, const float *x, const float *scale,
                    float *y, const vecdsp_rows *rows) {
  return normalise(device, x, scale, NULL, y, rows, false);
}

static void run_batch_norm(const vecdsp_command *command, void *const *at) {
  const vecdsp_channels *channels = &command->as.channels;
  const float *scale = at[1], *shift = at[2], *mean = at[3], *var = at[4];
  for (int64_t i = 0; i < channels->images * channels->channels; i++) {
    const int64_t c = i % channels->channels;
    const float *x = (const float *)at[0] + i * channels->size;
    float *y = (float *)at[5] + i * channels->size;
    const float root = sqrtf(var[c] + channels->epsilon);
    for (int64_t j = 0; j < channels->size; j++)
      y[j] = (x[j] - mean[c]) / root * scale[c] + shift[c];
    vecdsp_activate(&channels->act, y, channels->size);
  }
}

int vecdsp_batch_norm(vecdsp_device *device, const float *x, const float *scale,
                      const float *shift, const float *mean, const float *var,
                      float *y, const vecdsp_channels *channels) {
  const int64_t shape[] = {channels->images, channels->channels,
                           channels->size};
  const int64_t size = vecdsp_size(shape, 3);
  if (size < 0 || !vecdsp_is_activation(&channels->act))
    return vecdsp_refuse(device);
  vecdsp_command command = {.run = run_batch_norm, .kind = VECDSP_CALL};
  command.as.channels = *channels;
  command.operations = (uint64_t)size * (4 + vecdsp_effort(&channels->act));
  vecdsp_operand_add(&command, x, size, sizeof *x);
  const float *const each[] = {scale, shift, mean, var};
  for (int i = 0; i < 4; i++)
    vecdsp_operand_add(&command, each[i], channels->channels, sizeof *x);
  vecdsp_operand_add(&command, y, size, sizeof *y);
  return vecdsp_submit(device, &command);
}
