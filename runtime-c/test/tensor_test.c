/*===- tensor_test.c - Tests of status codes and tensor views -----*- C -*-===*/

#include "check.h"
#include "phaseline/runtime.h"

#include <string.h>

static void test_count(void) {
  int64_t shape[3] = {2, 3, 5}, count = -1;
  phl_tensor t = phl_tensor_of(NULL, phl_dtype_of(PHL_FLOAT, 32), shape, 3);
  CHECK_STATUS(phl_tensor_count(&t, &count), PHL_OK);
  CHECK(count == 30, "count is %lld", (long long)count);
  CHECK_STATUS(phl_tensor_bytes(&t, &count), PHL_OK);
  CHECK(count == 120, "bytes are %lld", (long long)count);
  t.dtype = phl_dtype_of(PHL_INT, 4);
  CHECK_STATUS(phl_tensor_bytes(&t, &count), PHL_OK);
  CHECK(count == 30, "4-bit elements take a byte each, not %lld/30",
        (long long)count);
  t.ndim = 0;
  CHECK_STATUS(phl_tensor_count(&t, &count), PHL_OK);
  CHECK(count == 1, "a scalar has %lld elements", (long long)count);
}

static void test_count_limits(void) {
  int64_t huge[3] = {INT64_MAX / 2, 3, 1}, empty[3] = {INT64_MAX, 0, INT64_MAX};
  int64_t negative[1] = {-1}, count = 7;
  phl_tensor t = phl_tensor_of(NULL, phl_dtype_of(PHL_FLOAT, 32), huge, 3);
  CHECK_STATUS(phl_tensor_count(&t, &count), PHL_ERR_OVERFLOW);
  huge[1] = 1;
  CHECK_STATUS(phl_tensor_bytes(&t, &count), PHL_ERR_OVERFLOW);
  CHECK(count == 7, "a failed call wrote its result");
  t.shape = empty;
  CHECK_STATUS(phl_tensor_count(&t, &count), PHL_OK);
  CHECK(count == 0, "count is %lld", (long long)count);
  t = phl_tensor_of(NULL, t.dtype, negative, 1);
  CHECK_STATUS(phl_tensor_count(&t, &count), PHL_ERR_ARGUMENT);
  CHECK_STATUS(phl_tensor_count(NULL, &count), PHL_ERR_ARGUMENT);
  CHECK_STATUS(phl_tensor_count(&t, NULL), PHL_ERR_ARGUMENT);
}

static void test_contiguous(void) {
  int64_t shape[3] = {2, 1, 4}, strides[3] = {4, 77, 1};
  phl_tensor t = phl_tensor_of(NULL, phl_dtype_of(PHL_FLOAT, 32), shape, 3);
  CHECK(phl_tensor_is_contiguous(&t), "no strides");
  t.strides = strides;
  CHECK(phl_tensor_is_contiguous(&t), "stride of a size-1 dimension");
  strides[0] = 8;
  CHECK(!phl_tensor_is_contiguous(&t), "a gap between rows");
  shape[2] = 0;
  CHECK(phl_tensor_is_contiguous(&t), "no elements");
}

static void test_check(void) {
  _Alignas(64) float data[24] = {0};
  int64_t shape[2] = {4, 5}, strides[2] = {1, 4};
  const int64_t want[2] = {4, -1}, other[2] = {5, 5};
  const phl_dtype f32 = phl_dtype_of(PHL_FLOAT, 32);
  phl_tensor t = phl_tensor_of(data, f32, shape, 2);
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, want, 64), PHL_OK);
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, other, 64), PHL_ERR_SHAPE);
  CHECK_STATUS(phl_tensor_check(&t, f32, 1, want, 64), PHL_ERR_SHAPE);
  CHECK_STATUS(phl_tensor_check(&t, phl_dtype_of(PHL_INT, 32), 2, want, 64),
               PHL_ERR_DTYPE);
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, want, 48), PHL_ERR_ARGUMENT);
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, NULL, 64), PHL_ERR_ARGUMENT);
  t.byte_offset = 16;
  CHECK(phl_tensor_data(&t) == (void *)(data + 4), "the offset is in bytes");
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, want, 64), PHL_ERR_ALIGNMENT);
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, want, 16), PHL_OK);
  t.strides = strides;
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, want, 16), PHL_ERR_LAYOUT);
  t.strides = NULL;
  t.device.type = 2;
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, want, 16), PHL_ERR_DEVICE);
  t = phl_tensor_of(NULL, f32, shape, 2);
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, want, 16), PHL_ERR_ARGUMENT);
  shape[1] = 0;
  CHECK_STATUS(phl_tensor_check(&t, f32, 2, want, 16), PHL_OK);
}

static void test_status_strings(void) {
  for (int i = PHL_OK; i <= PHL_ERR_SYSTEM; ++i)
    for (int j = i + 1; j <= PHL_ERR_SYSTEM + 1; ++j)
      CHECK(strcmp(phl_status_string(i), phl_status_string(j)) != 0,
            "statuses %d and %d read the same", i, j);
}

void test_tensor(void) {
  test_count();
  test_count_limits();
  test_contiguous();
  test_check();
  test_status_strings();
  CHECK(sizeof(phl_tensor) == 48 || sizeof(void *) != 8,
        "a view has the size of a DLTensor, not %zu", sizeof(phl_tensor));
}
