"""What a net's step and its evaluation consist of, in few numbers."""

from pydantic import BaseModel, ConfigDict

from gonn_core.rehearsal.found import STEP, Phase, Rehearsal


class Work(BaseModel):
    """bf16, fp32: operations of convolutions, matrices and attention in each type; bytes: read and written by all other
    kernels; kernels: of all kinds."""

    model_config = ConfigDict(frozen=True)

    bf16: int
    fp32: int
    bytes: int
    kernels: int


class Counts(BaseModel):
    """Of a step on `batch_size` samples and of an evaluation's batch; memory: bytes at most."""

    model_config = ConfigDict(frozen=True)

    batch_size: int
    step: Work
    evaluation_batch: int
    evaluation: Work
    memory: int


def counts_of(rehearsed: Rehearsal) -> Counts:
    """What the model asks of a rehearsal. Raises ValueError for one that failed."""
    if rehearsed.error is not None:
        raise ValueError(rehearsed.error)
    return Counts(
        batch_size=rehearsed.batch_size,
        step=_work(rehearsed, STEP),
        evaluation_batch=rehearsed.evaluation_batch,
        evaluation=_work(rehearsed, ("evaluation",)),
        memory=rehearsed.memory.peak,
    )


def _work(rehearsed: Rehearsal, phases: tuple[Phase, ...]) -> Work:
    lower = upper = other = kernels = 0
    for operation, count in rehearsed.of(phases):
        kernels += operation.kernels * count
        if operation.flops and operation.dtype == "bfloat16":
            lower += operation.flops * count
        elif operation.flops:
            upper += operation.flops * count
        elif operation.kernels:
            other += (operation.read_bytes + operation.written_bytes) * count
    return Work(bf16=lower, fp32=upper, bytes=other, kernels=kernels)
