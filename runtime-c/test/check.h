/*===- check.h - Checks of the runtime's tests --------------------*- C -*-===*/

#ifndef PHL_TEST_CHECK_H
#define PHL_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/** Ends the test program, with place and message, unless `condition` holds. */
#define CHECK(condition, ...)                                                  \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s failed: ", __FILE__, __LINE__, #condition);   \
      fprintf(stderr, __VA_ARGS__);                                            \
      fputc('\n', stderr);                                                     \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/** Checks that a call returned the status that it should. */
#define CHECK_STATUS(call, expected)                                           \
  do {                                                                         \
    const int got_ = (call);                                                   \
    CHECK(got_ == (expected), "%s is %d, expected %d", #call, got_,            \
          (int)(expected));                                                    \
  } while (0)

#endif /* PHL_TEST_CHECK_H */
