/*===- main.c - Runs the runtime's tests --------------------------*- C -*-===
 *
 * Usage: runtime-test [NAME]. Without a name, all tests.
 *
 *===----------------------------------------------------------------------===*/

#include "check.h"

#include <string.h>

static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {{"tensor", test_tensor},
             {"pool", test_pool},
             {"vanilla_dma", test_vanilla_dma},
             {"vanilla_compute", test_vanilla_compute},
             {"vanilla_cycles", test_vanilla_cycles},
             {"cmsis_nn", test_cmsis_nn},
             {"cmsis_nn_conv", test_cmsis_nn_conv},
             {"cmsis_nn_wide", test_cmsis_nn_wide},
             {"npu", test_npu}};

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
