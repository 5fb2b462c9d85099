"""What a rehearsal found: plain data, to be written as JSON and summed up."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

Phase = Literal["setup", "input", "forward", "backward", "update", "evaluation"]

STEP: tuple[Phase, ...] = ("forward", "backward", "update")
"""The phases of a training step; copying and unpacking its batch is `input`."""


class Operation(NamedTuple):
    """What is told of a call of an operation; calls of which all of it is equal are counted together."""

    phase: Phase
    name: str
    """As in torch.ops, without the overload: `aten.convolution`."""
    dtype: str
    """Of its first floating tensor, without `torch.`; empty where it has none."""
    kernels: int
    """How many it launches; 0 for views and memory alone. As far as its name tells."""
    read_bytes: int
    written_bytes: int
    flops: int
    """2 per multiply-add of products of matrices, convolutions and attention; 0 of all else."""


class MemoryNeed(NamedTuple):
    """Bytes of tensors on the device, as its allocator rounds them."""

    weights: int = 0
    """And the net's buffers."""
    state: int = 0
    """Of the optimiser, of averaged weights, of sums."""
    gradients: int = 0
    training: int = 0
    """The most at once in a training step: the above, its batch, what the backward pass needs."""
    evaluation: int = 0
    """The most at once in an evaluation, beside what training holds."""

    @property
    def peak(self) -> int:
        """The most at once."""
        return max(self.training, self.evaluation)


class Rehearsal(BaseModel):
    """Of one training step and one evaluated batch on a device that pretends."""

    model_config = ConfigDict(frozen=True)

    batch_size: int
    precision: str
    evaluation_batch: int
    error: str | None
    """What went wrong, and where; None when nothing did."""
    operations: tuple[tuple[Operation, int], ...]
    """Each with how often it was called."""
    syncs: dict[str, int]
    """Waits of the host for the device in step and evaluation, by `<phase> <operation>`."""
    copies: dict[str, int]
    """Copies between host and device in step and evaluation, by `<phase> <operation>`."""
    unordered: dict[str, int]
    """Operations that may give other bits each time on a GPU (gonn_core.training.determinism), likewise."""
    memory: MemoryNeed

    def kernels(self, phases: Iterable[Phase] = STEP) -> int:
        """Launches of kernels."""
        return sum(operation.kernels * count for operation, count in self.of(phases))

    def flops(self, phases: Iterable[Phase] = STEP, dtype: str | None = None) -> int:
        """Operations of matrix work, in one type where one is given."""
        return sum(operation.flops * count for operation, count in self.of(phases) if dtype in (None, operation.dtype))

    def bytes(self, phases: Iterable[Phase] = STEP) -> int:
        """Read and written by kernels, as if nothing stayed in a cache."""
        return sum((one.read_bytes + one.written_bytes) * count for one, count in self.of(phases))

    def of(self, phases: Iterable[Phase]) -> list[tuple[Operation, int]]:
        """The operations of some phases, with how often each was called."""
        wanted = set(phases)
        return [(operation, count) for operation, count in self.operations if operation.phase in wanted]
