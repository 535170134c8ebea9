/*===- cortex_m.c - Start of a program on a Cortex-M ----------------*- C
 * -*-===*/

#include <stdint.h>

/** Newlib's start, which sets up memory and standard output (semihosting). */
extern void _start(void);
extern uint32_t stack_top[];

static void stop(void) {
  for (;;)
    ;
}

/** Lets the floating-point unit be used, and starts. */
static void reset(void) {
#ifndef NO_FPU
  volatile uint32_t *const cpacr = (uint32_t *)0xE000ED88;
  *cpacr |= 0xFu << 20;
#endif
  __asm volatile("dsb\n isb");
  _start();
}

/** Vector table at address 0. */
__attribute__((section(".vectors"), used)) static const uintptr_t vectors[] = {
    (uintptr_t)stack_top, (uintptr_t)reset, (uintptr_t)stop, (uintptr_t)stop,
    (uintptr_t)stop,      (uintptr_t)stop,  (uintptr_t)stop};
