"""The hook constant-updater: pack.py WAY. One block of each column: its scale, then its weights."""

import sys
from pathlib import Path

import phaseline_hook

Array = phaseline_hook.Array
way = sys.argv[1]
request = phaseline_hook.ask()
weights, scales = (request.constant(number) for number in request.inputs)
rows, columns = weights.shape
if way == "pack":
    packed = []
    for column in range(columns):
        packed += [scales.values[column], *weights.values[column::columns]]
    phaseline_hook.replace(Array("<f4", [columns, rows + 1], packed), request.inputs[0])
    phaseline_hook.leave_out(request.inputs[1])
elif way == "single":
    phaseline_hook.replace(weights)
elif way == "strange":
    phaseline_hook.replace(weights, 7)
elif way == "unknown":
    phaseline_hook.leave_out(0)
elif way == "both":
    phaseline_hook.replace(scales, request.inputs[1])
    phaseline_hook.leave_out(request.inputs[1])
elif way == "answer":
    Path("answer.json").write_text('{"drop": [2]}')
elif way == "none":
    phaseline_hook.fail(f"no packing of {weights.shape} today")
