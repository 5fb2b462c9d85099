"""A GPU's memory: what a trial tells of it, and what becomes of a trial for which it is too small."""

from gonn_core.errors import UserError, printable

_SIGNS = ("out of memory", "STATUS_ALLOC_FAILED")
"""In the words of CUDA, cuBLAS and cuDNN, whose errors have no type of their own."""


class OutOfMemory(UserError):
    """The GPU's memory did not suffice. The trial can go on from its last checkpoint, once there is more."""

    def __init__(self, problem: str):
        super().__init__(f"out of GPU memory ({printable(problem, 300)})")


def shortage(error: BaseException) -> str | None:
    """What an exception says of a lack of GPU memory, in one sentence; None when it says something else."""
    text = str(error)
    is_one = (
        type(error).__name__ == "OutOfMemoryError"
        or isinstance(error, RuntimeError)
        and any(sign in text for sign in _SIGNS)
    )
    return text.split("\n")[0].split(". ")[0] if is_one else None


def forget_peak(device) -> None:
    """Start a trial in a process that may have run others: what they hold for later is given back, their peak
    forgotten."""
    if device.type == "cuda":
        import torch

        torch.cuda.init()  # or there are no statistics yet to be reset
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def free_memory(device) -> dict[str, int]:
    """`free_bytes` of the whole GPU, for the event of a trial's start; nothing on a CPU."""
    if device.type != "cuda":
        return {}
    import torch

    return {"free_bytes": torch.cuda.mem_get_info(device)[0]}


def peak_memory(device) -> dict[str, int]:
    """`peak_bytes` in tensors since `forget_peak`, and `reserved_bytes` that this took of the GPU; nothing on a CPU."""
    if device.type != "cuda":
        return {}
    import torch

    return {
        "peak_bytes": torch.cuda.max_memory_allocated(device),
        "reserved_bytes": torch.cuda.max_memory_reserved(device),
    }
