"""The compiler of Weir: compile.py ARENA ORDER FUSE. A program is words of 32 bits:

    "WEIR", version, slots, instructions, words of constants
    slots: kind (0 arena, 1 input, 2 constant, 3 output), number or offset in floats
    instructions: opcode, function, slots of out, a, b, c, then 24 numbers
    constants
"""
import math
import re
import struct
import sys

import phaseline_hook

ARENA, INPUT, CONSTANT, OUTPUT = range(4)
BINARY, UNARY, CONV, POOL, REDUCE, SOFTMAX, JOIN, PAD, COPY = range(1, 10)
BINARIES = {"add": 0, "sub": 1, "mul": 2, "max": 3, "min": 4}
UNARIES = {"relu": 0, "neg": 1, "abs": 2, "sigmoid": 3, "tanh": 4, "leaky_relu": 5, "clip": 6}
NUMBERS = 24
NOTHING = 0xffffffff


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def shape_of(text):
    return [int(size) for size in re.findall(r"(\d+)x", text)]


class Instruction:
    def __init__(self, opcode, function, out, ins, numbers):
        self.opcode, self.function, self.out, self.ins, self.numbers = opcode, function, out, ins, numbers


class Program:
    def __init__(self, text):
        self.shapes, self.constants, self.code, self.names = {}, {}, [], {}
        self.inputs, self.results, self.resources = [], [], {}
        for name, data in re.findall(r'(\w+): "0x([0-9A-Fa-f]+)"', text[text.rfind("{-#"):] if "{-#" in text else ""):
            self.resources[name] = bytes.fromhex(data)[4:]
        head, *body = text[text.index("func.func"):].splitlines()
        for name, type_ in re.findall(r"(%\w+): tensor<([^>]*)>", head.split("->")[0]):
            self.inputs.append(name)
            self.shapes[name] = shape_of(type_)
        self.complete = all(self.line(re.sub(r" loc\(.*", "", line.strip())) for line in body if "{-#" not in line)

    def value(self, name):
        """A value by its name, also in a composite."""
        while name in self.names:
            name = self.names[name]
        return name

    def constant(self, text, type_):
        if found := re.match(r"dense_resource<(\w+)>", text):
            data = self.resources[found[1]]
        elif found := re.match(r'dense<"0x([0-9A-Fa-f]+)">', text):
            data = bytes.fromhex(found[1])
        else:
            numbers = re.findall(r"0x[0-9A-Fa-f]+|[-+]?\d[-+.\deE]*", text[5:])
            values = [struct.unpack("<f", struct.pack("<I", int(n, 16)))[0] if n.startswith("0x") else float(n) for n in numbers]
            data = None
        shape = shape_of(type_)
        count = math.prod(shape)
        if data is not None:
            form = "f" if type_.endswith("f32") else "q"
            values = struct.unpack(f"<{len(data) // struct.calcsize(form)}{form}", data)
        return list(values) * (count if len(values) == 1 else 1)

    def line(self, text):
        """Takes in a line of IR; false if there is no instruction for it."""
        if found := re.match(r"(%\w+) = graph\.constant (dense.*) : tensor<([^>]*)>", text):
            name = self.fresh(found[1])
            self.constants[name] = self.constant(found[2], found[3])
            self.shapes[name] = shape_of(found[3])
        elif found := re.match(r'(%\w+) = graph\.composite ".*?" target\(.*?\) \((.*?)\) attributes', text):
            self.outer = found[1]
            self.names = {key: value for key, value in self.names.items() if not key.startswith("%inner")}
            for pair in found[2].split(", "):
                inner, outer = pair.split(" = ")
                self.names[inner] = self.value(outer)
        elif found := re.match(r"(%\w+) = graph\.(\w+) (.*) : (.*)", text):
            return self.operation(self.fresh(found[1]), found[2], found[3], shape_of(found[4].split("->")[-1]))
        elif found := re.match(r"graph\.yield (%\w+)", text):
            self.names[self.outer] = self.value(found[1])
        elif found := re.match(r"return (.*?) : ", text):
            self.results = [self.value(name) for name in found[1].split(", ")]
        elif " = " in text and not text.startswith("#"):
            return False
        return True

    def fresh(self, name):
        """A name of its own for a result, since names begin anew in each composite."""
        new = f"v{len(self.shapes)}"
        self.names[name] = new
        return new

    def operation(self, name, op, text, shape):
        self.shapes[name] = shape
        attributes = {key: [int(n) for n in re.findall(r"-?\d+", value)] if value[0] == "[" else value
                      for key, value in re.findall(r"(\w+) = (\[[^\]]*\]|\S+)", text)}
        words = re.findall(r"(?:(\w+) )?(%\w+)", text.split(" = ")[0])
        operands = [self.value(operand) for _, operand in words]
        tags = {word: operand for (word, _), operand in zip(words, operands) if word}
        x = operands[0]
        if op == "conv" or op.endswith("_pool"):
            return self.window(name, op, operands, attributes)
        if op in BINARIES:
            wide = [1] * (4 - len(shape)) + shape
            steps = []
            for operand in operands:
                own = [1] * (4 - len(self.shapes[operand])) + self.shapes[operand]
                steps += [0 if own[d] == 1 else math.prod(own[d + 1:]) for d in range(4)]
            self.code.append(Instruction(BINARY, BINARIES[op], name, operands, wide + steps))
        elif op in UNARIES:
            low = float(attributes.get("alpha", "0.01")) if op == "leaky_relu" else -math.inf
            high = math.inf
            if op == "clip":
                low = self.constants[tags["min"]][0] if "min" in tags else -math.inf
                high = self.constants[tags["max"]][0] if "max" in tags else math.inf
            self.code.append(Instruction(UNARY, UNARIES[op], name, [x], [math.prod(shape), bits(low), bits(high)]))
        elif op in ("reduce_mean", "reduce_max", "softmax"):
            size = self.shapes[x][-1]
            rows = math.prod(self.shapes[x]) // size
            opcode = SOFTMAX if op == "softmax" else REDUCE
            self.code.append(Instruction(opcode, 1 if op == "reduce_max" else 0, name, [x], [rows, size]))
        elif op == "concat":
            axis = int(attributes.get("axis", "0")) % len(shape)
            outer = math.prod(shape[:axis])
            sizes = [math.prod(self.shapes[operand][axis:]) for operand in operands]
            self.code.append(Instruction(JOIN, 0, name, operands, [outer] + sizes))
        elif op == "pad":
            rank = len(shape)
            value = self.constants[tags["value"]][0] if "value" in tags else 0.0
            before = [0] * (4 - rank) + [int(n) for n in self.constants[operands[1]][:rank]]
            own, wide = [1] * (4 - rank) + self.shapes[x], [1] * (4 - rank) + shape
            self.code.append(Instruction(PAD, 0, name, [x], own + before + wide + [bits(value)]))
        else:
            return False
        return True

    def window(self, name, op, operands, attributes):
        n, c, h, w = self.shapes[operands[0]]
        _, out_c, out_h, out_w = self.shapes[name]
        kernel = self.shapes[operands[1]][2:] if op == "conv" else attributes["kernel_shape"]
        strides, dilations = attributes.get("strides", [1, 1]), attributes.get("dilations", [1, 1])
        pads, group = attributes.get("pads", [0, 0, 0, 0]), int(attributes.get("group", "1"))
        include = attributes.get("count_include_pad") == "true"
        numbers = [n, c, h, w, out_c, out_h, out_w, *kernel, *strides, *dilations, *pads[:2], group, include]
        if op == "conv":
            self.code.append(Instruction(CONV, 0, name, operands, numbers))
        else:
            self.code.append(Instruction(POOL, 0 if op == "max_pool" else 1, name, operands, numbers))
        return True

    def fuse(self):
        """Makes relu and clip a part of the convolution in front, if nothing else reads that."""
        uses = {}
        for name in [operand for i in self.code for operand in i.ins] + self.results:
            uses[name] = uses.get(name, 0) + 1
        makers = {i.out: i for i in self.code}
        kept = []
        for i in self.code:
            maker = makers.get(i.ins[0])
            if i.opcode == UNARY and i.function in (0, 6) and maker and maker.opcode == CONV and not maker.function and uses[maker.out] == 1:
                low, high = (bits(0.0), bits(math.inf)) if i.function == 0 else i.numbers[1:3]
                maker.function, maker.out = 1, i.out
                maker.numbers += [low, high]
                makers[i.out] = maker
            else:
                kept.append(i)
        self.code = kept

    def by_demand(self):
        """Orders instructions so that each comes just before what reads it."""
        makers, order, seen = {i.out: i for i in self.code}, [], set()

        def visit(name):
            i = makers.get(name)
            if i is None or id(i) in seen:
                return
            seen.add(id(i))
            for operand in i.ins:
                visit(operand)
            order.append(i)

        for result in self.results:
            visit(result)
        self.code = order

    def assemble(self, arena):
        """The words of the program, or None if its values do not fit the arena."""
        for number, result in enumerate(self.results):
            self.code.append(Instruction(COPY, 0, number, [result], [math.prod(self.shapes[result])]))
        last = {operand: at for at, i in enumerate(self.code) for operand in i.ins}
        slots, places, constants, taken = [], {}, [], []

        def slot(kind, number):
            slots.append((kind, number))
            return len(slots) - 1

        for number, name in enumerate(self.inputs):
            places[name] = slot(INPUT, number)
        words = []
        for at, i in enumerate(self.code):
            for operand in i.ins:
                if operand not in places:
                    places[operand] = slot(CONSTANT, len(constants))
                    constants += [bits(value) for value in self.constants[operand]]
            if i.opcode == COPY:
                out = slot(OUTPUT, i.out)
            else:
                size, start = math.prod(self.shapes[i.out]), 0
                for begin, end, _ in sorted(taken):
                    if begin - start >= size:
                        break
                    start = max(start, end)
                if 4 * (start + size) > arena:
                    return None
                taken.append((start, start + size, i.out))
                out = places[i.out] = slot(ARENA, start)
            taken = [entry for entry in taken if last.get(entry[2], -1) > at]
            ins = [places[operand] for operand in i.ins][:3]
            numbers = i.numbers + [0] * (NUMBERS - len(i.numbers))
            words += [i.opcode, i.function, out, *ins, *[NOTHING] * (3 - len(ins)), *numbers]
        head = [1, len(slots), len(self.code), len(constants)]
        return head + [word for pair in slots for word in pair] + words + constants


def main(arena, order, fuse):
    request = phaseline_hook.ask()
    program = Program(request.ir())
    if not program.complete:
        return
    if fuse == "true":
        program.fuse()
    if order == "demand":
        program.by_demand()
    words = program.assemble(int(arena))
    if words:
        phaseline_hook.blob(request.function, b"WEIR" + struct.pack(f"<{len(words)}I", *(int(word) for word in words)))


main(*sys.argv[1:])
