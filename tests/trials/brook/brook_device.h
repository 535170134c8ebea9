#ifndef BROOK_DEVICE_H
#define BROOK_DEVICE_H
#include "brook.h"

enum { QUEUES = 4, DEPTH = 32, BLOCKS = 16 };
enum { NO_MEMORY = 1, BAD_ADDRESS, BAD_QUEUE, BAD_ROW };
enum brook_opcode { AFTER, COPY_IN, COPY_OUT, COPY, PRODUCT, GEMM, SOFTMAX, NORM, EMBED, BINARY, UNARY, REDUCE, TRANSPOSE, CHOOSE, JOIN };

/* What a command works on: addresses of the device (but for copies), and numbers. */
typedef struct brook_command {
  enum brook_opcode opcode;
  const void *in[3];
  void *out;
  int64_t ticket, n[16];
  float f[2];
} brook_command;

typedef struct brook_queue {
  brook_command commands[DEPTH];
  /* How many were put into the queue since the device was opened, and how many are done. */
  int64_t put, done;
} brook_queue;

struct brook_device {
  brook_queue queues[QUEUES];
  int64_t count, depth, current, row_size, left;
  float *row;
  unsigned char *blocks[BLOCKS];
  size_t sizes[BLOCKS];
  int status;
};

/* What is at an address, or null if not so many bytes of a block are there. */
void *brook_at(brook_device *d, const void *address, int64_t bytes);
int brook_execute(brook_device *d, const brook_command *c);
#endif
