/*===- runtime.c - Status codes and tensor views ------------------*- C -*-===*/

#include "phaseline/runtime.h"

const char *phl_status_string(int status) {
  switch (status) {
  case PHL_OK:
    return "success";
  case PHL_ERR_ARGUMENT:
    return "an argument is null or out of range";
  case PHL_ERR_MEMORY:
    return "memory could not be allocated";
  case PHL_ERR_SHAPE:
    return "a tensor has another rank or other sizes than the model";
  case PHL_ERR_DTYPE:
    return "a tensor has another element type than the model";
  case PHL_ERR_ALIGNMENT:
    return "an address is not aligned as the model needs";
  case PHL_ERR_LAYOUT:
    return "a tensor is not contiguous in row-major order";
  case PHL_ERR_DEVICE:
    return "a tensor is not in the memory of the CPU";
  case PHL_ERR_OVERFLOW:
    return "a size does not fit 64 bits";
  case PHL_ERR_SYSTEM:
    return "the system refused a thread, a lock, or the registers of AMX";
  default:
    return "unknown status";
  }
}

int phl_tensor_count(const phl_tensor *tensor, int64_t *out_count) {
  if (!tensor || !out_count || tensor->ndim < 0 ||
      (tensor->ndim > 0 && !tensor->shape))
    return PHL_ERR_ARGUMENT;
  bool empty = false;
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] < 0)
      return PHL_ERR_ARGUMENT;
    empty = empty || tensor->shape[i] == 0;
  }
  int64_t count = empty ? 0 : 1;
  for (int32_t i = 0; i < tensor->ndim && !empty; ++i) {
    if (count > INT64_MAX / tensor->shape[i])
      return PHL_ERR_OVERFLOW;
    count *= tensor->shape[i];
  }
  *out_count = count;
  return PHL_OK;
}

int phl_tensor_bytes(const phl_tensor *tensor, int64_t *out_bytes) {
  int64_t count = 0;
  if (!out_bytes)
    return PHL_ERR_ARGUMENT;
  const int status = phl_tensor_count(tensor, &count);
  if (status != PHL_OK)
    return status;
  const int64_t bits = (int64_t)tensor->dtype.bits * tensor->dtype.lanes;
  const int64_t element = (bits + 7) / 8;
  if (element != 0 && count > INT64_MAX / element)
    return PHL_ERR_OVERFLOW;
  *out_bytes = count * element;
  return PHL_OK;
}

bool phl_tensor_is_contiguous(const phl_tensor *tensor) {
  int64_t count = 0;
  if (phl_tensor_count(tensor, &count) != PHL_OK)
    return false;
  if (!tensor->strides || count == 0)
    return true;
  int64_t expected = 1;
  for (int32_t i = tensor->ndim - 1; i >= 0; --i) {
    /* The stride of a dimension with one element is never used. */
    if (tensor->shape[i] != 1 && tensor->strides[i] != expected)
      return false;
    expected *= tensor->shape[i];
  }
  return true;
}

static int check_shape(const phl_tensor *tensor, int32_t ndim,
                       const int64_t *shape) {
  if (tensor->ndim != ndim)
    return PHL_ERR_SHAPE;
  for (int32_t i = 0; i < ndim; ++i)
    if (shape[i] >= 0 && shape[i] != tensor->shape[i])
      return PHL_ERR_SHAPE;
  return PHL_OK;
}

int phl_tensor_check(const phl_tensor *tensor, phl_dtype dtype, int32_t ndim,
                     const int64_t *shape, size_t alignment) {
  int64_t count = 0;
  if (ndim < 0 || (ndim > 0 && !shape) || alignment == 0 ||
      (alignment & (alignment - 1)) != 0)
    return PHL_ERR_ARGUMENT;
  int status = phl_tensor_count(tensor, &count);
  if (status != PHL_OK)
    return status;
  if (tensor->device.type != PHL_CPU)
    return PHL_ERR_DEVICE;
  if (tensor->dtype.code != dtype.code || tensor->dtype.bits != dtype.bits ||
      tensor->dtype.lanes != dtype.lanes)
    return PHL_ERR_DTYPE;
  status = check_shape(tensor, ndim, shape);
  if (status != PHL_OK)
    return status;
  if (!phl_tensor_is_contiguous(tensor))
    return PHL_ERR_LAYOUT;
  if (count == 0)
    return PHL_OK;
  if (!tensor->data)
    return PHL_ERR_ARGUMENT;
  if ((uintptr_t)phl_tensor_data(tensor) % alignment != 0)
    return PHL_ERR_ALIGNMENT;
  return PHL_OK;
}
