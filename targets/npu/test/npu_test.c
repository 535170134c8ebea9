/*===- npu_test.c - Tests of the command-stream accelerator -------*- C -*-===*/

#include "check.h"
#include "npu.h"

#include <stdint.h>
#include <string.h>

/* A stream that is written by hand. */
typedef struct writer {
  uint8_t bytes[1024];
  size_t size;
} writer;

static void put(writer *out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++)
    out->bytes[out->size++] = (uint8_t)(value >> (8 * i));
}

static void begin(writer *out, unsigned commands) {
  memset(out, 0, sizeof *out);
  memcpy(out->bytes, "PHLS", 4);
  out->size = 4;
  put(out, 1, 2);
  put(out, 0, 2);
  put(out, commands, 4);
  put(out, 0, 4);
}

static void command(writer *out, unsigned opcode, unsigned arguments) {
  put(out, opcode, 2);
  put(out, arguments, 2);
  put(out, 0, 4);
}

static void number(writer *out, int64_t value) {
  put(out, 0, 8);
  put(out, (uint64_t)value, 8);
}

static void real(writer *out, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put(out, 1, 8);
  put(out, bits, 8);
}

/* space: 0 input, 1 output, 2 weights, 3 scratch. */
static void buffer(writer *out, unsigned space, unsigned index, uint32_t bytes,
                   uint64_t offset) {
  put(out, 2, 1);
  put(out, space, 1);
  put(out, index, 2);
  put(out, bytes, 4);
  put(out, offset, 8);
}

static void none(writer *out) {
  put(out, 3, 8);
  put(out, 0, 8);
}

static int64_t finish(writer *out) {
  for (int i = 0; i < 4; i++)
    out->bytes[12 + i] = (uint8_t)(out->size >> (8 * i));
  return (int64_t)out->size;
}

/* y = x * w of one row, then y + y. */
static void write_dense_and_add(writer *out) {
  begin(out, 2);
  command(out, NPU_DENSE, 12);
  buffer(out, 0, 0, 3, 0);
  buffer(out, 2, 0, 6, 0);
  none(out);
  buffer(out, 2, 0, 8, 16);
  buffer(out, 3, 0, 2, 32);
  const int64_t sizes[] = {1, 3, 2, -1, 2, -100, 100};
  for (int i = 0; i < 7; i++)
    number(out, sizes[i]);
  command(out, NPU_ADD, 12);
  buffer(out, 3, 0, 2, 32);
  buffer(out, 3, 0, 2, 32);
  buffer(out, 1, 0, 2, 0);
  number(out, 2);
  for (int i = 0; i < 2; i++) {
    number(out, 2);
    real(out, 0.5);
  }
  number(out, 0);
  real(out, 1.0);
  number(out, -128);
  number(out, 127);
}

static void test_commands(npu_device *device) {
  writer stream;
  write_dense_and_add(&stream);
  const int64_t bytes = finish(&stream);
  const int8_t x[3] = {1, 2, -3};
  int8_t y[2] = {99, 99};
  uint8_t weights[32] = {0}, scratch[64];
  const int8_t w[6] = {1, 2, 3, -4, -5, 100};
  const float scales[2] = {0.5f, 1.0f};
  memcpy(weights, w, sizeof w);
  memcpy(weights + 16, scales, sizeof scales);
  CHECK_STATUS(npu_submit(device, stream.bytes, bytes, weights, scratch, 1, 1,
                          (const void *)x, (void *)y),
               NPU_OK);
  /* With a zero point of -1 the row is 2, 3, -2: the sums are 2 and -223. They
   * become 1 + 2 and, limited, -100; then twice (q - 2) / 2. */
  CHECK(y[0] == 1 && y[1] == -102, "y is %d, %d", y[0], y[1]);
  npu_counters counters;
  npu_read_counters(device, &counters);
  CHECK(counters.commands == 2 && counters.multiplications == 6 &&
            counters.submissions == 1,
        "the counters are wrong");
  CHECK(counters.dma_bytes == 3 + 16 + 16 + 2 + 2 + 2 + 2, "dma moved %d bytes",
        (int)counters.dma_bytes);
  /* Every stream that is cut off is refused. */
  for (int64_t cut = 0; cut < bytes; cut++) {
    writer copy = stream;
    copy.size = (size_t)cut;
    if (cut >= 16)
      finish(&copy);
    CHECK_STATUS(npu_submit(device, copy.bytes, cut, weights, scratch, 1, 1,
                            (const void *)x, (void *)y),
                 NPU_ERR_STREAM);
  }
}

static void test_refusals(npu_device *device) {
  writer stream;
  int8_t x[4] = {0}, y[4] = {0};
  begin(&stream, 1);
  command(&stream, 99, 0);
  int64_t bytes = finish(&stream);
  CHECK_STATUS(npu_submit(device, stream.bytes, bytes, NULL, NULL, 1, 1,
                          (void *)x, (void *)y),
               NPU_ERR_COMMAND);
  stream.bytes[4] = 2;
  CHECK_STATUS(npu_submit(device, stream.bytes, bytes, NULL, NULL, 1, 1,
                          (void *)x, (void *)y),
               NPU_ERR_STREAM);
  /* A pool of more than the SRAM; nothing is read before that is found. */
  begin(&stream, 1);
  command(&stream, NPU_MAX_POOL, 14);
  buffer(&stream, 0, 0, NPU_SRAM_BYTES + 1, 0);
  buffer(&stream, 1, 0, 1, 0);
  for (int i = 0; i < 12; i++)
    number(&stream, 1);
  bytes = finish(&stream);
  CHECK_STATUS(npu_submit(device, stream.bytes, bytes, NULL, NULL, 1, 1,
                          (void *)x, (void *)y),
               NPU_ERR_SRAM);
  /* A buffer in memory that was not given, and an input that does not exist. */
  CHECK_STATUS(
      npu_submit(device, stream.bytes, bytes, NULL, NULL, 0, 1, (void *)y),
      NPU_ERR_COMMAND);
  for (int status = NPU_OK; status <= NPU_ERR_SRAM + 1; status++)
    CHECK(strlen(npu_status_string(status)) > 5, "status %d has no text",
          status);
}

void test_npu(void) {
  npu_device *device = NULL;
  CHECK_STATUS(npu_open(&device), NPU_OK);
  test_commands(device);
  test_refusals(device);
  CHECK_STATUS(npu_close(device), NPU_OK);
  CHECK_STATUS(npu_close(NULL), NPU_OK);
}
