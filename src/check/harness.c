/* Runs a compiled graph on buffers with guards around them, for `phaseline
 * check-target`.
 *
 * The only argument is a file of what to do, one thing a line:
 *   device OPEN CLOSE STATUS      names of functions, or -
 *   limit SECONDS                 of computing
 *   arena BYTES | constants BYTES FILE | gap arena|constants BEGIN END
 *   on-device NUMBER COPY-IN COPY-OUT WAIT MILLISECONDS BEGIN END VALUES
 *             OFFSET CONSTANTS NAME     what the model has in its memory
 *   hole BEGIN END                      a gap between the values there
 *   input BYTES | output BYTES
 *   run FILE FILE                 the inputs one after the other, where the
 *                                 outputs go
 *   memory                        what runs and devices take, they give back
 * What is wrong is said on stderr, after "phaseline:". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

extern int check_invoke(const void *const *inputs, void *const *outputs,
                        const void *constants, void *arena,
                        void *const *devices, void *pool);
extern size_t __sanitizer_get_current_allocated_bytes(void)
    __attribute__((weak));

#include "phaseline_buffers.h"

static buffer inputs[MOST], outputs[MOST], arena, constants;
static unsigned char *copies[MOST];
static int input_count, output_count, device_count;
/* Runs behind the first that ended with more memory than they began with, and
 * how much the last of them kept. */
static int growing;
static size_t grown;
static void *devices[MOST];
static int (*openers[MOST])(void **), (*closers[MOST])(void *);
static const char *(*texts[MOST])(int);

/* Data of the model in the memory of a device, and the functions that access
 * it. */
typedef struct {
  int device;
  int (*copy_in)(void *, void *, const void *, size_t);
  int (*copy_out)(void *, void *, const void *, size_t);
  int (*wait)(void *), (*wait_for)(void *, int64_t);
  int64_t limit;
  int (*begin)(void *), (*end)(void *);
  char name[256];
  size_t constants_offset;
  /* A copy of the values, with their gaps, and one of the constants. */
  buffer values, constants;
} device_memory;

static device_memory memories[MOST];
static int memory_count;

/* Begin of a device's session. */
typedef struct {
  void *device;
  char *values, *constants;
} session;

static void read_all(FILE *file, void *to, size_t bytes) {
  if (bytes && fread(to, 1, bytes, file) != bytes)
    fail(12, "a file ends early");
}

static void *symbol(const char *name) {
  if (strcmp(name, "-") == 0)
    return NULL;
  void *found = dlsym(RTLD_DEFAULT, name);
  if (!found)
    fail(12, "there is no function %s", name);
  return found;
}

static void open_one(int index) {
  const int code = openers[index] ? openers[index](&devices[index]) : 0;
  if (code == 0)
    return;
  const char *text = texts[index] ? texts[index](code) : NULL;
  fail(10, "cannot be opened: status %d%s%s%s", code, text ? " (" : "",
       text ? text : "", text ? ")" : "");
}

static void open_device(const char *open, const char *close,
                        const char *status) {
  *(void **)&openers[device_count] = symbol(open);
  *(void **)&closers[device_count] = symbol(close);
  *(void **)&texts[device_count] = symbol(status);
  open_one(device_count++);
}

static void close_all(void) {
  for (int i = device_count - 1; i >= 0; i--)
    if (closers[i]) {
      const int code = closers[i](devices[i]);
      if (code != 0)
        fail(10, "cannot be closed: status %d", code);
    }
}

static size_t allocated(void) {
  return __sanitizer_get_current_allocated_bytes
             ? __sanitizer_get_current_allocated_bytes()
             : 0;
}

/* Opens and closes the devices again; what is still there then is lost with
 * every model that is loaded. The first time may fill tables that stay. */
static void reopen(void) {
  const size_t before = allocated();
  for (int i = 0; i < device_count; i++)
    open_one(i);
  close_all();
  const size_t after = allocated();
  if (after > before)
    fail(10, "keeps %zu bytes when it is closed", after - before);
}

static void need(int status, const char *what, const device_memory *m) {
  if (status != 0)
    fail(10, "cannot %s its memory '%s': status %d", what, m->name, status);
}

/* Copies to or from the memory of a device, and waits for that. */
static void move(const device_memory *m, int is_in, char *to, const char *from,
                 size_t bytes) {
  void *device = ((session *)devices[m->device])->device;
  if (bytes == 0)
    return;
  if (m->begin)
    need(m->begin(device), "begin to use", m);
  need((is_in ? m->copy_in : m->copy_out)(device, to, from, bytes),
       is_in ? "write to" : "read from", m);
  if (m->wait_for)
    need(m->wait_for(device, m->limit), "wait for", m);
  else if (m->wait)
    need(m->wait(device), "wait for", m);
  if (m->end)
    need(m->end(device), "end to use", m);
}

/* Fills what a device has of the values: with garbage, and the gaps. */
static void fill_memory(device_memory *m, int garbage) {
  buffer *b = &m->values;
  memset(b->data, garbage, b->bytes);
  for (int i = 0; i < b->gap_count; i++)
    memset(b->data + b->gaps[2 * i], CANARY,
           b->gaps[2 * i + 1] - b->gaps[2 * i]);
  char *values = ((session *)devices[m->device])->values;
  move(m, 1, values, (const char *)b->data, b->bytes);
}

/* Fails if gaps are not as they were, or constants. */
static void look_at_memory(device_memory *m) {
  const session *s = devices[m->device];
  buffer *b = &m->values;
  move(m, 0, (char *)b->data, s->values, b->bytes);
  for (int i = 0; i < b->gap_count; i++)
    for (size_t at = b->gaps[2 * i]; at < b->gaps[2 * i + 1]; at++)
      if (b->data[at] != CANARY)
        fail(11,
             "writes behind buffer %d in its memory '%s' (byte %zu of the "
             "guard)",
             i, m->name, at - b->gaps[2 * i]);
  move(m, 0, (char *)m->constants.data, s->constants, m->constants.bytes);
  for (size_t at = 0; at < m->constants.bytes; at++)
    if (m->constants.data[at] != constants.data[m->constants_offset + at])
      fail(11, "writes to or behind a constant in its memory '%s' (byte %zu)",
           m->name, at);
}

static void add_memory(FILE *plan) {
  device_memory *m = &memories[memory_count++];
  char in[4096], out[4096], wait[4096], begin[4096], end[4096];
  long long limit;
  size_t values, of_constants;
  if (memory_count > MOST ||
      fscanf(plan,
             "%d %4095s %4095s %4095s %lld %4095s %4095s %zu %zu %zu %255s",
             &m->device, in, out, wait, &limit, begin, end, &values,
             &m->constants_offset, &of_constants, m->name) != 11)
    fail(12, "the plan is damaged at a memory");
  *(void **)&m->copy_in = symbol(in);
  *(void **)&m->copy_out = symbol(out);
  *(void **)(limit < 0 ? (void *)&m->wait : (void *)&m->wait_for) =
      symbol(wait);
  *(void **)&m->begin = symbol(begin);
  *(void **)&m->end = symbol(end);
  m->limit = limit;
  make(&m->values, values, OWN);
  make(&m->constants, of_constants, OWN);
}

static void run(const char *from, const char *to, int number) {
  const void *sources[MOST];
  void *targets[MOST];
  /* Not a number as a float, -1 as an integer; then something else. */
  const int garbage = number % 2 ? 0x6B : 0xFF;
  FILE *file = fopen(from, "rb");
  if (!file)
    fail(12, "cannot read %s", from);
  for (int i = 0; i < input_count; i++) {
    read_all(file, copies[i], inputs[i].bytes);
    memcpy(inputs[i].data, copies[i], inputs[i].bytes);
    sources[i] = inputs[i].data;
  }
  fclose(file);
  for (int i = 0; i < output_count; i++) {
    fill(&outputs[i], garbage);
    targets[i] = outputs[i].data;
  }
  if (arena.all) {
    open_gaps(&arena);
    fill(&arena, garbage);
  }
  fprintf(stderr, "run %d\n", number);
  for (int i = 0; i < memory_count; i++)
    fill_memory(&memories[i], garbage);
  const size_t before = allocated();
  const int status =
      check_invoke(sources, targets, constants.data, arena.data, devices, NULL);
  if (status != 0) {
    const char *text = texts[0] ? texts[0](status) : NULL;
    fail(10, "returns status %d%s%s%s", status, text ? " (" : "",
         text ? text : "", text ? ")" : "");
  }
  const size_t after = allocated();
  /* The first run may fill tables that stay. */
  if (number > 0 && after > before) {
    growing++;
    grown = after - before;
  }
  for (int i = 0; i < input_count; i++) {
    look_at(&inputs[i], "input", i);
    if (memcmp(inputs[i].data, copies[i], inputs[i].bytes) != 0)
      fail(11, "writes to its input %d", i);
  }
  for (int i = 0; i < output_count; i++)
    look_at(&outputs[i], "output", i);
  look_at(&arena, "the arena", 0);
  look_at(&constants, "the constants", 0);
  for (int i = 0; i < memory_count; i++)
    look_at_memory(&memories[i]);
  file = fopen(to, "wb");
  for (int i = 0; i < output_count; i++)
    if (!file ||
        fwrite(outputs[i].data, 1, outputs[i].bytes, file) != outputs[i].bytes)
      fail(12, "cannot write %s", to);
  fclose(file);
}

static void limit(int kind, unsigned long most) {
  const struct rlimit bounds = {most, most};
  setrlimit(kind, &bounds);
}

int main(int count, char **arguments) {
  FILE *plan = count == 2 ? fopen(arguments[1], "r") : NULL;
  char word[16], a[4096], b[4096], c[4096];
  size_t bytes, end;
  int number = 0, counts_memory = 0;
  if (!plan)
    fail(12, "no plan");
  limit(RLIMIT_CORE, 0);
  while (fscanf(plan, "%15s", word) == 1) {
    if (strcmp(word, "device") == 0 &&
        fscanf(plan, "%4095s %4095s %4095s", a, b, c) == 3) {
      open_device(a, b, c);
    } else if (strcmp(word, "limit") == 0 && fscanf(plan, "%zu", &bytes) == 1) {
      limit(RLIMIT_CPU, bytes);
    } else if (strcmp(word, "arena") == 0 && fscanf(plan, "%zu", &bytes) == 1) {
      make(&arena, bytes, OWN);
    } else if (strcmp(word, "constants") == 0 &&
               fscanf(plan, "%zu %4095s", &bytes, a) == 2) {
      make(&constants, bytes, OWN);
      FILE *file = fopen(a, "rb");
      if (!file)
        fail(12, "cannot read %s", a);
      read_all(file, constants.data, bytes);
      fclose(file);
    } else if (strcmp(word, "on-device") == 0) {
      add_memory(plan);
    } else if (strcmp(word, "hole") == 0 && memory_count > 0 &&
               fscanf(plan, "%zu %zu", &bytes, &end) == 2) {
      buffer *of = &memories[memory_count - 1].values;
      if (of->gap_count < 1024 && end <= of->bytes && bytes < end) {
        of->gaps[2 * of->gap_count] = bytes;
        of->gaps[2 * of->gap_count++ + 1] = end;
      }
    } else if (strcmp(word, "gap") == 0 &&
               fscanf(plan, "%4095s %zu %zu", a, &bytes, &end) == 3) {
      buffer *of = strcmp(a, "arena") == 0 ? &arena : &constants;
      if (of->gap_count < 1024 && end <= of->bytes && bytes < end) {
        of->gaps[2 * of->gap_count] = bytes;
        of->gaps[2 * of->gap_count++ + 1] = end;
        guard(of->data + bytes, end - bytes);
      }
    } else if (strcmp(word, "input") == 0 && input_count < MOST &&
               fscanf(plan, "%zu", &bytes) == 1) {
      copies[input_count] = malloc(bytes + 1);
      make(&inputs[input_count++], bytes, GIVEN);
    } else if (strcmp(word, "output") == 0 && output_count < MOST &&
               fscanf(plan, "%zu", &bytes) == 1) {
      make(&outputs[output_count++], bytes, GIVEN);
    } else if (strcmp(word, "run") == 0 &&
               fscanf(plan, "%4095s %4095s", a, b) == 2) {
      run(a, b, number++);
    } else if (strcmp(word, "memory") == 0) {
      counts_memory = 1;
    } else {
      fail(12, "the plan is damaged at '%s'", word);
    }
  }
  if (counts_memory && number > 2 && growing == number - 1)
    fail(10, "keeps %zu bytes with each run", grown);
  close_all();
  if (counts_memory && device_count > 0)
    reopen();
  fflush(NULL);
  _Exit(0);
}
