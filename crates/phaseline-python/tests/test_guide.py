"""The examples of docs/guides/python.md, run as one program."""

import re
from pathlib import Path

import conftest

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "python.md"


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("net.onnx").write_bytes(conftest.convolution().SerializeToString())
    Path("batches.onnx").write_bytes(conftest.convolution("batch").SerializeToString())
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.M | re.S)
    assert len(blocks) >= 7
    names = {}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), names)
    assert Path("plan.svg").is_file() and Path("trace.json").is_file() and Path("out/metadata.json").is_file()
    assert [op["op"] for op in names["net"].partition.on("mine")] == ["abs"]
