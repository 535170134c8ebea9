"""Protocol 2: C for functions that take absolute values, the default for the others."""

import phaseline_hook


def make(request):
    taken = []
    for name, region in request.functions.items():
        calls = [op for op in region.operations if op.name == "tir.call_extern"]
        if len(region.operations) > 0 and calls:
            taken.append(name)
            request.artifact(
                f"{name}.c",
                "#include <math.h>\n#include <stdint.h>\n"
                f"int32_t {name}(void *device, const float *x, float *y);\n"
                f"int32_t {name}(void *device, const float *x, float *y) {{\n"
                "  (void)device;\n  for (int i = 0; i < 32; i++) y[i] = fabsf(x[i]);\n  return 0;\n}\n",
            )
    request.leave(*(name for name in request.functions if name not in taken))


phaseline_hook.serve(make)
