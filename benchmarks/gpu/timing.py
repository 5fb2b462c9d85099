"""Times of work on a device: windows that begin and end with nothing under way, and their median."""

import statistics
import time
from collections.abc import Callable

import torch

from gonn_core.training.environment import synchronize

WINDOWS = 5


def seconds_each(work: Callable[[], object], device: torch.device, seconds: float, windows: int = WINDOWS) -> float:
    """Wall seconds of one call of `work`: the median of windows that take `seconds` in all, after a warm-up of two
    calls. The device is waited for before and after each window."""
    for _ in range(2):
        work()
    synchronize(device)
    times = []
    for _ in range(windows):
        calls = 0
        began = time.perf_counter()
        while True:
            work()
            calls += 1
            if calls % 8 == 0 or device.type == "cpu":
                synchronize(device)  # or the host would queue work far ahead of the clock
            if time.perf_counter() - began >= seconds / windows:
                break
        synchronize(device)
        times.append((time.perf_counter() - began) / calls)
    return statistics.median(times)


def host_seconds(work: Callable[[], object], device: torch.device, calls: int = 15) -> float:
    """Seconds until one call of `work` returns, while nothing else is queued: what the host takes to ask for it. The
    median of the calls."""
    times = []
    for _ in range(calls):
        synchronize(device)
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    synchronize(device)
    return statistics.median(times)
