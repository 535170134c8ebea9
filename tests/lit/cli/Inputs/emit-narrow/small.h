#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
static inline int8_t small_add8(int8_t a, int8_t b) { return (int8_t)(a + b); }
static inline int16_t small_mul16(int16_t a, int16_t b) {
  return (int16_t)((int32_t)a * b);
}
static inline bool small_xor(bool a, bool b) { return a != b; }
static inline float small_exp(float x) { return expf(x); }
static inline float small_addf(float x, float y) { return x + y; }
static inline float small_max(float x, float y) {
  return x != x || y != y ? NAN : x > y ? x : y;
}
static inline uint16_t small_half(float x) {
  _Float16 h = (_Float16)x;
  uint16_t b;
  memcpy(&b, &h, 2);
  return b;
}
