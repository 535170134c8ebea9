#include "emit.h"

#include <math.h>

float emit_exp(float x) { return expf(x); }

float emit_inverse(float x) { return 1.0f / x; }
