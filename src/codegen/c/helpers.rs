//! Small C functions that generated code calls, printed into the files that need them.

use std::collections::BTreeSet;

/// The name and the text of each, in the order in which they are printed: a function comes after
/// those that it calls.
const HELPERS: &[(&str, &str)] = &[
    (
        "f32_bits",
        "\
static inline int32_t f32_bits(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}",
    ),
    (
        "f32_of_bits",
        "\
static inline float f32_of_bits(int32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}",
    ),
    (
        "f64_bits",
        "\
static inline int64_t f64_bits(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}",
    ),
    (
        "f64_of_bits",
        "\
static inline double f64_of_bits(int64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}",
    ),
    (
        "f32_max",
        "\
/* The greater one; NaN if either is. */
static inline float f32_max(float a, float b) {
  return a > b || isnan(a) ? a : b;
}",
    ),
    (
        "f32_min",
        "\
/* The lesser one; NaN if either is. */
static inline float f32_min(float a, float b) {
  return a < b || isnan(a) ? a : b;
}",
    ),
    (
        "f64_max",
        "\
/* The greater one; NaN if either is. */
static inline double f64_max(double a, double b) {
  return a > b || isnan(a) ? a : b;
}",
    ),
    (
        "f64_min",
        "\
/* The lesser one; NaN if either is. */
static inline double f64_min(double a, double b) {
  return a < b || isnan(a) ? a : b;
}",
    ),
    (
        "f16_to_f32",
        "\
/* The value of a binary16. */
static inline float f16_to_f32(uint16_t h) {
  const int exponent = h >> 10 & 31;
  const float fraction = (float)(h & 1023);
  float x;
  if (exponent == 31) {
    x = (h & 1023) != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    x = ldexpf(fraction, -24);
  } else {
    x = ldexpf(fraction + 1024.0f, exponent - 25);
  }
  return (h & 0x8000) != 0 ? -x : x;
}",
    ),
    (
        "f64_to_f16",
        "\
/* The nearest binary16; of two equally near ones the even one. */
static inline uint16_t f64_to_f16(double x) {
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  const double size = fabs(x);
  int exponent;
  double steps;
  if (isnan(x)) return 0x7e00;
  if (size >= 65520.0) return (uint16_t)(sign | 0x7c00);
  if (size < 6.103515625e-05) return (uint16_t)(sign | (uint16_t)rint(ldexp(size, 24)));
  (void)frexp(size, &exponent);
  steps = rint(ldexp(size, 11 - exponent));
  return (uint16_t)(sign | (uint16_t)((exponent + 13) * 1024 + (int)steps));
}",
    ),
    (
        "bf16_to_f32",
        "\
/* The value of a bfloat16: the upper half of a binary32. */
static inline float bf16_to_f32(uint16_t b) {
  const uint32_t bits = (uint32_t)b << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}",
    ),
    (
        "f32_to_bf16",
        "\
/* The nearest bfloat16; of two equally near ones the even one. */
static inline uint16_t f32_to_bf16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (isnan(x)) return (uint16_t)(bits >> 16 | 64);
  return (uint16_t)((bits + 32767 + (bits >> 16 & 1)) >> 16);
}",
    ),
];

/// The texts of the functions of these names.
pub fn texts<'n>(names: &'n BTreeSet<&str>) -> impl Iterator<Item = &'static str> + use<'n> {
    HELPERS.iter().filter(|(name, _)| names.contains(name)).map(|(_, text)| *text)
}

/// The names of all of them.
pub fn names() -> impl Iterator<Item = &'static str> {
    HELPERS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_functions_are_printed() {
        assert_eq!(texts(&BTreeSet::new()).count(), 0);
        let names = BTreeSet::from(["f16_to_f32"]);
        let found: Vec<_> = texts(&names).collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("float f16_to_f32(uint16_t h)"));
    }
}
