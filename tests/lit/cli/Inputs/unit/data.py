"""Test data of net.mlir, computed by numpy: numbers whose sums are exact."""

import os

import numpy as np
from onnx import numpy_helper

random = np.random.default_rng(3)
x, y = (random.integers(-12, 12, (6, 32)).astype(np.float32) / 4 for _ in range(2))
u, v = (random.integers(0, 256, (5, 20)).astype(np.uint8) for _ in range(2))
clipped = np.clip((x + y) * y - x, -1.5, 2.25)
outputs = [np.floor(clipped @ np.full((32, 24), 0.125, np.float32)), np.maximum(u, v)]

os.makedirs("test_data_set_0", exist_ok=True)
for kind, tensors in (("input", [x, y, u, v]), ("output", outputs)):
    for index, tensor in enumerate(tensors):
        with open(f"test_data_set_0/{kind}_{index}.pb", "wb") as file:
            file.write(numpy_helper.from_array(tensor).SerializeToString())
