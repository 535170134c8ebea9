#include "loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1024 };

struct loader_device {
  unsigned char memories[2][BYTES];
};

int loader_open(loader_device **device) {
  *device = calloc(1, sizeof **device);
  return *device ? 0 : 1;
}

int loader_close(loader_device *device) {
  free(device);
  return 0;
}

int loader_quantize(loader_device *device, uint32_t tile, const void *host,
                    const struct loader_rows *rows, const float *scales,
                    const int32_t *zeros, uint32_t count) {
  if (rows->columns % count != 0)
    return 2;
  for (uint32_t row = 0; row < rows->rows; row++)
    for (uint32_t column = 0; column < rows->columns; column++) {
      float x;
      memcpy(&x, (const char *)host + row * rows->host_step + 4 * column, 4);
      float code =
          nearbyintf(x / scales[column % count]) + (float)zeros[column % count];
      if (!(code >= -128))
        code = -128;
      const uint32_t place = tile + row * rows->tile_step + column;
      if (place >= BYTES)
        return 3;
      device->memories[0][place] =
          (unsigned char)(int8_t)(code > 127 ? 127 : code);
    }
  return 0;
}

int loader_halve(loader_device *device, uint32_t tile, const void *host,
                 const struct loader_rows *rows, uint32_t element,
                 uint32_t tile_element) {
  if (element != 4 || tile_element != 2)
    return 2;
  for (uint32_t row = 0; row < rows->rows; row++)
    for (uint32_t column = 0; column < rows->columns; column++) {
      float x;
      memcpy(&x, (const char *)host + row * rows->host_step + 4 * column, 4);
      const _Float16 half = (_Float16)x;
      const uint32_t place = tile + row * rows->tile_step + 2 * column;
      if (place + 2 > BYTES)
        return 3;
      memcpy(device->memories[1] + place, &half, 2);
    }
  return 0;
}

int loader_store(loader_device *device, uint32_t memory, uint32_t tile,
                 void *host, const struct loader_rows *rows,
                 uint32_t tile_element) {
  for (uint32_t row = 0; row < rows->rows; row++) {
    const uint32_t place = tile + row * rows->tile_step,
                   bytes = rows->columns * tile_element;
    if (place + bytes > BYTES)
      return 3;
    memcpy((char *)host + row * rows->host_step,
           device->memories[memory] + place, bytes);
  }
  return 0;
}

int loader_copy(loader_device *device, uint32_t memory, uint32_t from,
                uint32_t to, uint32_t rows, uint32_t columns) {
  if (from + rows * columns > BYTES || to + rows * columns > BYTES)
    return 3;
  memmove(device->memories[memory] + to, device->memories[memory] + from,
          rows * columns);
  return 0;
}
