/*===- big_endian.c - Runs a model where the highest byte is first -*- C -*-===
 *
 * A program without a library, for Linux on AArch64 with big-endian memory.
 * tests/cross.rs writes wanted.h, with INPUT and WANTED.
 *
 *===----------------------------------------------------------------------===*/

#include "swapped.h"
#include "wanted.h"

void *memcpy(void *to, const void *from, unsigned long bytes) {
  char *p = to;
  const char *q = from;
  while (bytes--)
    *p++ = *q++;
  return to;
}

void *memset(void *to, int value, unsigned long bytes) {
  char *p = to;
  while (bytes--)
    *p++ = (char)value;
  return to;
}

static long call(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}

void _start(void) {
  static unsigned char arena[SWAPPED_ARENA_BYTES + 64]
      __attribute__((aligned(64)));
  static const float input[] = {INPUT}, wanted[] = {WANTED};
  static float output[SWAPPED_OUTPUT_0_ELEMENTS];
  const union {
    unsigned short word;
    unsigned char bytes[2];
  } order = {1};
  int failed = order.bytes[0] != 0;
  const void *const inputs[] = {input};
  void *const outputs[] = {output};
  if (swapped_invoke(inputs, outputs, swapped_constants, arena, 0, 0) != 0)
    failed = 1;
  for (int i = 0; i < SWAPPED_OUTPUT_0_ELEMENTS; ++i)
    if (output[i] != wanted[i])
      failed = 1;
  call(64, 1, (long)(failed ? "FAILED\n" : "PASSED\n"), 7);
  call(93, failed, 0, 0);
}
