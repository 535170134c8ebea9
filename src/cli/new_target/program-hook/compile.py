"""The hook graph-to-runtime: compile.py PREFIX REGISTERS.

Is asked about a region. If it is of elementwise operations only, answers with a program of the vector
unit as C (an artifact) and a function that calls it. Else answers nothing: what is left to Phaseline
becomes calls and loops in the usual way.
"""

import math
import re
import sys

import phaseline_hook

OPCODES = {"add": 1, "sub": 2, "mul": 3, "neg": 4, "relu": 5}
ARGUMENT = re.compile(r"(%\w+): (tensor<[^>]*>)")
COMPOSITE = re.compile(r"\s*(%\w+) = graph\.composite .* \((%\w+ = .*?)\) attributes ")
BODY = re.compile(r"\s*%\w+ = graph\.(\w+) (%\w+(?:, %\w+)?)(?: {.*})? : ")
RETURN = re.compile(r"\s*return (%\w+(?:, %\w+)*) : ")


def read(text):
    """The arguments, steps (result, operation, operands) and results of a region; None for a region
    of other things."""
    arguments, steps, bound, result = [], [], {}, None
    for line in text.splitlines():
        if "func.func" in line:
            arguments = ARGUMENT.findall(line.split("->")[0])
        elif found := COMPOSITE.match(line):
            result = found[1]
            bound = dict(pair.split(" = ") for pair in found[2].split(", "))
        elif (found := BODY.match(line)) and found[1] in OPCODES and result:
            steps.append((result, found[1], [bound[name] for name in found[2].split(", ")]))
            result = None
        elif found := RETURN.match(line):
            return arguments, steps, found[1].split(", ")
        elif " = " in line and " = loc(" not in line:
            return None
    return None


def assemble(arguments, steps, registers):
    """Instructions (opcode, result, operand, operand), and the register of each value; None if there
    are more values than registers."""
    places = {name: number for number, (name, _) in enumerate(arguments)}
    code = []
    for result, operation, operands in steps:
        places[result] = len(places)
        sources = [places[operand] for operand in operands]
        code.append((OPCODES[operation], places[result], sources[0], sources[-1]))
    return (code, places) if len(places) <= registers else None


def main(prefix, registers):
    request = phaseline_hook.ask()
    region = read(request.ir())
    program = region and assemble(*region[:2], int(registers))
    if not program:
        return
    (arguments, _, results), (code, places) = region, program
    function = request.function
    name = re.sub(r"\W", "_", function) + "_run"
    type_ = arguments[0][1]
    elements = math.prod(int(size) for size in re.findall(r"(\d+)x", type_))
    ins = [f"in{i}" for i in range(len(arguments))]
    outs = [f"out{i}" for i in range(len(results))]
    parameters = [f"const float *{i}" for i in ins] + [f"float *{o}" for o in outs]
    prototype = f"int {name}({prefix}_device *device, {', '.join(parameters)})"
    phaseline_hook.artifact(f"{name}.h", f'#include "{prefix}_driver.h"\n{prototype};\n')
    phaseline_hook.artifact(f"{name}.c", f"""#include "{name}.h"
{prototype} {{
  static const {prefix}_step code[] = {{{', '.join('{%d, %d, %d, %d}' % step for step in code)}}};
  static const uint8_t results[] = {{{', '.join(str(places[result]) for result in results)}}};
  const float *const in[] = {{{', '.join(ins)}}};
  float *const out[] = {{{', '.join(outs)}}};
  return {prefix}_run(device, code, {len(code)}, {elements}, in, {len(ins)}, out, results, {len(outs)});
}}
""")
    listing = "".join("%d: r%d = r%d, r%d\n" % step for step in code)
    phaseline_hook.artifact(f"{name}.lst", listing)
    of = lambda count: ", ".join([type_] * count)
    signature = ", ".join(f"%{i}: {type_}" for i in ins)
    empty = "".join(f"  %{o} = tensor.empty() : {type_}\n" for o in outs)
    groups = [f"#tir.arg<ins {i}>" for i in range(len(ins))] + [f"#tir.arg<outs {i}>" for i in range(len(outs))]
    values = ", ".join(f"%y#{i}" for i in range(len(outs)))
    phaseline_hook.answer(f"""func.func @"{function}"({signature}) -> ({of(len(outs))}) {{
{empty}  %y:{len(outs)} = tir.call_extern @{name} ins({', '.join('%' + i for i in ins)} : {of(len(ins))})
    outs({', '.join('%' + o for o in outs)} : {of(len(outs))}) args [{', '.join(groups)}]
    {{with_device, returns_status}} -> {of(len(outs))}
  return {values} : {of(len(outs))}
}}
""")


main(*sys.argv[1:])
