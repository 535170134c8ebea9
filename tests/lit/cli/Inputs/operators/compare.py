"""compare.py GOT NAME...: outputs in order are what models.py says."""

import sys

import numpy as np

got, want = np.load(sys.argv[1]), np.load("want.npz")
for key, name in zip(got.files, sys.argv[2:], strict=True):
    np.testing.assert_allclose(got[key], want[name], rtol=1e-5, atol=1e-6)
