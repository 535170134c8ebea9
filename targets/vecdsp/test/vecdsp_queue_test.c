/*===- vecdsp_queue_test.c - Tests of the vector DSP's queue ------*- C -*-===*/

#include "vecdsp_fixture.h"

#include <pthread.h>

static const vecdsp_activation negation = {VECDSP_NEG, 0.0f, 0.0f};

void test_vecdsp_memory(void) {
  vecdsp_device *device = vecdsp_small(4096, 4, 20000, false);
  void *a = vecdsp_room(device, 1000), *b = vecdsp_room(device, 1000);
  void *c = vecdsp_room(device, 2048), *d = NULL;
  CHECK((uintptr_t)a % 64 == 0 && (uintptr_t)b - (uintptr_t)a == 1024,
        "a block is not after the other");
  CHECK_STATUS(vecdsp_allocate(device, 1, &d), VECDSP_ERR_DRAM);
  /* Freed memory is used again. */
  CHECK_STATUS(vecdsp_free(device, b), VECDSP_OK);
  CHECK_STATUS(vecdsp_allocate(device, 1025, &d), VECDSP_ERR_DRAM);
  CHECK_STATUS(vecdsp_allocate(device, 1024, &d), VECDSP_OK);
  CHECK(d == b, "the gap is not used");
  /* Unwritten memory is NaN. */
  float number = 0.0f;
  vecdsp_download(device, &number, d, sizeof number);
  CHECK(isnan(number), "memory that was never written is %g", (double)number);
  CHECK_STATUS(vecdsp_free(device, (char *)c + 64), VECDSP_ERR_ADDRESS);
  CHECK_STATUS(vecdsp_free(device, &number), VECDSP_ERR_ADDRESS);
  CHECK_STATUS(vecdsp_free(device, NULL), VECDSP_OK);
  CHECK_STATUS(vecdsp_free(device, c), VECDSP_OK);
  void *nothing = vecdsp_room(device, 0);
  CHECK(nothing == c && vecdsp_room(device, 0) != nothing,
        "nothing has no address of its own");
  vecdsp_close(device);
}

/* The status of a negation between two addresses, as the next wait has it. */
static int negate(vecdsp_device *device, const void *x, void *y, int64_t size) {
  CHECK_STATUS(vecdsp_unary(device, x, y, size, &negation), VECDSP_OK);
  return vecdsp_wait(device);
}

void test_vecdsp_addresses(void) {
  vecdsp_device *device = vecdsp_usual(), *other = vecdsp_usual();
  float host[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  char *x = vecdsp_upload(device, host, sizeof host);
  char *y = vecdsp_room(device, sizeof host);
  void *foreign = vecdsp_room(other, sizeof host);
  CHECK_STATUS(negate(device, host, y, 4), VECDSP_ERR_ADDRESS);
  CHECK_STATUS(negate(device, x, host, 4), VECDSP_ERR_ADDRESS);
  CHECK_STATUS(negate(device, foreign, y, 4), VECDSP_ERR_ADDRESS);
  CHECK_STATUS(negate(device, NULL, y, 4), VECDSP_ERR_ADDRESS);
  CHECK_STATUS(negate(device, x + 4, y, 4), VECDSP_ERR_RANGE);
  CHECK_STATUS(negate(device, x + 20, y, 1), VECDSP_ERR_RANGE);
  CHECK_STATUS(negate(device, x + 1, y, 1), VECDSP_ERR_ALIGNMENT);
  CHECK_STATUS(negate(device, x, y, 4), VECDSP_OK);
  CHECK_STATUS(vecdsp_copy_in(device, host, x, sizeof host), VECDSP_OK);
  CHECK_STATUS(vecdsp_wait(device), VECDSP_ERR_ADDRESS);
  /* A part of an allocation is an operand as well. */
  CHECK_STATUS(negate(device, x + 8, y + 4, 2), VECDSP_OK);
  vecdsp_download(device, host, y, sizeof host);
  CHECK(host[0] == -1.0f && host[1] == -3.0f && host[2] == -4.0f,
        "y is %g, %g, %g", (double)host[0], (double)host[1], (double)host[2]);
  vecdsp_close(other);
  vecdsp_close(device);
}

void test_vecdsp_failures(void) {
  vecdsp_device *device = vecdsp_usual();
  float host[2] = {1.0f, 2.0f}, back[2] = {0.0f, 0.0f};
  void *x = vecdsp_upload(device, host, sizeof host);
  CHECK_STATUS(vecdsp_wait(device), VECDSP_OK);
  CHECK_STATUS(vecdsp_fail_after(device, 2, VECDSP_ERR_FAULT), VECDSP_OK);
  /* The first runs, the second fails, the third is left out. */
  CHECK_STATUS(vecdsp_unary(device, x, x, 1, &negation), VECDSP_OK);
  CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_OK);
  CHECK_STATUS(vecdsp_copy_out(device, back, x, sizeof back), VECDSP_OK);
  CHECK_STATUS(vecdsp_wait(device), VECDSP_ERR_FAULT);
  CHECK(back[1] == 0.0f, "a command behind one that failed has run");
  CHECK_STATUS(vecdsp_wait(device), VECDSP_OK);
  vecdsp_download(device, back, x, sizeof back);
  CHECK(back[0] == -1.0f && back[1] == 2.0f, "x is %g, %g", (double)back[0],
        (double)back[1]);
  CHECK_STATUS(vecdsp_fail_after(device, 0, VECDSP_ERR_FAULT),
               VECDSP_ERR_ARGUMENT);
  /* A failure that nobody waits for does not keep the device open. */
  CHECK_STATUS(vecdsp_fail_after(device, 1, VECDSP_ERR_FAULT), VECDSP_OK);
  CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_OK);
  vecdsp_close(device);
}

void test_vecdsp_timeout(void) {
  vecdsp_device *device = vecdsp_small(4096, 4, 40, false);
  float host[2] = {1.0f, 2.0f};
  void *x = vecdsp_upload(device, host, sizeof host);
  CHECK_STATUS(vecdsp_wait(device), VECDSP_OK);
  CHECK_STATUS(vecdsp_stall_after(device, 1), VECDSP_OK);
  for (int i = 0; i < 3; i++)
    CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_OK);
  CHECK_STATUS(vecdsp_wait(device), VECDSP_ERR_TIMEOUT);
  /* Calls return while a command runs, until the queue is full. */
  CHECK_STATUS(vecdsp_stall_after(device, 1), VECDSP_OK);
  for (int i = 0; i < 4; i++)
    CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_OK);
  CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_ERR_TIMEOUT);
  /* All of that is dropped, and the device works on. */
  float back[2];
  CHECK_STATUS(vecdsp_wait(device), VECDSP_OK);
  vecdsp_download(device, back, x, sizeof back);
  CHECK(back[0] == 1.0f && back[1] == 2.0f, "what was dropped has run");
  vecdsp_statistics statistics;
  vecdsp_read_statistics(device, &statistics);
  CHECK(statistics.most_queued == 4, "%d were queued",
        (int)statistics.most_queued);
  CHECK(statistics.waited_ns >= 80000000, "the host waited for %d ns",
        (int)statistics.waited_ns);
  CHECK_STATUS(vecdsp_stall_after(device, 1), VECDSP_OK);
  CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_OK);
  vecdsp_close(device);
}

static vecdsp_device *with_queues(size_t queues, int64_t timeout) {
  vecdsp_config config = vecdsp_default_config();
  config.dram = 1 << 20;
  config.queues = queues;
  config.timeout = timeout;
  vecdsp_device *device = NULL;
  CHECK_STATUS(vecdsp_open_as(&device, &config), VECDSP_OK);
  return device;
}

/* A ticket is for what is before it in its queue and for nothing else. */
void test_vecdsp_tickets(void) {
  vecdsp_device *device = with_queues(2, 1000);
  float host[2] = {1.0f, 2.0f}, early[2] = {0.0f, 0.0f}, late[2] = {0.0f, 0.0f};
  int64_t up, down, stalled;
  void *x = vecdsp_upload(device, host, sizeof host);
  void *y = vecdsp_room(device, sizeof host);
  CHECK_STATUS(vecdsp_ticket(device, &up), VECDSP_OK);
  /* The other queue begins after the copy. */
  CHECK_STATUS(vecdsp_use_queue(device, 1), VECDSP_OK);
  CHECK_STATUS(vecdsp_after(device, up), VECDSP_OK);
  CHECK_STATUS(vecdsp_unary(device, x, y, 2, &negation), VECDSP_OK);
  CHECK_STATUS(vecdsp_copy_out(device, early, y, sizeof early), VECDSP_OK);
  CHECK_STATUS(vecdsp_ticket(device, &down), VECDSP_OK);
  CHECK_STATUS(vecdsp_wait_for(device, down), VECDSP_OK);
  CHECK(early[0] == -1.0f && early[1] == -2.0f, "y is %g, %g", (double)early[0],
        (double)early[1]);
  /* While a queue stalls, the other works. */
  CHECK_STATUS(vecdsp_use_queue(device, 0), VECDSP_OK);
  CHECK_STATUS(vecdsp_stall_after(device, 1), VECDSP_OK);
  CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_OK);
  CHECK_STATUS(vecdsp_ticket(device, &stalled), VECDSP_OK);
  CHECK_STATUS(vecdsp_use_queue(device, 1), VECDSP_OK);
  CHECK_STATUS(vecdsp_copy_out(device, late, y, sizeof late), VECDSP_OK);
  CHECK_STATUS(vecdsp_ticket(device, &down), VECDSP_OK);
  CHECK_STATUS(vecdsp_wait_for(device, down), VECDSP_OK);
  CHECK(late[0] == -1.0f, "y is %g", (double)late[0]);
  CHECK_STATUS(vecdsp_close(device), VECDSP_OK);
  /* Commands that wait for a stalled one are dropped with it. */
  device = with_queues(2, 40);
  x = vecdsp_upload(device, host, sizeof host);
  CHECK_STATUS(vecdsp_stall_after(device, 1), VECDSP_OK);
  CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_OK);
  CHECK_STATUS(vecdsp_ticket(device, &stalled), VECDSP_OK);
  CHECK_STATUS(vecdsp_use_queue(device, 1), VECDSP_OK);
  CHECK_STATUS(vecdsp_after(device, stalled), VECDSP_OK);
  CHECK_STATUS(vecdsp_unary(device, x, x, 2, &negation), VECDSP_OK);
  CHECK_STATUS(vecdsp_wait_for(device, stalled), VECDSP_ERR_TIMEOUT);
  vecdsp_download(device, late, x, sizeof late);
  CHECK(late[0] == 1.0f, "what was dropped has run");
  /* Numbers of no queue and of no ticket. */
  CHECK_STATUS(vecdsp_use_queue(device, 2), VECDSP_ERR_ARGUMENT);
  CHECK_STATUS(vecdsp_use_queue(device, -1), VECDSP_ERR_ARGUMENT);
  CHECK_STATUS(vecdsp_wait_for(device, -1), VECDSP_ERR_ARGUMENT);
  CHECK_STATUS(vecdsp_wait_for(device, 1 << 20), VECDSP_ERR_ARGUMENT);
  CHECK_STATUS(vecdsp_after(device, 1 << 20), VECDSP_ERR_ARGUMENT);
  vecdsp_close(device);
}

/* All numbers of a call are the device's before it returns: here they change
 * while an earlier product is computed. */
void test_vecdsp_numbers_are_copied(void) {
  enum { SIDE = 128 };
  vecdsp_device *device = vecdsp_usual();
  static float square[SIDE * SIDE];
  vecdsp_fill(square, SIDE * SIDE, 1);
  void *a = vecdsp_upload(device, square, sizeof square);
  void *product = vecdsp_room(device, sizeof square);
  float sum[4];
  void *y = vecdsp_room(device, sizeof sum);
  int64_t shape[] = {SIDE, SIDE}, scalar[] = {4}, perm[] = {0};
  vecdsp_product twice = {.a = shape, .b = shape, .a_rank = 2, .b_rank = 2};
  twice.alpha = 1.0f;
  vecdsp_pair pair = {.a = scalar, .b = scalar, .a_rank = 1, .b_rank = 1};
  vecdsp_move move = {.shape = scalar, .rank = 1, .element = 4};
  move.numbers = perm;
  CHECK_STATUS(vecdsp_matmul(device, a, a, NULL, product, &twice), VECDSP_OK);
  CHECK_STATUS(vecdsp_binary(device, a, a, y, &pair), VECDSP_OK);
  CHECK_STATUS(vecdsp_transpose(device, y, product, &move), VECDSP_OK);
  memset(&twice, 0, sizeof twice);
  memset(&pair, 0, sizeof pair);
  memset(&move, 0, sizeof move);
  shape[0] = scalar[0] = perm[0] = -1;
  vecdsp_download(device, sum, product, sizeof sum);
  for (int i = 0; i < 4; i++)
    CHECK_NEAR(sum[i], 2.0f * square[i], "sum", i);
  vecdsp_close(device);
}

void test_vecdsp_statistics(void) {
  vecdsp_device *device = vecdsp_usual();
  static float host[1024], back[1024];
  vecdsp_fill(host, 1024, 3);
  const vecdsp_activation exponential = {VECDSP_EXP, 0.0f, 0.0f};
  void *x = vecdsp_upload(device, host, sizeof host);
  void *y = vecdsp_room(device, sizeof host);
  CHECK_STATUS(vecdsp_unary(device, x, y, 1024, &exponential), VECDSP_OK);
  CHECK_STATUS(vecdsp_copy(device, x, y, 256), VECDSP_OK);
  vecdsp_download(device, back, y, sizeof back);
  vecdsp_statistics got;
  CHECK_STATUS(vecdsp_read_statistics(device, &got), VECDSP_OK);
  CHECK(got.bytes_in == 4096 && got.bytes_out == 4096 &&
            got.bytes_within == 256 && got.calls == 1,
        "%d bytes in, %d out, %d within, %d calls", (int)got.bytes_in,
        (int)got.bytes_out, (int)got.bytes_within, (int)got.calls);
  /* By 32 bytes a cycle 128 for a copy and 256 for the call, whose 6 * 1024
   * operations take 96 on 64 lanes; 2 * 8 for the one within. */
  CHECK(got.cycles == 4 * 64 + 128 + 256 + 16 + 128, "%d cycles",
        (int)got.cycles);
  CHECK(got.busy_ns > 0 && got.overlap_ns <= got.busy_ns, "the device idled");
  vecdsp_close(device);
  /* Statistics of all devices stay. */
  vecdsp_statistics all;
  CHECK_STATUS(vecdsp_read_statistics(NULL, &all), VECDSP_OK);
  CHECK(all.bytes_in >= got.bytes_in && all.cycles >= got.cycles &&
            all.busy_ns >= got.busy_ns && all.most_queued >= got.most_queued,
        "the counters of all devices lack those of one");
}

void test_vecdsp_unified(void) {
  vecdsp_device *device = vecdsp_small(4096, 4, 20000, true);
  float x[2] = {1.0f, -2.0f}, y[2] = {0.0f, 0.0f};
  CHECK_STATUS(vecdsp_unary(device, x, y, 2, &negation), VECDSP_OK);
  CHECK(y[0] == -1.0f && y[1] == 2.0f, "the call is not over");
  CHECK_STATUS(vecdsp_unary(device, NULL, y, 2, &negation), VECDSP_ERR_ADDRESS);
  CHECK_STATUS(vecdsp_wait(device), VECDSP_OK);
  void *room = vecdsp_upload(device, x, sizeof x);
  vecdsp_download(device, y, room, sizeof y);
  CHECK(y[1] == -2.0f, "a copy is not over");
  CHECK_STATUS(vecdsp_free(device, room), VECDSP_OK);
  vecdsp_close(device);
}

void test_vecdsp_opening(void) {
  vecdsp_device *device = NULL;
  vecdsp_config config = vecdsp_default_config();
  config.depth = 0;
  CHECK_STATUS(vecdsp_open_as(&device, &config), VECDSP_ERR_ARGUMENT);
  CHECK_STATUS(vecdsp_open(&device), VECDSP_OK);
  CHECK_STATUS(vecdsp_close(device), VECDSP_OK);
  CHECK_STATUS(vecdsp_close(NULL), VECDSP_OK);
  for (int status = VECDSP_OK; status <= VECDSP_ERR_FAULT; status++)
    CHECK(strcmp(vecdsp_status_string(status), vecdsp_status_string(-1)) != 0,
          "status %d has no text", status);
}

/* An inference: data in, twenty negations there and back, data out. */
static int infer(vecdsp_device *device, void *x, void *y, const float *in,
                 float *out) {
  int status = vecdsp_copy_in(device, x, in, 64 * sizeof *in);
  for (int i = 0; i < 10 && !status; i++) {
    status = vecdsp_unary(device, x, y, 64, &negation);
    if (!status)
      status = vecdsp_unary(device, y, x, 64, &negation);
  }
  if (!status)
    status = vecdsp_copy_out(device, out, x, 64 * sizeof *out);
  const int late = vecdsp_wait(device);
  return status ? status : late;
}

static void *many_inferences(void *argument) {
  const uint32_t seed = *(const uint32_t *)argument;
  vecdsp_device *device = vecdsp_small(4096, 5, 20000, false);
  void *x = vecdsp_room(device, 256), *y = vecdsp_room(device, 256);
  float in[64], out[64];
  for (uint32_t i = 0; i < 1250; i++) {
    const bool fails = (i + seed) % 7 == 0;
    vecdsp_fill(in, 64, seed + i);
    memset(out, 0, sizeof out);
    if (fails)
      vecdsp_fail_after(device, 1 + i % 22, 1000 + (int)i);
    const int status = infer(device, x, y, in, out);
    CHECK(status == (fails ? 1000 + (int)i : VECDSP_OK),
          "inference %d gives status %d", (int)i, status);
    CHECK(fails || !memcmp(in, out, sizeof in), "inference %d is wrong",
          (int)i);
  }
  vecdsp_close(device);
  return NULL;
}

/* 10,000 inferences on eight devices, of which one of seven fails somewhere. */
void test_vecdsp_threads(void) {
  pthread_t threads[8];
  uint32_t seeds[8];
  for (uint32_t i = 0; i < 8; i++) {
    seeds[i] = i;
    CHECK(!pthread_create(&threads[i], NULL, many_inferences, &seeds[i]),
          "no thread");
  }
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], NULL);
}
