/*===- pool.c - The thread pool -----------------------------------*- C -*-===
 *
 * One loop runs at a time. It is cut into chunks, and threads take chunks by
 * advancing one word, the ticket: the number of the loop in its upper half, and
 * in the lower how many chunks are taken from the loop's end and its start.
 * Half of the threads begin at either, so that in loops over the same data a
 * thread mostly meets what it has in its cache. A thread that wakes late sees
 * another loop's number and takes nothing, so the caller waits for chunks,
 * never for threads. A thread that took a chunk may read the loop's fields,
 * because they cannot change before that chunk is done.
 *
 * Threads without work spin for a while, as loops of one inference follow each
 * other closely, and then sleep. A thread whose processor another program takes
 * away in the middle of a chunk keeps the caller waiting for milliseconds; so
 * one for whom the caller had to wait rests for a multiple of that time.
 *
 *===----------------------------------------------------------------------===*/

/* For clock_gettime. */
#define _POSIX_C_SOURCE 199309L

#include "phaseline/runtime.h"

/** Runs the whole loop in the caller, as one part. */
static void run_serially(phl_loop_fn fn, void *context, int64_t n) {
  if (n > 0)
    fn(context, 0, n);
}

#ifdef PHL_NO_THREADS

int phl_pool_create(int32_t threads, phl_pool **out_pool) {
  if (threads < 1 || threads > 1024 || !out_pool)
    return PHL_ERR_ARGUMENT;
  *out_pool = NULL;
  return PHL_OK;
}

void phl_pool_destroy(phl_pool *pool) { (void)pool; }

int32_t phl_pool_threads(const phl_pool *pool) {
  (void)pool;
  return 1;
}

int phl_pool_parallel_for(phl_pool *pool, phl_loop_fn fn, void *context,
                          int64_t n, int64_t grain) {
  (void)pool;
  if (!fn || n < 0 || grain < 1)
    return PHL_ERR_ARGUMENT;
  run_serially(fn, context, n);
  return PHL_OK;
}

#else

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  MAX_THREADS = 1024,
  /* Chunks for each thread: threads that finish early, or wake early, take over
   * from others. A chunk costs a compare-and-swap, tasks take microseconds. */
  CHUNKS_PER_THREAD = 16,
  /* Pauses between two looks at the clock: a pause takes 10 to 60 ns. */
  PAUSES = 32,
  /* Processors fetch the next line of 64 bytes, too. */
  CACHE_LINE = 128
};

/** Time of looking for work before sleeping. A thread that sleeps wakes after
 * 30 to 50 us, in which one core runs the whole loop. The serial work of an
 * inference between two loops is mostly shorter than this. */
static const int64_t SPIN_NS = 500000;

/** A thread is late if the caller waits for it for so long, and for some of its
 * own chunks, which may be shorter than others. */
static const int64_t LATE_NS = 300000;
enum { LATE_CHUNKS = 4 };
/** For how many times that it rests, at most how long, and how often it looks
 * whether the pool ends. A program that goes on computing is met again at the
 * end of each rest, which costs one part in so many. */
enum { RESTS = 16 };
static const int64_t MOST_REST_NS = 100000000, NAP_NS = 5000000;

/* Written data is on other cache lines than read data: else each write takes
 * the whole line away from the other threads. */
#define LINE _Alignas(CACHE_LINE)

struct phl_pool {
  /** phl_pool_parallel_for; compiled models read it from here. */
  int (*parallel_for)(phl_pool *, phl_loop_fn, void *, int64_t, int64_t);
  /** A loop is running. */
  atomic_flag busy;
  _Atomic bool stop;
  /** Workers that have begun. */
  _Atomic int32_t present;
  /** Threads that sleep, or are about to, and have to be woken. */
  _Atomic int32_t sleeping;
  /** The caller sleeps until the last chunk is done. */
  _Atomic bool caller_sleeps;

  /** Loop number << 32 | chunks taken from the end << 16 | from the start. */
  LINE _Atomic uint64_t ticket;

  /** Chunks of the running loop that are done. */
  LINE _Atomic int64_t done;
  /** Time after which the last of them is late; known once the caller waits. */
  _Atomic int64_t late;

  /* The running loop. Written before its ticket is published. */
  LINE phl_loop_fn fn;
  void *context;
  int64_t n, chunk;
  _Atomic int64_t chunks;

  LINE pthread_mutex_t mutex;
  pthread_cond_t work, finished;
  int32_t threads, started;
  pthread_t workers[];
};

static void pause_briefly(void) {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  __builtin_ia32_pause();
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/** The wait of a thread that spins. */
typedef struct {
  int32_t pauses;
  int64_t until;
} spin;

/** Waits for a moment; false when it is time to sleep. */
static bool keep_spinning(spin *self) {
  pause_briefly();
  if (++self->pauses % PAUSES != 0)
    return true;
  const int64_t time = now();
  if (self->until == 0)
    self->until = time + SPIN_NS;
  return time < self->until;
}

static uint32_t loop_of(uint64_t ticket) { return (uint32_t)(ticket >> 32); }

/** Takes a chunk of loop `loop`; -1 if none is left. */
static int64_t take_chunk(phl_pool *pool, uint32_t loop, bool from_end) {
  uint64_t ticket = atomic_load(&pool->ticket);
  for (;;) {
    const int64_t first = (int64_t)(ticket & UINT16_MAX);
    const int64_t last = (int64_t)(ticket >> 16 & UINT16_MAX);
    const int64_t all = atomic_load(&pool->chunks);
    if (loop_of(ticket) != loop || first + last >= all)
      return -1;
    const uint64_t one = from_end ? UINT64_C(1) << 16 : 1;
    if (atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket + one))
      return from_end ? all - 1 - last : first;
  }
}

/** Share of a thread in a loop. */
typedef struct {
  int64_t chunks;
  /** For how long the others were waiting for the last of them. */
  int64_t late_ns;
} share;

/** Takes and runs chunks of loop `loop` until none is left. The loop cannot be
 * over before all that were taken are counted, so they are counted together. */
static share run_chunks(phl_pool *pool, uint32_t loop, bool from_end) {
  int64_t count = 0;
  for (;;) {
    const int64_t index = take_chunk(pool, loop, from_end);
    if (index < 0)
      break;
    const int64_t begin = index * pool->chunk;
    const int64_t left = pool->n - begin;
    pool->fn(pool->context, begin,
             begin + (left < pool->chunk ? left : pool->chunk));
    count += 1;
  }
  if (count == 0)
    return (share){0, 0};
  const int64_t all = atomic_load(&pool->chunks);
  const int64_t late = atomic_load(&pool->late);
  const int64_t time = late == INT64_MAX ? 0 : now();
  /* From here the loop may be over and its fields another's. */
  if (atomic_fetch_add(&pool->done, count) + count != all)
    return (share){count, 0};
  if (atomic_load(&pool->caller_sleeps)) {
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->finished);
    pthread_mutex_unlock(&pool->mutex);
  }
  return (share){count, time > late ? time - late : 0};
}

/** True if there is a loop other than `seen`, or the pool ends. */
static bool has_news(phl_pool *pool, uint32_t seen) {
  return loop_of(atomic_load(&pool->ticket)) != seen ||
         atomic_load(&pool->stop);
}

static void wait_for_news(phl_pool *pool, uint32_t seen) {
  spin wait = {0};
  do {
    if (has_news(pool, seen))
      return;
  } while (keep_spinning(&wait));
  pthread_mutex_lock(&pool->mutex);
  /* Before looking again: who publishes work after that look sees this. */
  atomic_fetch_add(&pool->sleeping, 1);
  while (!has_news(pool, seen))
    pthread_cond_wait(&pool->work, &pool->mutex);
  atomic_fetch_sub(&pool->sleeping, 1);
  pthread_mutex_unlock(&pool->mutex);
}

/** Lets others do the work, for a multiple of a time. */
static void rest(phl_pool *pool, int64_t late_ns) {
  int64_t left =
      late_ns < MOST_REST_NS / RESTS ? late_ns * RESTS : MOST_REST_NS;
  while (left > 0 && !atomic_load(&pool->stop)) {
    const int64_t nap = left < NAP_NS ? left : NAP_NS;
    nanosleep(&(struct timespec){0, (long)nap}, NULL);
    left -= nap;
  }
}

static void *work(void *argument) {
  phl_pool *pool = argument;
  const bool from_end = atomic_fetch_add(&pool->present, 1) % 2 == 0;
  uint32_t seen = 0;
  for (;;) {
    wait_for_news(pool, seen);
    if (atomic_load(&pool->stop))
      return NULL;
    seen = loop_of(atomic_load(&pool->ticket));
    rest(pool, run_chunks(pool, seen, from_end).late_ns);
  }
}

static void wake_all(phl_pool *pool) {
  if (atomic_load(&pool->sleeping) == 0)
    return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
}

static bool init_locks(phl_pool *pool) {
  if (pthread_mutex_init(&pool->mutex, NULL) != 0)
    return false;
  if (pthread_cond_init(&pool->work, NULL) != 0) {
    pthread_mutex_destroy(&pool->mutex);
    return false;
  }
  if (pthread_cond_init(&pool->finished, NULL) != 0) {
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    return false;
  }
  return true;
}

int phl_pool_create(int32_t threads, phl_pool **out_pool) {
  if (threads < 1 || threads > MAX_THREADS || !out_pool)
    return PHL_ERR_ARGUMENT;
  const size_t workers = (size_t)threads - 1;
  const size_t used = sizeof(phl_pool) + workers * sizeof(pthread_t);
  const size_t size = (used + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  phl_pool *pool = aligned_alloc(CACHE_LINE, size);
  if (!pool)
    return PHL_ERR_MEMORY;
  memset(pool, 0, size);
  if (!init_locks(pool)) {
    free(pool);
    return PHL_ERR_SYSTEM;
  }
  atomic_flag_clear(&pool->busy);
  pool->parallel_for = phl_pool_parallel_for;
  pool->threads = threads;
  for (size_t i = 0; i < workers; ++i) {
    if (pthread_create(&pool->workers[i], NULL, work, pool) != 0) {
      phl_pool_destroy(pool);
      return PHL_ERR_SYSTEM;
    }
    pool->started += 1;
  }
  *out_pool = pool;
  return PHL_OK;
}

void phl_pool_destroy(phl_pool *pool) {
  if (!pool)
    return;
  atomic_store(&pool->stop, true);
  wake_all(pool);
  for (int32_t i = 0; i < pool->started; ++i)
    pthread_join(pool->workers[i], NULL);
  pthread_cond_destroy(&pool->finished);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}

int32_t phl_pool_threads(const phl_pool *pool) {
  return pool ? pool->threads : 1;
}

/** Waits until every chunk of the running loop is done. */
static void wait_for_chunks(phl_pool *pool, int64_t chunks) {
  spin wait = {0};
  do {
    if (atomic_load(&pool->done) == chunks)
      return;
  } while (keep_spinning(&wait));
  pthread_mutex_lock(&pool->mutex);
  /* Before looking again: who finishes the last chunk after that sees this. */
  atomic_store(&pool->caller_sleeps, true);
  while (atomic_load(&pool->done) != chunks)
    pthread_cond_wait(&pool->finished, &pool->mutex);
  atomic_store(&pool->caller_sleeps, false);
  pthread_mutex_unlock(&pool->mutex);
}

/** Number of iterations in each chunk. */
static int64_t chunk_size(int32_t threads, int64_t n, int64_t grain) {
  const int64_t wanted = (int64_t)threads * CHUNKS_PER_THREAD;
  const int64_t even = n / wanted + (n % wanted != 0);
  return even > grain ? even : grain;
}

int phl_pool_parallel_for(phl_pool *pool, phl_loop_fn fn, void *context,
                          int64_t n, int64_t grain) {
  if (!fn || n < 0 || grain < 1)
    return PHL_ERR_ARGUMENT;
  if (!pool || pool->threads == 1 || n <= grain ||
      atomic_flag_test_and_set(&pool->busy)) {
    run_serially(fn, context, n);
    return PHL_OK;
  }
  const int64_t chunk = chunk_size(pool->threads, n, grain);
  const int64_t chunks = n / chunk + (n % chunk != 0);
  /* Close the last loop's ticket: else a thread that still looks at it could
   * find the new number of chunks and take one that it does not have. */
  const uint32_t last = loop_of(atomic_load(&pool->ticket));
  atomic_store(&pool->ticket, (uint64_t)last << 32 | UINT32_MAX);
  pool->fn = fn;
  pool->context = context;
  pool->n = n;
  pool->chunk = chunk;
  atomic_store(&pool->done, 0);
  atomic_store(&pool->late, INT64_MAX);
  atomic_store(&pool->chunks, chunks);
  const uint32_t loop = last + 1;
  atomic_store(&pool->ticket, (uint64_t)loop << 32);
  wake_all(pool);
  const int64_t start = now();
  const int64_t own = run_chunks(pool, loop, false).chunks;
  if (own > 0) {
    const int64_t end = now();
    atomic_store(&pool->late,
                 end + LATE_NS + LATE_CHUNKS * (end - start) / own);
  }
  wait_for_chunks(pool, chunks);
  atomic_flag_clear(&pool->busy);
  return PHL_OK;
}

#endif /* PHL_NO_THREADS */
