/* Buffers with guards around them, for harness.c. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void __asan_poison_memory_region(void const volatile *, size_t)
    __attribute__((weak));
extern void __asan_unpoison_memory_region(void const volatile *, size_t)
    __attribute__((weak));

/* Buffers of a model are aligned to 64 bytes, those of programs to their
 * elements. Neither is aligned to more here, so that a device that takes more
 * for granted fails. */
enum { MOST = 64, GUARD = 256, OWN = 64, GIVEN = 8, CANARY = 0xC5 };

typedef struct {
  unsigned char *all, *data;
  size_t bytes;
  size_t gaps[2 * 1024];
  int gap_count;
} buffer;

static void fail(int code, const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "phaseline: ");
  vfprintf(stderr, format, list);
  fprintf(stderr, "\n");
  va_end(list);
  fflush(stderr);
  _Exit(code);
}

static void guard(unsigned char *at, size_t bytes) {
  if (__asan_unpoison_memory_region)
    __asan_unpoison_memory_region(at, bytes);
  memset(at, CANARY, bytes);
  if (__asan_poison_memory_region)
    __asan_poison_memory_region(at, bytes);
}

/* Fails if something was written to a guard. */
static void look(unsigned char *at, size_t bytes, const char *what, int number,
                 const char *where) {
  if (__asan_unpoison_memory_region)
    __asan_unpoison_memory_region(at, bytes);
  for (size_t i = 0; i < bytes; i++)
    if (at[i] != CANARY)
      fail(11, "writes %s %s %d (byte %zu of the guard)", where, what, number,
           i);
  if (__asan_poison_memory_region)
    __asan_poison_memory_region(at, bytes);
}

static void make(buffer *b, size_t bytes, size_t alignment) {
  b->bytes = bytes;
  b->all = aligned_alloc(GUARD, (2 * GUARD + alignment + bytes + GUARD - 1) /
                                    GUARD * GUARD);
  if (!b->all)
    fail(12, "no memory for %zu bytes", bytes);
  b->data = b->all + GUARD + alignment;
  guard(b->all, GUARD + alignment);
  guard(b->data + bytes, GUARD);
}

static void fill(buffer *b, int byte) {
  memset(b->data, byte, b->bytes);
  for (int i = 0; i < b->gap_count; i++)
    guard(b->data + b->gaps[2 * i], b->gaps[2 * i + 1] - b->gaps[2 * i]);
}

static void open_gaps(buffer *b) {
  for (int i = 0; i < b->gap_count && __asan_unpoison_memory_region; i++)
    __asan_unpoison_memory_region(b->data + b->gaps[2 * i],
                                  b->gaps[2 * i + 1] - b->gaps[2 * i]);
}

static void look_at(buffer *b, const char *what, int number) {
  if (!b->all)
    return;
  look(b->all, (size_t)(b->data - b->all), what, number, "before");
  look(b->data + b->bytes, GUARD, what, number, "behind");
  for (int i = 0; i < b->gap_count; i++)
    look(b->data + b->gaps[2 * i], b->gaps[2 * i + 1] - b->gaps[2 * i],
         "temporary buffer", i, "behind");
}
