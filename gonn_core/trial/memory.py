"""Memory: what a trial tells of a GPU's, and what becomes of a trial for which that or the machine's is too small."""

from typing import NamedTuple

from gonn_core.errors import UserError, printable

_SIGNS = ("out of memory", "STATUS_ALLOC_FAILED", "llocate memory", "can't start new thread", "failed to map segment")
"""In the words of CUDA, cuBLAS and cuDNN, of torch's allocator, Python and the loader, whose errors have no type of
their own."""


class OutOfMemory(UserError):
    """The memory of the GPU or the machine did not suffice. The trial can go on from its last checkpoint."""

    def __init__(self, problem: str):
        super().__init__(f"out of memory ({printable(problem, 300)})")


class Memory(NamedTuple):
    """Of a GPU, in bytes."""

    peak: int
    """The most in tensors so far."""
    reserved: int
    """What this took of the GPU's memory."""


def shortage(error: BaseException) -> str | None:
    """What an exception says of a lack of memory, in one sentence; None when it says something else."""
    text = str(error)
    is_one = (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or isinstance(error, RuntimeError | OSError | ImportError)
        and any(sign in text for sign in _SIGNS)
    )
    return text.split("\n")[0].split(". ")[0] or type(error).__name__ if is_one else None


def forget_peak(device) -> None:
    """Start a trial in a process that may have run others: what they hold for later is given back, their peak
    forgotten."""
    if device.type == "cuda":
        import torch

        torch.cuda.init()  # or there are no statistics yet to be reset
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def free_memory(device) -> int | None:
    """Bytes that are free of the whole GPU; None on a CPU."""
    if device.type != "cuda":
        return None
    import torch

    return torch.cuda.mem_get_info(device)[0]


def peak_memory(device) -> Memory | None:
    """What was taken since `forget_peak`; None on a CPU."""
    if device.type != "cuda":
        return None
    import torch

    return Memory(torch.cuda.max_memory_allocated(device), torch.cuda.max_memory_reserved(device))
