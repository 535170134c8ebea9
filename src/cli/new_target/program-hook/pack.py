"""The hook constant-updater: pack.py FUNCTION.

For a constant that FUNCTION is given, answers with the same matrix as the device reads it: for each row
the number of values that are not zero, then column and value of each, all as int32 (a value by its
bits). For others answers nothing: they stay as they are.
"""

import sys

import phaseline_hook


def main(function):
    request = phaseline_hook.ask()
    if request.callee != function:
        return
    matrix = request.constant()
    rows, columns = matrix.shape
    bits = matrix.as_type("<i4").values
    words = []
    for row in range(rows):
        places = range(row * columns, (row + 1) * columns)
        kept = [place for place in places if matrix.values[place]]
        words.append(len(kept))
        for place in kept:
            words += [place - row * columns, bits[place]]
    phaseline_hook.replace(phaseline_hook.Array("<i4", [len(words)], words))


main(*sys.argv[1:])
