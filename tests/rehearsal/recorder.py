"""Records what runs on the simulated GPU, operation by operation, as a mode of torch's dispatcher.

An operation that asks for a number of the device (`item`, `equal`) counts as a wait of the host for it, and gets a
number with which the program continues.
"""

from collections import Counter, defaultdict
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.flop_counter import flop_registry

from tests.rehearsal.unordered import unordered

_ANSWERS: dict[torch.dtype, Any] = {torch.bool: True, torch.float32: 1.0, torch.float64: 1.0, torch.bfloat16: 1.0}


class Recorder(TorchDispatchMode):
    """Counts what happens on `device` while it is entered, inside the mode `fake`. Phases are input, forward, backward,
    update, evaluation; counts of input are left out where nothing else is said."""

    def __init__(self, device: torch.device, fake: FakeTensorMode):
        super().__init__()
        self.device, self._fake, self.phase = device, fake, "input"
        self.operations: Counter[str] = Counter()
        """By phase, input included."""
        self.flops: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """Phase -> type -> operations of products of matrices, convolutions and attention, 2 per multiply-add."""
        self.syncs: Counter[str] = Counter()
        """Waits of the host for the device, by `<phase> <operation>`; likewise the next two."""
        self.copies: Counter[str] = Counter()
        """Copies between host and device."""
        self.unordered: Counter[str] = Counter()
        """Operations that may give other bits each time."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = _tensors((args, kwargs))
        if func is torch.ops.prim.device.default:
            return func(*args, **kwargs)
        if not any(isinstance(tensor, FakeTensor) for tensor in tensors) and self._is_of_host(kwargs):
            return _on_host(func, args, kwargs)
        name = func.__module__.rpartition(".")[2] + "." + func.__name__.partition(".")[0]
        in_backward = torch._C._current_graph_task_id() != -1
        phase = "backward" if in_backward else self.phase
        if in_backward:
            self.phase = "update"  # what comes after
        if func is torch.ops.aten.is_pinned.default:
            return False
        if func in (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.equal.default):
            if any(tensor.device.type == self.device.type for tensor in tensors):
                self._count(self.syncs, phase, name)
            return True if func is torch.ops.aten.equal.default else _ANSWERS.get(tensors[0].dtype, 0)
        if torch.Tag.dynamic_output_shape in func.tags and name != "aten.index":
            self._count(self.syncs, phase, name)
        args, kwargs = tree_map_only(torch.Tensor, self._without_numbers, (args, kwargs))
        out = func(*args, **kwargs)
        devices = {tensor.device.type for tensor in (*tensors, *_tensors(out))}
        if name.startswith(("aten._to_copy", "aten.copy_", "aten._copy_from")) and len(devices) > 1:
            self._count(self.copies, phase, name)
            if not kwargs.get("non_blocking"):
                self._count(self.syncs, phase, name)
        if self.device.type in devices:
            self.operations[phase] += 1
            if (formula := flop_registry.get(func.overloadpacket)) is not None:
                kind = next(str(tensor.dtype) for tensor in tensors if tensor.is_floating_point())
                self.flops[phase][kind.removeprefix("torch.")] += int(formula(*args, **kwargs, out_val=out))
            if unordered(func, args, kwargs):
                self._count(self.unordered, phase, name)
        return out

    def _count(self, counts: Counter[str], phase: str, name: str) -> None:
        if phase != "input":
            counts[f"{phase} {name}"] += 1

    def _without_numbers(self, tensor: torch.Tensor) -> FakeTensor:
        return tensor if isinstance(tensor, FakeTensor) else self._fake.from_tensor(tensor)

    def _is_of_host(self, kwargs: dict) -> bool:
        device = kwargs.get("device")
        return device is None or torch.device(device).type == "cpu"


def _on_host(func, args, kwargs):
    if func is torch.ops.aten._pin_memory.default:
        return args[0]
    kwargs = {name: value for name, value in kwargs.items() if name != "pin_memory"}
    with unset_fake_temporarily():
        return func(*args, **kwargs)


def _tensors(tree) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
