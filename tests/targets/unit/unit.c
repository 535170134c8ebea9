#include "unit.h"

#include <math.h>

float unit_floor_of(float x) { return floorf(x); }
