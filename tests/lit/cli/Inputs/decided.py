"""Networks whose sizes or steps data, or values of inputs, decide: decided.py PHASELINE TARGET...

Each is compiled once for all of its ranges and run on several inputs; outputs are compared with onnxruntime's.
"""

import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import parser

RNG = np.random.default_rng(1)
CASES = []


def floats(*shape):
    return RNG.standard_normal(shape).astype("f4")


def ints(*values):
    return np.array(values, "i8")


def case(name, text, options, feeds):
    CASES.append((name, text, options, feeds))


def boxes(batch, count):
    """Boxes by two corners, some of which are turned around."""
    corner = RNG.random((batch, count, 2)) * 4
    both = np.concatenate([corner, corner + RNG.random((batch, count, 2)) + 0.5], -1).astype("f4")
    turned = RNG.random((batch, count)) < 0.3
    both[turned] = both[turned][:, [2, 3, 0, 1]]
    return both


def scores(batch, classes, count):
    return RNG.random((batch, classes, count)).astype("f4")


POSITIVE = """g (float[{dims}] x) => (int64[2,k] i, float[k,m] y, float s, int64[2] z, float[k] mean) {{
  c = Constant<value_float=-0.2>() m = Greater(x, c) i = NonZero(m) z0 = Constant<value_int=0>() r = Gather<axis=0>(i, z0)
  y = Gather<axis=0>(x, r) s = ReduceSum<keepdims=0>(y) z = Shape(i) one = Constant<value_ints=[1]>() mean = ReduceMean<keepdims=0>(y, one) }}"""
case("positions", POSITIVE.format(dims="3,4"), [], [{"x": x} for x in (floats(3, 4), -1 - abs(floats(3, 4)), abs(floats(3, 4)))])
case("positions-open", POSITIVE.format(dims="n,m"), ["--shape", "n=1..5", "--shape", "m=2..7", "--buckets", "4"],
     [{"x": floats(*dims)} for dims in ((3, 4), (5, 7), (1, 2))])
case("picked", """g (float[2,6] x, float[6] v) => (float[2,k] y, float[2,k] z, float[k] q) { c = Constant<value_float=0.0>()
  m = Greater(v, c) y = Compress<axis=1>(x, m) z = Softmax<axis=1>(y) q = Compress(x, m) }""", [],
     [{"x": floats(2, 6), "v": abs(floats(6))}, {"x": floats(2, 6), "v": floats(6)}])
DETECT = """g (float[b,n,4] boxes, float[b,3,n] scores) => (int64[k,3] y) { m = Constant<value_ints=[MOST]>() o = Constant<value_floats=[0.3]>()
  t = Constant<value_floats=[0.4]>() y = NonMaxSuppression<center_point_box=CENTER>(boxes, scores, m, o, t) }"""
for center in "01":
    case(f"detect-{center}", DETECT.replace("b,", "2,").replace("CENTER", center).replace("MOST", "5"),
         ["--shape", "n=1..20"], [{"boxes": boxes(2, n), "scores": scores(2, 3, n)} for n in (20, 20, 1, 7)])
case("detect-open", DETECT.replace("CENTER", "0").replace("MOST", "100"), ["--shape", "b=1..3", "--shape", "n=1..20"],
     [{"boxes": boxes(b, n), "scores": scores(b, 3, n)} for b, n in ((1, 1), (2, 20), (3, 7))])
case("range", """g (int64 n) => (int64[k] y) { z = Constant<value_int=0>() o = Constant<value_int=1>() y = Range(z, n, o) }""",
     ["--value", "n=1..9"], [{"n": np.array(5)}, {"n": np.array(9)}])
case("slice", "g (float[4,6] x, int64[1] s, int64[1] e) => (float[a,6] y) { y = Slice(x, s, e) }",
     ["--value", "s=[0..4]", "--value", "e=[0..4]"], [{"x": floats(4, 6), "s": ints(a), "e": ints(b)} for a, b in ((1, 3), (2, 4))])
case("tile", "g (float[4,6] x, int64[2] p) => (float[a,b] y) { y = Tile(x, p) }", ["--value", "p=[1..3,1]"],
     [{"x": floats(4, 6), "p": ints(n, 1)} for n in (2, 3)])
case("expand", "g (float[1,6] x, int64[2] p) => (float[a,b] y) { y = Expand(x, p) }", ["--value", "p=[1..3,6]"],
     [{"x": floats(1, 6), "p": ints(n, 6)} for n in (2, 3)])
case("filled", "g (int64[2] s) => (float[a,b] y) { y = ConstantOfShape(s) }", ["--value", "s=[1..4,2..3]"],
     [{"s": ints(2, 3)}, {"s": ints(4, 2)}])
case("best", "g (float[4,6] x, int64[1] k) => (float[4,a] y, int64[4,a] z) { y, z = TopK(x, k) }", ["--value", "k=[1..6]"],
     [{"x": floats(4, 6), "k": ints(k)} for k in (2, 6)])
ADD = "body (int64 it, bool cin, float[6] s) => (bool cout, float[6] o{}) {{ f = Cast<to=1>(it) o = Add(s, f) {} }}"
WHILE = "t = ReduceMax<keepdims=0>(o) lim = Constant<value_float=5.0>() cout = Less(t, lim)"
case("steps", "g (float[6] x, int64 n) => (float[6] y) { c = Constant<value = bool {1}>() y = Loop(n, c, x) <body = BODY> }"
     .replace("BODY", ADD.format("", "cout = Identity(cin)")), [], [{"x": floats(6), "n": np.array(n)} for n in (4, 0, 100)])
case("while", "g (float[6] x) => (float[6] y) { n = Constant<value_int=100>() c = Constant<value = bool {1}>() y = Loop(n, c, x) <body = BODY> }"
     .replace("BODY", ADD.format("", WHILE)), [], [{"x": floats(6)}, {"x": 9 + floats(6)}])
case("collected", "g (float[6] x, bool c, int64 n) => (float[6] y, float[k,6] z) { y, z = Loop(n, c, x) <body = BODY> }"
     .replace("BODY", ADD.format(", float[6] q", "q = Identity(o) " + WHILE)), ["--value", "n=0..9"],
     [{"x": floats(6), "c": np.array(c), "n": np.array(n)} for c, n in ((True, 2), (True, 9), (False, 3))])

WEIGHTS = {"w": floats(2, 8, 3), "r": floats(2, 8, 2), "b": floats(2, 16)}
case("lstm", """g (float[t,n,3] x, float[2,8,3] w, float[2,8,2] r, float[2,16] b, int32[n] l) => (float[t,2,n,2] y, float[2,n,2] h,
  float[2,n,2] c) { y, h, c = LSTM<hidden_size=2, direction="bidirectional">(x, w, r, b, l) }""",
     ["--shape", "t=1..6", "--shape", "n=1..4"],
     [{"x": floats(t, n, 3), "l": np.array(l, "i4"), **WEIGHTS} for t, n, l in ((6, 4, [6, 1, 5, 2]), (3, 2, [2, 3]), (1, 1, [1]))])
GATES = {"w": floats(1, 6, 3), "r": floats(1, 6, 2), "h": floats(1, 2, 2)}
case("gru", """g (float[t,2,3] x, float[1,6,3] w, float[1,6,2] r, float[1,2,2] h) => (float[t,1,2,2] y, float[t,1,2,2] z)
  { y = GRU<hidden_size=2, direction="reverse">(x, w, r, , , h) a = Constant<value_ints=[0]>() m = ReduceSum<keepdims=1>(y, a)
    z = Sub(y, m) }""",
     ["--shape", "t=1..7"], [{"x": floats(t, 2, 3), **GATES} for t in (7, 1, 4)])
STEP = """b (float[n,6] a, float[n,6] v) => (float[n,6] o, float[n,6] q) { m = Constant<value_ints=[0]>() r = ReduceMax<keepdims=1>(v, m)
  k = ReduceSum<keepdims=1>(a, m) p = Add(a, v) o = Sub(p, r) q = Mul(o, k) }"""
case("scan", "g (float[t,n,6] x, float[n,6] s) => (float[n,6] e, float[t,n,6] y) { e, y = Scan<num_scan_inputs=1, body = STEP>(s, x) }"
     .replace("STEP", STEP), ["--shape", "t=1..5", "--shape", "n=1..3"],
     [{"x": floats(t, n, 6) - 3, "s": floats(n, 6)} for t, n in ((5, 3), (2, 1), (1, 2))])
case("scan-back", """g (float[n,t,6] x, float[n,6] s) => (float[n,6] e, float[n,6,t] y) { e, y = Scan<num_scan_inputs=1, scan_input_axes=[1],
  scan_input_directions=[1], scan_output_axes=[2], scan_output_directions=[1], body = STEP>(s, x) }""".replace("STEP", STEP),
     ["--shape", "t=1..5", "--shape", "n=1..3"], [{"x": floats(n, t, 6), "s": floats(n, 6)} for t, n in ((5, 3), (3, 1), (1, 2))])
case("steps-open", "g (float[b,6] x, int64 n) => (float[b,6] y) { c = Constant<value = bool {1}>() y = Loop(n, c, x) <body = BODY> }"
     .replace("BODY", ADD.format("", "cout = Identity(cin)").replace("float[6]", "float[b,6]")), ["--shape", "b=1..4"],
     [{"x": floats(b, 6), "n": np.array(n)} for b, n in ((4, 3), (1, 0), (2, 30))])
GROW = """body (int64 it, bool cin, float[a,6] s) => (bool cout, float[b,6] o) { m = Constant<value_ints=[0]>()
  z = ReduceMax<keepdims=1>(s, m) w = ReduceMean<keepdims=1>(s, m) v = Add(z, w) o = Concat<axis=0>(s, v) COND }"""
case("grow", "g (float[2,6] x, int64 n) => (float[k,6] y) { c = Constant<value = bool {1}>() y = Loop(n, c, x) <body = BODY> }"
     .replace("BODY", GROW.replace("COND", "cout = Identity(cin)")), ["--value", "n=0..9"],
     [{"x": floats(2, 6) - 2, "n": np.array(n)} for n in (4, 0, 9)])
case("grow-open", "g (float[b,6] x, float[d,6] q, int64 n) => (float[k,6] y) { c = Constant<value = bool {1}>() y = Loop(n, c, x) <body = BODY> }"
     .replace("BODY", GROW.replace("COND", "cout = Identity(cin)").replace("(s, v)", "(s, v, q)")),
     ["--value", "n=0..9", "--shape", "b=1..3", "--shape", "d=1..2"],
     [{"x": floats(b, 6) - 2, "q": floats(d, 6) - 1, "n": np.array(n)} for b, d, n in ((3, 2, 4), (1, 1, 0), (2, 1, 9))])
# Tokens are added until one of them ends the text.
WRITE = """body (int64 it, bool cin, int64[b,a] t, int64[b] old) => (bool cout, int64[b,c] o, int64[b] best) { e = Gather<axis=0>(table, t)
  m = Constant<value_ints=[1]>() h = ReduceMean<keepdims=0>(e, m) l = MatMul(h, w) best = ArgMax<axis=1, keepdims=0>(l)
  u = Unsqueeze(best, m) o = Concat<axis=1>(t, u) z = Constant<value_int=0>() last = ReduceMax<keepdims=0>(best) cout = Greater(last, z) }"""
TABLE = {"table": floats(9, 5), "w": floats(5, 9)}
case("write", """g (int64[b,a] x, int64[b] f, float[9,5] table, float[5,9] w) => (int64[b,k] y, int64[b] z) { n = Constant<value_int=12>()
  c = Constant<value = bool {1}>() y, z = Loop(n, c, x, f) <body = BODY> }""".replace("BODY", WRITE), ["--shape", "b=1..2", "--shape", "a=1..4"],
     [{"x": RNG.integers(0, 9, (b, a)), "f": np.zeros(b, "i8"), **TABLE} for b, a in ((1, 1), (2, 4), (1, 3), (1, 2))])

BRANCHES = """If(c) <then_branch = t () => (float[p,q] a) { a = Relu(x) }, else_branch = e () => (float[r,s] b) { z = Transpose<perm=[1,0]>(x)
  b = Concat<axis=0>(z, z) }>"""
case("if", "g (float[4,6] x, bool c) => (float[a,b] y, float[b] z) { y = BOTH m = Constant<value_ints=[0]>() z = ReduceMax<keepdims=0>(y, m) }"
     .replace("BOTH", BRANCHES), [], [{"x": floats(4, 6) - 2, "c": np.array(c)} for c in (True, False)])
case("if-open", "g (float[n,6] x, bool c) => (float[a,b] y, float[b] z) { y = BOTH m = Constant<value_ints=[0]>() z = ReduceMax<keepdims=0>(y, m) }"
     .replace("BOTH", BRANCHES), ["--shape", "n=1..4"], [{"x": floats(n, 6) - 2, "c": np.array(c)} for n in (4, 2) for c in (True, False)])
case("sums", "g (float[3,4,5] x, int64 a) => (float[3,4,5] y) { y = CumSum<reverse=1>(x, a) }", [],
     [{"x": floats(3, 4, 5), "a": np.array(a)} for a in (0, 1, 2, -1, -3)])


def main(program, *targets):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    bad = 0
    for name, text, arguments, feeds in CASES:
        onnx.save(parser.parse_model('<ir_version: 8, opset_import: ["" : 18]> ' + text), f"{name}.onnx")
        run = onnxruntime.InferenceSession(f"{name}.onnx", options)
        for target in targets:
            command = [program, "compile", f"{name}.onnx", "-t", target, "-o", "out", "--name", "net", *arguments]
            subprocess.run(command, check=True)
            for feed in feeds:
                np.savez("in.npz", **feed)
                subprocess.run([program, "run", "out", "--inputs", "in.npz", "--outputs", "out.npz"], check=True, stdout=subprocess.DEVNULL)
                got = np.load("out.npz")
                for port, want in zip(run.get_outputs(), run.run(None, feed)):
                    value = got[port.name]
                    if value.shape != want.shape or not np.allclose(value, want, atol=1e-5):
                        bad += 1
                        print(f"{name} on {target}: {port.name} is {value.tolist()}, expected {want.tolist()}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
