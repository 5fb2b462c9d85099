"""Where a step's time goes: kernels of a GPU, or operations on a CPU, by kind."""

from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.gpu.kernels import CLASSES, kind_of_kernel, kind_of_operation
from gonn_core.training.environment import synchronize

NAMED = 12
"""Of the dearest kernels are told by name."""


def profiled(work: Callable[[], object], device: torch.device, calls: int) -> dict:
    """shares: kind -> part of the time; kernels: a call's (on a CPU: operations that take time of their own);
    busy_seconds: a call's kernels one after the other; dearest: [name, kind, seconds a call, number a call]."""
    on_gpu = device.type == "cuda"
    work()
    synchronize(device)
    with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]) as recorded:
        for _ in range(calls):
            work()
        synchronize(device)
    rows = _on_gpu(recorded) if on_gpu else _on_cpu(recorded)
    if not rows:
        raise RuntimeError("the profiler saw no kernel: is CUPTI there, and may this user read its counters?")
    total = sum(seconds for _, _, seconds, _ in rows)
    shares = {kind: sum(row[2] for row in rows if row[1] == kind) / total for kind in CLASSES}
    dearest = sorted(rows, key=lambda row: -row[2])[:NAMED]
    return {
        "shares": shares,
        "kernels": sum(row[3] for row in rows) / calls,
        "busy_seconds": total / calls,
        "dearest": [[name[:120], kind, seconds / calls, count / calls] for name, kind, seconds, count in dearest],
    }


def _on_gpu(recorded) -> list[tuple[str, str, float, int]]:
    """(name, kind, seconds, number) of what ran on the GPU; ranges that only mark kernels are left out."""
    rows = []
    for event in recorded.key_averages():
        marks = getattr(event, "is_user_annotation", False) or event.key.startswith(
            ("ProfilerStep", "Activity Buffer", "Optimizer.")
        )
        if "CUDA" in str(event.device_type) and not marks and event.self_device_time_total > 0:
            rows.append((event.key, kind_of_kernel(event.key), event.self_device_time_total / 1e6, event.count))
    return rows


def _on_cpu(recorded) -> list[tuple[str, str, float, int]]:
    """The same of operations, by the time that each took itself; those under a thousandth of it only pass work on."""
    events = [event for event in recorded.key_averages() if event.self_cpu_time_total > 0]
    total = sum(event.self_cpu_time_total for event in events)
    return [
        (event.key, kind_of_operation(event.key), event.self_cpu_time_total / 1e6, event.count)
        for event in events
        if event.self_cpu_time_total > total / 1000
    ]
