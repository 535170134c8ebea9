#include <stddef.h>
#include <stdint.h>
typedef struct core core;
enum core_mode { CORE_COLUMNS, CORE_ROWS };
#define CORE_EXACT 7
struct core_size {
  int8_t kind;
  int32_t depth, columns;
};
struct core_weights {
  char tag;
  const float *data;
  enum core_mode mode;
  struct core_size size;
  const int32_t *dims;
  float *work;
};
typedef struct {
  float low;
  struct core_size step;
  enum core_mode mode;
} core_range;
void core_clip(const float *x, float *y, size_t size, const core_range *range);
int core_open(core **made);
int core_close(core *made);
int core_matmul(core *device, const float *x, float *y, int exact,
                const struct core_weights *w);
