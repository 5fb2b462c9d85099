"""A training step and an evaluation of a configuration on the simulated GPU: does it run, and what runs.

Kernels of a real GPU may still lack a type, and nothing has numbers or times.
"""

import traceback
from types import SimpleNamespace
from unittest import mock

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from gonn_core.config import TrialConfig, with_values
from gonn_core.evaluation.evaluate import score
from gonn_core.features.planes import packed_bytes
from gonn_core.nets import PolicyNet, trial_net
from gonn_core.nets.init import ShapesOnly
from gonn_core.training.batches import Batch, PlaneMaker
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import Trainer
from gonn_core.training.speed import random_batches
from tests.rehearsal.device import NAME, simulated_device
from tests.rehearsal.recorder import Recorder

_Generator = torch.Generator


class _HostGenerator(_Generator):
    """A device made in Python has no generators of random numbers; the host's replace them."""

    def __new__(cls, device="cpu"):
        return super().__new__(cls, "cpu")


def rehearse(config: TrialConfig, batch_size: int | None = None, precision: str | None = None) -> dict:
    """One training step and one evaluated batch of `config`: the counts of `Recorder`, and `error`, None when nothing
    went wrong. Only in a process of its own: see `tests.rehearsal.device`."""
    values: dict = {"training.precision": precision or config.training.precision}
    if batch_size is not None:
        samples = max(1, config.training.samples // batch_size) * batch_size
        values |= {"training.batch_size": batch_size, "training.samples": samples}
    config = with_values(config, values)
    fake = FakeTensorMode()
    recorder = Recorder(simulated_device(), fake)
    error = None
    with fake, mock.patch.object(torch, "Generator", _HostGenerator), recorder:
        try:
            _steps(config, recorder)
        except Exception as problem:
            error = _described(problem)
    counted = {name: getattr(recorder, name) for name in ("operations", "flops", "syncs", "copies", "unordered")}
    return {"error": error, **counted}


def _steps(config: TrialConfig, recorder: Recorder) -> None:
    device = recorder.device
    reset_torch(1, device)
    net = trial_net(config, ShapesOnly())
    _move(net, device)
    trainer = Trainer(config, 1000, device, "channels_last", net)
    store = SimpleNamespace(  # one empty row, in which nothing is looked up
        stones=np.zeros((1, 12), np.uint64), ladders=np.zeros((1, 6), np.uint64), moves=np.zeros((1, 4), np.int16)
    )
    maker = PlaneMaker(store, config.features, device, torch.channels_last)
    batch = maker.on_device(_host_batch(config))
    recorder.phase = "forward"
    loss = trainer.step(batch)
    gradients = {name: parameter.grad for name, parameter in trainer.net.named_parameters()}
    for name, tensor in {**gradients, "the loss": loss}.items():
        if tensor is not None and (tensor.device != device or tensor.dtype != torch.float32):
            raise RuntimeError(f"{name} is {tensor.dtype} on {tensor.device}")
    recorder.phase = "input"
    batch = maker.on_device(_host_batch(config))
    recorder.phase = "evaluation"
    with torch.no_grad():
        net = trainer.net.eval()
        values = score(net.policies(net.body(batch.planes))[:, 0], batch.targets)
    if wrong := [value.device for value in values if value.device != device]:
        raise RuntimeError(f"scores are on {wrong[0]}")


def _move(net: PolicyNet, device: torch.device) -> None:
    """`net.to(device, memory_format)`: torch cannot swap a tensor for one without numbers."""

    def moved(value: torch.Tensor) -> torch.Tensor:
        value = value.detach().to(device)
        return value.contiguous(memory_format=torch.channels_last) if value.dim() == 4 else value

    for module in net.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = torch.nn.Parameter(moved(parameter), parameter.requires_grad)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = moved(buffer)


def _host_batch(config: TrialConfig) -> Batch:
    """A packed batch as `PlaneMaker.on_host` makes it for a GPU."""
    batch = next(random_batches(config, torch.device("cpu"), "contiguous"))
    return batch._replace(planes=torch.zeros((len(batch.targets), packed_bytes(config.features)), dtype=torch.uint8))


def _described(problem: Exception) -> str:
    """The error, and the line of this project in which it was raised."""
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if "gonn_core" in frame.filename]
    where = f" ({frames[-1].filename.rpartition('gonn_core/')[2]}:{frames[-1].lineno})" if frames else ""
    if f"from the '{NAME}' backend" in str(problem):
        return f"numbers of the host, such as a list of indices, are copied to the device{where}"
    return f"{type(problem).__name__}: {str(problem).strip().partition(chr(10))[0]}{where}"
