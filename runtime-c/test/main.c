/*===- main.c - Runs the runtime's tests --------------------------*- C -*-===
 *
 * Usage: runtime-test [NAME]. Without a name, all tests.
 *
 *===----------------------------------------------------------------------===*/

#include "check.h"

#include <string.h>

/* tests.inc has a line TEST(name) for each function test_name; run.sh writes
 * it. */
#define TEST(name) void test_##name(void);
#include "tests.inc"
#undef TEST

#define TEST(name) {#name, test_##name},
static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {
#include "tests.inc"
};

int main(int argc, char **argv) {
  int count = 0;
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i) {
    if (argc > 1 && strcmp(argv[1], tests[i].name) != 0)
      continue;
    tests[i].run();
    printf("ok %s\n", tests[i].name);
    ++count;
  }
  CHECK(count > 0, "no test is called %s", argv[1]);
  return 0;
}
