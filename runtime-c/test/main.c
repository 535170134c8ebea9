/*===- main.c - Runs the runtime's tests --------------------------*- C -*-===
 *
 * Usage: runtime-test [NAME...]. Without a name, all tests.
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

static int run(const char *name) {
  int count = 0;
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; ++i) {
    if (name && strcmp(name, tests[i].name) != 0)
      continue;
    tests[i].run();
    printf("ok %s\n", tests[i].name);
    ++count;
  }
  return count;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    CHECK(run(argv[i]) > 0, "no test is called %s", argv[i]);
  CHECK(argc > 1 || run(NULL) > 0, "there is no test");
  return 0;
}
