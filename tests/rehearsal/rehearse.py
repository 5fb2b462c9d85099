"""A training step and an evaluation of a configuration on a device that pretends: does it run, what runs, how much
memory does it take.

What a GPU would do with it is not known from this: kernels may lack a type, and nothing has numbers or times.
"""

import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from gonn_core.config import TrialConfig, with_values
from gonn_core.evaluation.evaluate import BATCH, score
from gonn_core.features.planes import packed_bytes
from gonn_core.nets import PolicyNet, trial_net
from gonn_core.nets.init import ShapesOnly
from gonn_core.training.batches import Batch, PlaneMaker
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import MEMORY_FORMATS, Trainer
from gonn_core.training.speed import random_batches
from tests.rehearsal.device import NAME, pretended_device
from tests.rehearsal.found import MemoryNeed, Rehearsal
from tests.rehearsal.recorder import Recorder

ROWS = 1000
"""Rows of the view that weight decay is divided by; no operation depends on them."""


def rehearse(
    config: TrialConfig,
    batch_size: int | None = None,
    precision: str | None = None,
    memory_format: str = "channels_last",
    evaluation_batch: int = BATCH,
) -> Rehearsal:
    """One training step and one evaluated batch of `config`, with another batch size or precision where one is given.

    Only in a process of its own: see `tests.rehearsal.device`. What goes wrong in the program is told in the
    result's `error`. Raises NoRehearsal, SettingError.
    """
    config = _changed(config, batch_size, precision)
    device = pretended_device()
    fake = FakeTensorMode()
    recorder = Recorder(device, fake)
    need = MemoryNeed()
    error = None
    with fake, _host_generators(), recorder:
        try:
            need = _steps(config, recorder, memory_format, evaluation_batch)
        except Exception as problem:
            error = _told(problem)
    return Rehearsal(
        batch_size=config.training.batch_size,
        precision=config.training.precision,
        evaluation_batch=evaluation_batch,
        error=error,
        operations=tuple(recorder.operations.items()),
        syncs=_named(recorder.syncs),
        copies=_named(recorder.copies),
        unordered=_named(recorder.unordered),
        memory=need,
    )


def _changed(config: TrialConfig, batch_size: int | None, precision: str | None) -> TrialConfig:
    values: dict = {} if precision is None else {"training.precision": precision}
    if batch_size is not None and batch_size != config.training.batch_size:
        samples = max(1, config.training.samples // batch_size) * batch_size
        values |= {"training.batch_size": batch_size, "training.samples": samples}
    return with_values(config, values, "rehearsal") if values else config


def _steps(config: TrialConfig, recorder: Recorder, memory_format: str, evaluation_batch: int) -> MemoryNeed:
    device, storages = recorder.device, recorder.storages
    reset_torch(1, device)
    net = trial_net(config, ShapesOnly())
    _move(net, device, MEMORY_FORMATS[memory_format])
    weights = storages.now
    trainer = Trainer(config, ROWS, device, memory_format, net)
    state = storages.now - weights
    maker = PlaneMaker(_store(), config.features, device, MEMORY_FORMATS[memory_format])
    recorder.phase = "input"
    batch = maker.on_device(_host_batch(config, config.training.batch_size))
    storages.forget_peak()
    recorder.phase = "forward"
    loss = trainer.step(batch, lambda _: recorder.enter("forward"))
    training = storages.peak
    gradients = _check_gradients(trainer.net, device)
    if loss.device != device:
        raise RuntimeError(f"the loss is on {loss.device}")
    del batch, loss
    recorder.phase = "input"
    batch = maker.on_device(_host_batch(config, evaluation_batch))
    storages.forget_peak()
    recorder.phase = "evaluation"
    _evaluate(trainer.net, batch)
    return MemoryNeed(weights, state, gradients, training, storages.peak)


def _move(net: PolicyNet, device: torch.device, layout: torch.memory_format) -> None:
    """What `net.to(device, memory_format)` does: torch cannot swap a tensor for one without numbers."""
    for module in net.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                moved = _moved(parameter, device, layout)
                module._parameters[name] = torch.nn.Parameter(moved, parameter.requires_grad)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = _moved(buffer, device, layout)


def _moved(value: torch.Tensor, device: torch.device, layout: torch.memory_format) -> torch.Tensor:
    moved = value.detach().to(device)
    return moved.contiguous(memory_format=layout) if value.dim() == 4 else moved


def _host_batch(config: TrialConfig, size: int) -> Batch:
    """A packed batch as `PlaneMaker.on_host` makes it for a GPU."""
    batch = next(random_batches(_changed(config, size, None), torch.device("cpu"), "contiguous"))
    return batch._replace(planes=torch.zeros((size, packed_bytes(config.features)), dtype=torch.uint8))


def _store() -> SimpleNamespace:
    """A store of one empty row, in which nothing is looked up."""
    return SimpleNamespace(
        stones=np.zeros((1, 12), np.uint64), ladders=np.zeros((1, 6), np.uint64), moves=np.zeros((1, 4), np.int16)
    )


def _check_gradients(net: PolicyNet, device: torch.device) -> int:
    """Their bytes. Raises RuntimeError for one that is not float32 on the device."""
    total = 0
    for name, parameter in net.named_parameters():
        gradient = parameter.grad
        if gradient is None:
            continue
        if gradient.device != device or gradient.dtype != torch.float32:
            raise RuntimeError(f"the gradient of {name} is {gradient.dtype} on {gradient.device}")
        total += gradient.untyped_storage().nbytes()
    return total


@torch.no_grad()
def _evaluate(net: PolicyNet, batch: Batch) -> None:
    """The device's part of one batch of `evaluate`."""
    net.eval()
    policies = net.policies(net.body(batch.planes))
    values = score(policies[:, 0], batch.targets)
    wrong = [value.device for value in values if value.device != batch.planes.device]
    if wrong:
        raise RuntimeError(f"scores are on {wrong[0]}")


@contextmanager
def _host_generators() -> Iterator[None]:
    """A device made in Python has no generators of random numbers; here the host's stand for them."""
    real = torch.Generator

    class OfHost(real):  # type: ignore[misc, valid-type]
        def __new__(cls, device="cpu"):
            return super().__new__(cls, "cpu")

    torch.Generator = OfHost  # type: ignore[misc]
    try:
        yield
    finally:
        torch.Generator = real  # type: ignore[misc]


def _told(problem: Exception) -> str:
    """What went wrong, and the line of this project in which it did."""
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if "gonn_core" in frame.filename]
    frames = [frame for frame in frames if "rehearsal" not in frame.filename] or frames
    where = f" ({frames[-1].filename.rpartition('gonn_core/')[2]}:{frames[-1].lineno})" if frames else ""
    if f"from the '{NAME}' backend" in str(problem):
        return f"numbers of the host, such as a list of indices, are copied to the device{where}"
    return f"{type(problem).__name__}: {str(problem).strip().splitlines()[0] if str(problem) else ''}{where}"


def _named(counts: Counter) -> dict[str, int]:
    return {f"{phase} {name}": count for (phase, name), count in counts.items() if phase not in ("setup", "input")}
