"""Writes the blob of a region: a list of elementwise instructions over slots, inputs first."""

import re
import struct
import sys

import phaseline_hook

OPERATIONS = {"relu": 1, "abs": 2, "add": 3}
FILL = 4


class Region:
    """The instructions of a function."""

    def __init__(self):
        self.slots, self.code, self.outputs, self.elements = {}, [], [], None

    def slot(self, name):
        return self.slots.setdefault(name, len(self.slots))

    def line(self, text):
        """Adds a line of IR; false if the device has no instruction for it."""
        constant = re.match(r"(%\w+) = graph.constant dense<([-+.e\d]+)>", text)
        call = re.match(r'(%\w+) = graph.composite "[^".]+\.(\w+)" .*\((%.*?)\) attributes', text)
        if constant:
            bits = struct.unpack("<I", struct.pack("<f", float(constant[2])))[0]
            self.code.append((FILL, bits, 0, self.slot(constant[1])))
        elif call:
            given = [self.slot(pair.split(" = ")[1]) for pair in call[3].split(", ")]
            self.code.append((OPERATIONS[call[2]], given[0], given[-1], self.slot(call[1])))
        elif text.startswith("return "):
            names = text.removeprefix("return ").split(" : ")[0]
            self.outputs = [self.slot(name) for name in names.split(", ")]
        elif "graph.constant" not in text:
            phaseline_hook.fail(f"there is no instruction for: {text}")
        else:
            return False
        return True


def encode(ir, version):
    """The bytes of a function, or None if it is not for this device."""
    region = Region()
    head, *body = ir[ir.index("func.func"):].splitlines()
    for name in re.findall(r"(%\w+): tensor", head):
        region.slot(name)
    inputs = len(region.slots)
    dims = re.search(r"tensor<([\dx]+)xf32>", head)[1]
    elements = 1
    for size in dims.split("x"):
        elements *= int(size)
    for text in body:
        text = re.sub(r" loc\(.*", "", text.strip())
        # The name of a composite stands for its body.
        if re.match(r"%\w+ = graph.(constant|composite)|return", text) and not region.line(text):
            return None
    head = (version, elements, inputs, len(region.outputs), len(region.slots), len(region.code))
    words = [*head, *region.outputs, *(word for line in region.code for word in line)]
    return b"CAPS" + struct.pack(f"<{len(words)}I", *words)


def main():
    request = phaseline_hook.ask()
    content = encode(request.ir(), int(sys.argv[1]))
    if content is not None:
        phaseline_hook.blob(request.function, content)


main()
