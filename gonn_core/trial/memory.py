"""Memory: a GPU's peak in a trial, and the error of a trial that runs out of memory."""

from gonn_core.errors import UserError, printable

_SIGNS = ("out of memory", "STATUS_ALLOC_FAILED", "llocate memory", "can't start new thread", "failed to map segment")
"""In messages of CUDA, cuBLAS, cuDNN, torch's allocator, Python and the loader, whose errors have no own type."""


class OutOfMemory(UserError):
    """The GPU or the machine ran out of memory. The trial can resume from its last checkpoint."""

    def __init__(self, problem: str):
        super().__init__(f"out of memory ({printable(problem, 300)})")


def shortage(error: BaseException) -> str | None:
    """The first sentence of an exception about a lack of memory; None for other exceptions."""
    text = str(error)
    is_one = (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or isinstance(error, RuntimeError | OSError | ImportError)
        and any(sign in text for sign in _SIGNS)
    )
    return text.split("\n")[0].split(". ")[0] or type(error).__name__ if is_one else None


def forget_peak(device) -> None:
    """Free the GPU memory that earlier trials of this process left cached, and reset the peak."""
    if device.type == "cuda":
        import torch

        torch.cuda.init()  # or there are no statistics yet to be reset
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory(device) -> int | None:
    """The most bytes of a GPU in tensors since `forget_peak`; None on a CPU."""
    if device.type != "cuda":
        return None
    import torch

    return torch.cuda.max_memory_allocated(device)
