#include "inst.h"

int inst_factor(int calls) { return calls == 1 ? GAIN : -1; }
