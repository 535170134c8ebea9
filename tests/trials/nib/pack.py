"""Weights of nib_w8 in panels of four columns, each row by row; the last panel is filled up with zeros."""
import phaseline_hook

WIDTH = 4

request = phaseline_hook.ask()
if request.callee == "nib_w8" and request.input == 1:
    weights = request.constant()
    rows, columns = weights.shape
    panels = (columns + WIDTH - 1) // WIDTH
    packed = []
    for panel in range(panels):
        for row in range(rows):
            for column in range(panel * WIDTH, panel * WIDTH + WIDTH):
                packed.append(weights.values[row * columns + column] if column < columns else 0)
    phaseline_hook.replace(phaseline_hook.Array(weights.dtype, [panels, rows, WIDTH], packed))
