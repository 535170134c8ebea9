/*===- pool_test.c - Tests of the thread pool ---------------------*- C -*-===*/

#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include "phaseline/runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { MAX_N = 5000 };

/** Not atomic: that each iteration runs once is also what TSan checks here. */
typedef struct visits {
  int32_t count[MAX_N];
  int64_t n, grain;
  _Atomic int64_t parts;
} visits;

static void visit(void *context, int64_t begin, int64_t end) {
  visits *seen = context;
  CHECK(0 <= begin && begin < end && end <= seen->n, "part %lld..%lld of %lld",
        (long long)begin, (long long)end, (long long)seen->n);
  CHECK(end - begin >= seen->grain || end == seen->n,
        "part %lld..%lld is small", (long long)begin, (long long)end);
  atomic_fetch_add(&seen->parts, 1);
  for (int64_t i = begin; i < end; ++i)
    seen->count[i] += 1;
}

static void run_and_check(phl_pool *pool, visits *seen, int64_t n,
                          int64_t grain) {
  memset(seen->count, 0, sizeof seen->count);
  seen->n = n;
  seen->grain = grain;
  seen->parts = 0;
  CHECK_STATUS(phl_pool_parallel_for(pool, visit, seen, n, grain), PHL_OK);
  for (int64_t i = 0; i < MAX_N; ++i)
    CHECK(seen->count[i] == (i < n), "iteration %lld of %lld ran %d times",
          (long long)i, (long long)n, seen->count[i]);
}

static void test_loops(int32_t threads) {
  static visits seen;
  phl_pool *pool = NULL;
  if (threads > 0)
    CHECK_STATUS(phl_pool_create(threads, &pool), PHL_OK);
  CHECK(phl_pool_threads(pool) == (threads > 0 ? threads : 1), "threads");
  static const int64_t sizes[] = {0, 1, 2, 7, 64, 1000, MAX_N};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
    for (int64_t grain = 1; grain <= 4096; grain *= 8)
      run_and_check(pool, &seen, sizes[i], grain);
  if (threads > 1) {
    run_and_check(pool, &seen, MAX_N, 1);
    CHECK(seen.parts >= threads, "only %lld parts for %d threads",
          (long long)seen.parts, (int)threads);
  }
  phl_pool_destroy(pool);
}

/** Many short loops, of changing size so that a thread that is late meets
 * another loop, with pauses in which the threads fall asleep. */
static void test_many_loops(void) {
  static visits seen;
  phl_pool *pool = NULL;
  CHECK_STATUS(phl_pool_create(4, &pool), PHL_OK);
  if (pool) {
    /* Compiled models find the function there. */
    int (*first)(phl_pool *, phl_loop_fn, void *, int64_t, int64_t) = NULL;
    memcpy(&first, pool, sizeof first);
    CHECK(first == phl_pool_parallel_for, "the first word of a pool");
  }
  for (int64_t i = 0; i < 2000; ++i) {
    run_and_check(pool, &seen, i % 97, 1 + i % 3);
    if (i % 200 == 0) {
      const struct timespec pause = {0, 2000000};
      nanosleep(&pause, NULL);
    }
  }
  phl_pool_destroy(pool);
}

typedef struct tally {
  int64_t n, first;
  _Atomic int64_t iterations, sum;
} tally;

static void add_up(void *context, int64_t begin, int64_t end) {
  tally *seen = context;
  CHECK(end <= seen->n, "part %lld..%lld of %lld", (long long)begin,
        (long long)end, (long long)seen->n);
  atomic_fetch_add(&seen->iterations, end - begin);
  for (int64_t i = begin; i < end; ++i)
    atomic_fetch_add(&seen->sum, seen->first + i);
}

/** Loops with next to no work, so that most of the time threads take chunks,
 * and loops begin and end. */
static void test_contention(void) {
  phl_pool *pool = NULL;
  CHECK_STATUS(phl_pool_create(3, &pool), PHL_OK);
  for (int64_t i = 0; i < 100000; ++i) {
    tally seen = {2 + i % 13, i, 0, 0};
    CHECK_STATUS(phl_pool_parallel_for(pool, add_up, &seen, seen.n, 1), PHL_OK);
    CHECK(seen.iterations == seen.n, "loop %lld of %lld ran %lld", (long long)i,
          (long long)seen.n, (long long)seen.iterations);
    const int64_t sum = seen.n * i + seen.n * (seen.n - 1) / 2;
    CHECK(seen.sum == sum, "loop %lld added other iterations", (long long)i);
  }
  phl_pool_destroy(pool);
}

typedef struct nested {
  phl_pool *pool;
  _Atomic int64_t total;
} nested;

static void add_inner(void *context, int64_t begin, int64_t end) {
  atomic_fetch_add(&((nested *)context)->total, end - begin);
}

static void add_outer(void *context, int64_t begin, int64_t end) {
  nested *outer = context;
  for (int64_t i = begin; i < end; ++i)
    CHECK_STATUS(phl_pool_parallel_for(outer->pool, add_inner, outer, 10, 1),
                 PHL_OK);
}

static void test_nested(void) {
  nested outer = {NULL, 0};
  CHECK_STATUS(phl_pool_create(3, &outer.pool), PHL_OK);
  CHECK_STATUS(phl_pool_parallel_for(outer.pool, add_outer, &outer, 50, 1),
               PHL_OK);
  CHECK(outer.total == 500, "%lld iterations", (long long)outer.total);
  phl_pool_destroy(outer.pool);
}

static void *use_pool(void *argument) {
  visits *seen = calloc(1, sizeof *seen);
  CHECK(seen, "no memory");
  for (int64_t i = 0; i < 200; ++i)
    run_and_check(argument, seen, 1 + i % 50, 1);
  free(seen);
  return NULL;
}

static void test_callers(void) {
  phl_pool *pool = NULL;
  pthread_t callers[3];
  CHECK_STATUS(phl_pool_create(3, &pool), PHL_OK);
  for (size_t i = 0; i < 3; ++i)
    CHECK(pthread_create(&callers[i], NULL, use_pool, pool) == 0, "thread");
  for (size_t i = 0; i < 3; ++i)
    CHECK(pthread_join(callers[i], NULL) == 0, "join");
  phl_pool_destroy(pool);
}

/** Waits until as many threads are in the loop as the pool has. */
static void meet(void *context, int64_t begin, int64_t end) {
  _Atomic int32_t *present = context;
  (void)begin;
  (void)end;
  atomic_fetch_add(present, 1);
  for (int i = 0; i < 10000 && atomic_load(present) < 3; ++i) {
    const struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
  }
}

static void test_is_parallel(void) {
  phl_pool *pool = NULL;
  _Atomic int32_t present = 0;
  CHECK_STATUS(phl_pool_create(3, &pool), PHL_OK);
  const time_t before = time(NULL);
  CHECK_STATUS(phl_pool_parallel_for(pool, meet, &present, 3, 1), PHL_OK);
  CHECK(present == 3, "%d parts ran", present);
  CHECK(time(NULL) - before < 9, "the threads of a pool did not meet");
  phl_pool_destroy(pool);
}

typedef struct sleeper {
  pthread_t caller;
  _Atomic bool sleeps, waits;
  _Atomic int32_t others;
} sleeper;

static void nap(long milliseconds) {
  const struct timespec pause = {0, milliseconds * 1000000};
  nanosleep(&pause, NULL);
}

/** The other thread sleeps in its first part, for which the caller waits. */
static void sleep_once(void *context, int64_t begin, int64_t end) {
  sleeper *seen = context;
  (void)begin;
  (void)end;
  if (!pthread_equal(pthread_self(), seen->caller)) {
    atomic_fetch_add(&seen->others, 1);
    if (atomic_exchange(&seen->sleeps, false))
      nap(20);
  }
  for (int i = 0; i < 1000 && atomic_load(&seen->sleeps); ++i)
    nap(1);
  if (atomic_load(&seen->waits) && atomic_load(&seen->others) == 0)
    nap(1);
}

/** A thread that was late leaves the next loops to others for a while. */
static void test_late(void) {
  phl_pool *pool = NULL;
  sleeper seen = {pthread_self(), true, false, 0};
  CHECK_STATUS(phl_pool_create(2, &pool), PHL_OK);
  CHECK_STATUS(phl_pool_parallel_for(pool, sleep_once, &seen, 32, 1), PHL_OK);
  CHECK(seen.others > 0, "the other thread was not there");
  seen.others = 0;
  CHECK_STATUS(phl_pool_parallel_for(pool, sleep_once, &seen, 32, 1), PHL_OK);
  CHECK(seen.others == 0, "the other thread does not rest");
  seen.waits = true;
  for (int i = 0; i < 300 && seen.others == 0; ++i)
    CHECK_STATUS(phl_pool_parallel_for(pool, sleep_once, &seen, 32, 1), PHL_OK);
  CHECK(seen.others > 0, "the other thread does not come back");
  phl_pool_destroy(pool);
}

static void test_arguments(void) {
  phl_pool *pool = NULL;
  CHECK_STATUS(phl_pool_create(0, &pool), PHL_ERR_ARGUMENT);
  CHECK_STATUS(phl_pool_create(1025, &pool), PHL_ERR_ARGUMENT);
  CHECK_STATUS(phl_pool_create(2, NULL), PHL_ERR_ARGUMENT);
  CHECK_STATUS(phl_pool_parallel_for(NULL, NULL, NULL, 1, 1), PHL_ERR_ARGUMENT);
  CHECK_STATUS(phl_pool_parallel_for(NULL, visit, NULL, -1, 1),
               PHL_ERR_ARGUMENT);
  CHECK_STATUS(phl_pool_parallel_for(NULL, visit, NULL, 1, 0),
               PHL_ERR_ARGUMENT);
  phl_pool_destroy(NULL);
}

static void test_huge_loop(void) {
  nested counter = {NULL, 0};
  CHECK_STATUS(phl_pool_create(2, &counter.pool), PHL_OK);
  CHECK_STATUS(phl_pool_parallel_for(counter.pool, add_inner, &counter,
                                     INT64_MAX, INT64_MAX / 2),
               PHL_OK);
  CHECK(counter.total == INT64_MAX, "%lld iterations",
        (long long)counter.total);
  phl_pool_destroy(counter.pool);
}

void test_pool(void) {
  test_arguments();
  for (int32_t threads = 0; threads <= 4; ++threads)
    test_loops(threads);
  test_many_loops();
  test_contention();
  test_nested();
  test_callers();
  test_is_parallel();
  test_late();
  test_huge_loop();
}
