"""Networks: compiled, run on arrays of several kinds, saved, loaded, pickled, measured."""

import json
import pickle
import signal
import subprocess
import sys
import threading
import time

import conftest
import numpy as np
import phaseline as pl
import pytest
from onnx import TensorProto


def image(batch=1, seed=0):
    return np.random.default_rng(seed).standard_normal((batch, 3, 16, 16)).astype(np.float32)


@pytest.mark.parametrize("targets", ["llvm", "vanilla, llvm", "c"])
def test_answers_are_those_of_onnxruntime(model, reference, targets):
    net = pl.compile(model, targets=targets)
    x = image()
    (expected,) = reference(conftest.convolution(), x=x)
    np.testing.assert_allclose(net(x), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(net(x=x), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(net({"x": x}), expected, rtol=1e-4, atol=1e-5)
    assert net.inputs == (pl.Port("x", "float32", (1, 3, 16, 16)),)
    assert net.outputs == (pl.Port("y", "float32", (1, 10)),)


def test_sizes_of_a_range_are_given_by_runs(reference):
    model = conftest.convolution("batch")
    net = pl.compile(model, shapes={"batch": (1, 4)})
    assert net.sizes == {"batch": range(1, 5)}
    for batch in (1, 3, 4):
        x = image(batch)
        (expected,) = reference(model, x=x)
        assert net(x).shape == (batch, 10)
        np.testing.assert_allclose(net(x), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(pl.InvalidError, match="batch"):
        net(image(5))


@pytest.mark.parametrize("size", [2, range(2, 3), [2, 3, 16, 16]])
def test_a_size_is_a_number_a_range_or_the_shape_of_an_input(size):
    name = "x" if isinstance(size, list) else "batch"
    net = pl.compile(conftest.convolution("batch"), shapes={name: size})
    assert net.inputs[0].shape == (2, 3, 16, 16)


def test_outputs_have_names():
    net = pl.compile(conftest.two_outputs())
    a, b = np.ones((4, 6), np.float32), np.full((4, 6), 3, np.float32)
    outputs = net(a, b)
    assert outputs.names == ("sum", "difference") and len(outputs) == 2
    np.testing.assert_array_equal(outputs["difference"], a - b)
    np.testing.assert_array_equal(outputs[0], a + b)
    total, difference = net(b=b, a=a)
    np.testing.assert_array_equal(difference, a - b)
    np.testing.assert_array_equal(total, a + b)
    again = pickle.loads(pickle.dumps(outputs))
    assert again.names == outputs.names and (again["sum"] == a + b).all()
    with pytest.raises(KeyError, match="sum, difference"):
        outputs["product"]


def test_arrays_that_are_not_dense_are_copied():
    net = pl.compile(conftest.two_outputs())
    whole = np.arange(6 * 8, dtype=np.float32).reshape(6, 8)
    a = whole[:, ::2].T  # Columns of every second.
    b = np.asfortranarray(np.ones((4, 6), np.float32))
    assert not a.flags.c_contiguous
    np.testing.assert_array_equal(net(a, b)["sum"], a + b)
    np.testing.assert_array_equal(net(a[::-1], b)["sum"], a[::-1] + b)


class OnlyDlpack:
    """An array of a library that has DLPack and nothing else."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.taken = array, device, 0

    def __dlpack__(self, **options):
        self.taken += 1
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def test_dlpack_goes_in_and_out():
    net = pl.compile(conftest.two_outputs())
    a, b = np.ones((4, 6), np.float32), np.arange(24, dtype=np.float32).reshape(4, 6)
    given = OnlyDlpack(a)
    transposed = OnlyDlpack(np.ascontiguousarray(b.T).T)
    outputs = net.run({"a": given, "b": transposed})
    assert given.taken == 1
    taken = np.from_dlpack(outputs["sum"])
    np.testing.assert_array_equal(taken, a + b)
    # The same memory, without a copy.
    assert taken.ctypes.data == np.asarray(outputs["sum"]).ctypes.data
    with pytest.raises(TypeError, match="device 2 .* copy it there first"):
        net.run({"a": OnlyDlpack(a, (2, 0)), "b": b})


def test_inputs_are_not_copied_and_their_memory_is_given_back():
    net = pl.compile(conftest.two_outputs())
    a, b = np.ones((4, 6), np.float32), np.ones((4, 6), np.float32)
    before = sys.getrefcount(a)
    for _ in range(100):
        net(a, b)
        net.run([OnlyDlpack(a), b])
    assert sys.getrefcount(a) == before


def test_outputs_live_longer_than_the_network_and_may_be_written():
    net = pl.compile(conftest.two_outputs())
    a = np.ones((4, 6), np.float32)
    first = net(a, a)["sum"]
    del net
    first += 1
    np.testing.assert_array_equal(first, np.full((4, 6), 3))


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "int32", "int64", "uint8"])
def test_types(name):
    code = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16,
            "int32": TensorProto.INT32, "int64": TensorProto.INT64, "uint8": TensorProto.UINT8}[name]
    net = pl.compile(conftest.of_type(code))
    x = np.arange(10).reshape(2, 5).astype(name)
    y = net(x)
    assert y.dtype == np.dtype(name)
    np.testing.assert_array_equal(y, x + x)
    np.testing.assert_array_equal(net(x.tolist()), x + x)


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    net = pl.compile(conftest.of_type(TensorProto.BFLOAT16))
    x = np.arange(10).reshape(2, 5).astype(ml_dtypes.bfloat16)
    y = net(x)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y.astype(np.float32), 2 * np.arange(10, dtype=np.float32).reshape(2, 5))


def test_wrong_inputs_are_told(model):
    net = pl.compile(model)
    with pytest.raises(pl.InvalidError, match="float64"):
        net(image().astype(np.float64))
    with pytest.raises(pl.InvalidError, match="shape"):
        net(image(2))
    with pytest.raises(TypeError, match="no input 'z'; its inputs are x"):
        net(z=image())
    with pytest.raises(TypeError, match="no value is given for input 'x'"):
        net()
    with pytest.raises(TypeError, match="numpy array"):
        net(object())


def test_errors_have_fields(tmp_path):
    manifest = tmp_path / "bad" / "target.toml"
    manifest.parent.mkdir()
    manifest.write_text('[target]\nname = "bad"\nrole = "device"\n\n[[pattern]]\nname = "x"\nmatch = "relu(("\n')
    with pytest.raises(pl.Error) as raised:
        pl.target(manifest)
    assert raised.value.file.endswith("target.toml") and raised.value.line, raised.value
    assert isinstance(raised.value, pl.InvalidError) and isinstance(raised.value, ValueError)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.line, again.message) == (raised.value.line, raised.value.message)
    with pytest.raises(pl.InvalidError) as raised:
        pl.compile(conftest.convolution("batch"))
    assert raised.value.remedy.startswith("give each one size"), raised.value.remedy
    with pytest.raises(pl.FileError) as raised:
        pl.compile("/no/such/file.onnx")
    assert raised.value.file == "/no/such/file.onnx" and isinstance(raised.value, OSError)
    with pytest.raises(pl.InvalidError, match="unexpected argument '--no-such-option'"):
        pl.compile("net.onnx", no_such_option=True)
    with pytest.raises(TypeError, match="net.save"):
        pl.compile("net.onnx", output="out")


def test_packages_are_saved_loaded_and_pickled(model, tmp_path):
    net = pl.compile(model, name="mine")
    x = image()
    expected = net(x)
    folder = net.save(tmp_path / "out")
    assert (folder / "mine.h").is_file() and not (folder / "mine_plan.svg").exists()
    loaded = pl.load(folder)
    np.testing.assert_array_equal(loaded(x), expected)
    assert loaded.name == "mine"
    again = pickle.loads(pickle.dumps(net))
    np.testing.assert_array_equal(again(x), expected)
    twice = pickle.loads(pickle.dumps(again))
    np.testing.assert_array_equal(twice(x), expected)
    np.testing.assert_array_equal(pl.load(loaded.save(tmp_path / "copy"))(x), expected)
    with pytest.raises(pl.InvalidError, match="needs the model"):
        loaded.partition
    (folder / "mine" / "mine.h").write_text("changed")
    with pytest.raises(pl.InvalidError):
        net.save(folder)
    net.save(folder, force=True)


def test_saved_packages_have_the_bytes_of_the_program(model, tmp_path):
    pl.compile(model, "vanilla, llvm").save(tmp_path / "mine")
    command = [sys.executable, "-m", "phaseline", "compile", str(model), "-t", "vanilla, llvm", "-o", str(tmp_path / "own")]
    subprocess.run(command, check=True)
    files = sorted(file.relative_to(tmp_path / "own") for file in (tmp_path / "own").rglob("*") if file.is_file())
    assert files == sorted(f.relative_to(tmp_path / "mine") for f in (tmp_path / "mine").rglob("*") if f.is_file())
    for file in files:
        assert (tmp_path / "own" / file).read_bytes() == (tmp_path / "mine" / file).read_bytes(), file


def test_partition_is_data_text_and_a_page(model):
    net = pl.compile(model, "vanilla, llvm")
    partition = net.partition
    assert [op["op"] for op in partition.on("vanilla")], partition
    assert "conv" in str(partition) and "vanilla" in repr(partition)
    assert "vanilla" in partition.explain()
    assert "<iframe" in partition._repr_html_() and "<svg" in partition.html
    json.dumps(partition.data)
    alone = pl.partition(model, "vanilla, llvm")
    assert alone.data == partition.data


def test_times_traces_and_memory(model, tmp_path):
    net = pl.compile(model, "vanilla, llvm")
    bench = net.bench(seconds=0.1)
    assert 0 < bench.min_ms <= bench.median_ms <= bench.p90_ms and bench.runs >= 10 and "median" in str(bench)
    trace = net.trace(tmp_path / "trace.json")
    assert {"relu", "pool", "matmul"} <= {event["name"] for event in trace["traceEvents"]}, trace
    assert json.loads((tmp_path / "trace.json").read_text()) == trace
    (arena, *_) = net.memory.uses
    assert arena["values_bytes"] > 0 and net.memory.arena_bytes >= arena["values_bytes"]
    picture = net.memory.plot(tmp_path / "plan.svg")
    assert picture._repr_svg_().startswith("<svg") and (tmp_path / "plan.svg").read_text() == picture.svg


def test_threads_of_kernels_and_of_the_program(model):
    net = pl.compile(model, threads=2)
    assert net.threads == 2
    inputs = [image(seed=seed) for seed in range(8)]
    expected = [net(x).copy() for x in inputs]
    found = [None] * len(inputs)

    def work(index):
        for _ in range(50):
            found[index] = net(inputs[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mine, wanted in zip(found, expected):
        np.testing.assert_array_equal(mine, wanted)


def test_a_compile_lets_other_threads_run(model):
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    pl.compile(model)
    done.set()
    thread.join()
    assert counted[0] > 10


def test_progress_is_told(model):
    steps = []
    pl.compile(model, progress=steps.append)
    assert steps[0] == "import" and "partition" in steps and "codegen" in steps

    def stop(step):
        raise RuntimeError(f"at {step}")

    with pytest.raises(RuntimeError, match="at import"):
        pl.compile(model, progress=stop)


INTERRUPTED = """
import signal, sys, threading, time, os
import phaseline as pl
def send():
    time.sleep(0.15)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
sent = []
net = pl.compile(sys.argv[1]) if sys.argv[2] == "bench" else None
threading.Thread(target=send).start()
try:
    while True:
        net.bench(seconds=60) if net else pl.compile(sys.argv[1])
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
"""


@pytest.mark.parametrize("what", ["compile", "bench"])
def test_an_interrupt_is_heard_at_once(model, what):
    command = [sys.executable, "-c", INTERRUPTED, str(model), what]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.stdout and float(ran.stdout) < 0.5, ran
    assert ran.returncode in (0, -signal.SIGINT), ran


def test_the_program(model):
    run = lambda *words: subprocess.run([sys.executable, "-m", "phaseline", *words], capture_output=True, text=True)
    ran = run("run", str(model), "--random-inputs", "1")
    assert ran.returncode == 0 and ran.stdout.startswith("y: float32[1, 10]"), ran
    ran = run("compile", "/no/such.onnx", "-o", "out")
    assert ran.returncode == 1 and ran.stderr.startswith("error: cannot read /no/such.onnx")
    assert run("--version").stdout == f"phaseline {pl.__version__}\n"


def test_the_import_is_quick():
    # Processor time: other programs may be at work.
    text = "import time; begin = time.process_time(); import phaseline; print(time.process_time() - begin)"
    times = [float(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout)
             for _ in range(5)]
    assert min(times) < 0.1, times
