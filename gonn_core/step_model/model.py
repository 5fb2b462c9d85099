"""Seconds of a step, of an evaluation and of a trial on a device: a model, with its assumptions by name.

device = matrix operations / (rate * MATRIX_SHARE) + bytes of all other kernels / (memory's rate * MEMORY_SHARE)
host   = kernels * LAUNCH_SECONDS
step   = the longer of the two: the host asks for later kernels while earlier ones run
"""

from dataclasses import dataclass

from gonn_core.step_model.counts import Counts, Work
from gonn_core.step_model.devices import Device

MATRIX_SHARE = 0.55
"""Of its matrix units' rate that a device reaches in these nets' convolutions; an assumption."""
MEMORY_SHARE = 0.80
"""Of its memory's rate that element-wise passes, norms and sums reach; an assumption."""
LAUNCH_SECONDS = 6e-6
"""Of the host for a kernel without compilation or graphs; an assumption."""
LOADER_THREADS = 8
"""Cores beside the GPU that make one trial's batches; an assumption where the machine is not known."""
START_SECONDS = 30.0
"""Start of the process, its kernels, the net on the device, checkpoints and the end; an assumption."""


@dataclass(frozen=True)
class StepTime:
    """Seconds of a step, and what they are made of."""

    matrix: float
    other: float
    host: float

    @property
    def seconds(self) -> float:
        """Of the step."""
        return max(self.matrix + self.other, self.host)

    @property
    def limit(self) -> str:
        """What most of it goes into: `matrix work`, `memory traffic` or `launches`."""
        if self.host > self.matrix + self.other:
            return "launches"
        return "matrix work" if self.matrix >= self.other else "memory traffic"


def step_time(work: Work, device: Device) -> StepTime:
    """Of what is counted, on a device."""
    matrix = (work.bf16 / device.bf16 + work.fp32 / device.fp32) / MATRIX_SHARE
    return StepTime(matrix, work.bytes / (device.memory * MEMORY_SHARE), work.kernels * LAUNCH_SECONDS)


def samples_per_s(counts: Counts, device: Device) -> float:
    """Of training steps, the loader aside."""
    return counts.batch_size / step_time(counts.step, device).seconds


def positions_per_s(counts: Counts, device: Device) -> float:
    """Of an evaluation, the loader aside."""
    return counts.evaluation_batch / step_time(counts.evaluation, device).seconds


def trial_seconds(
    samples: int, evaluated: float, samples_per_s: float, positions_per_s: float, loader_positions_per_s: float
) -> float:
    """Of a trial that trains on `samples` and evaluates `evaluated` positions: loader and device work side by side, the
    slower one decides."""
    training = samples / min(samples_per_s, loader_positions_per_s)
    evaluation = evaluated / min(positions_per_s, loader_positions_per_s)
    return START_SECONDS + training + evaluation
