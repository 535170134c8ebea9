"""Writes the tape of a region: steps over slots, inputs first, with the weights behind each."""

import struct

import phaseline_hook

DENSE, SUM, RELU, FILL = range(4)
BIAS, ACTIVATION = 1, 2


class Tape:
    """The steps of a region."""

    def __init__(self, region):
        self.slots, self.steps = {}, []
        self.bytes = 0
        for value in region.inputs:
            self.slot(value)
        region.walk({"dense": self.dense, "sum": self.sum, "relu": self.relu})
        self.outputs = [self.slot(value) for value in region.outputs]

    def slot(self, value):
        """The slot of a value; a constant is written there first."""
        if value.id not in self.slots:
            self.slots[value.id] = (len(self.slots), value.size)
            self.bytes += 4 * value.size
            if value.constant:
                self.step(FILL, 0, 0, value, value.size, 0, 0, value.constant.raw())
        return self.slots[value.id][0]

    def step(self, kind, a, b, result, rows, depth, columns, data=b"", flags=0):
        head = (kind, a, b, self.slot(result), rows, depth, columns, flags, len(data) // 4)
        self.steps.append(struct.pack("<9I", *head) + data)

    def dense(self, match):
        x, w = match["x"], match["w"]
        data, flags = w.constant.raw(), 0
        if "b" in match:
            data, flags = data + match["b"].constant.raw(), BIAS
        if match.op("relu"):
            flags |= ACTIVATION
        self.step(DENSE, self.slot(x), 0, match.outputs[0], *x.shape, w.shape[1], data, flags)

    def sum(self, match):
        a, b = self.slot(match["a"]), self.slot(match["b"])
        self.step(SUM, a, b, match.outputs[0], match["a"].size, 0, 0)

    def relu(self, match):
        self.step(RELU, self.slot(match["x"]), 0, match.outputs[0], match["x"].size, 0, 0)


def write(request):
    if len(request.region.operations) > request.options["steps"]:
        phaseline_hook.decline("more steps than a tape has")
    tape = Tape(request.region)
    if tape.bytes > request.pools[0]["left"]:
        phaseline_hook.decline(f"values of {tape.bytes} bytes; the memory has {request.pools[0]['left']}")
    sizes = [size for _, size in tape.slots.values()]
    head = (1, len(request.region.inputs), len(tape.outputs), len(sizes), len(tape.steps))
    words = struct.pack(f"<{5 + len(tape.outputs) + len(sizes)}I", *head, *tape.outputs, *sizes)
    request.blob(b"TAPE" + words + b"".join(tape.steps))


if __name__ == "__main__":
    phaseline_hook.serve(write)
