/*===- semihosting.c - Runs a model on a bare Cortex-M --------------*- C -*-===
 *
 * A program without a library. The bits of its numbers go to the debugger.
 * tests/cross.rs writes input.h, with INPUT.
 *
 *===----------------------------------------------------------------------===*/

#include "input.h"
#include "net.h"
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
float rintf(float x);
void _start(void);

void *memcpy(void *to, const void *from, size_t bytes) {
  unsigned char *p = to;
  const unsigned char *q = from;
  while (bytes--)
    *p++ = *q++;
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  unsigned char *p = to;
  while (bytes--)
    *p++ = (unsigned char)value;
  return to;
}

/** A number without its fraction, to the even one of two. */
float rintf(float x) {
  const float whole = x < 0 ? -8388608.0f : 8388608.0f;
  return x > -8388608.0f && x < 8388608.0f ? (x + whole) - whole : x;
}

static void call(uint32_t number, uint32_t argument) {
  register uint32_t r0 __asm__("r0") = number;
  register uint32_t r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void say(const char *text) { call(4, (uint32_t)text); }

void _start(void) {
  static unsigned char arena[NET_ARENA_BYTES]
      __attribute__((aligned(NET_ARENA_ALIGNMENT)));
  static const float input[] = {INPUT};
  static float output[NET_OUTPUT_0_ELEMENTS];
  if (net_run(input, output, arena) != 0)
    say("STATUS\n");
  for (size_t i = 0; i < NET_OUTPUT_0_ELEMENTS; ++i) {
    char text[] = "00000000\n";
    uint32_t bits;
    memcpy(&bits, output + i, sizeof bits);
    for (size_t j = 0; j < 8; ++j)
      text[j] = "0123456789abcdef"[bits >> (28 - 4 * j) & 15];
    say(text);
  }
  say("END\n");
  call(0x18, 0x20026);
  for (;;)
    ;
}
