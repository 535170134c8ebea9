"""Prints the median time of a model in OpenVINO, in milliseconds.

    openvino_time.py MODEL INPUTS.npz THREADS SECONDS
"""

import sys

import numpy as np
import openvino

from timing import median_time


def main():
    model, inputs, threads, least = sys.argv[1:]
    core = openvino.Core()
    options = {"INFERENCE_NUM_THREADS": int(threads), "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
               "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False}
    request = core.compile_model(core.read_model(model), "CPU", options).create_infer_request()
    with np.load(inputs) as arrays:
        for name, value in arrays.items():
            request.set_tensor(name, openvino.Tensor(value))
    print(median_time(request.infer, float(least)))


if __name__ == "__main__":
    main()
