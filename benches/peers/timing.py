"""Timing of a peer."""

import time
from statistics import median


def median_time(run, least):
    """Median in milliseconds."""
    times, end = [], time.perf_counter() + least
    for _ in range(3):
        run()
    while time.perf_counter() < end or len(times) < 10:
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return median(times)
