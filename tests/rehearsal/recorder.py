"""What runs on the device that pretends, operation by operation, as a mode of torch's dispatcher.

Operations on tensors of the host are carried out: their numbers are there. Those of the device have none; what would
bring one to the host (`item`, `equal`) is counted as a wait of the host for the device and answered with a number that
lets the program go on.
"""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, unset_fake_temporarily
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.flop_counter import flop_registry

from gonn_core.training.determinism import unordered
from tests.rehearsal.found import Operation, Phase
from tests.rehearsal.storages import Storages

TENSORS_A_LAUNCH = 48
"""Of a multi-tensor operation (`_foreach_…`), with two or three lists; torch's limit lies between 30 and 110."""

_ANSWERS: dict[torch.dtype, Any] = {torch.bool: True, torch.float32: 1.0, torch.float64: 1.0, torch.bfloat16: 1.0}

_UNLAUNCHED = {
    "aten.empty",
    "aten.empty_like",
    "aten.empty_strided",
    "aten.new_empty",
    "aten.new_empty_strided",
    "aten._unsafe_view",
    "aten.lift_fresh",
}
"""Operations that are no view by their schema and yet run no kernel."""


class Recorder(TorchDispatchMode):
    """Counts what happens on `device` while it is entered, inside the mode `fake`."""

    def __init__(self, device: torch.device, fake: FakeTensorMode):
        super().__init__()
        self._fake = fake
        self.device, self.storages = device, Storages()
        self.phase: Phase = "setup"
        self.operations: Counter[Operation] = Counter()
        self.syncs: Counter[tuple[Phase, str]] = Counter()
        self.copies: Counter[tuple[Phase, str]] = Counter()
        self.unordered: Counter[tuple[Phase, str]] = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = _tensors((args, kwargs))
        if func is torch.ops.prim.device.default:
            return func(*args, **kwargs)
        if not any(isinstance(tensor, FakeTensor) for tensor in tensors) and self._is_of_host(kwargs):
            return _on_host(func, args, kwargs)
        name = func.__module__.rpartition(".")[2] + "." + func.__name__.partition(".")[0]
        phase = self._phase()
        answer = self._answer(phase, name, func, tensors)
        if answer is not None:
            return answer
        args, kwargs = tree_map_only(torch.Tensor, self._without_numbers, (args, kwargs))
        out = func(*args, **kwargs)
        made = _tensors(out)
        self._count_copies(phase, name, tensors, made, kwargs)
        on_device = [tensor for tensor in made if tensor.device.type == self.device.type]
        for tensor in on_device:
            self.storages.see(tensor)
        if on_device or any(tensor.device.type == self.device.type for tensor in tensors):
            self.operations[_operation(phase, name, func, args, kwargs, out, tensors, made)] += 1
            if unordered(func, args, kwargs):
                self.unordered[phase, name] += 1
        return out

    def _without_numbers(self, tensor: torch.Tensor) -> FakeTensor:
        return tensor if isinstance(tensor, FakeTensor) else self._fake.from_tensor(tensor)

    def enter(self, phase: Phase) -> None:
        """What comes next belongs to `phase`; after a backward pass it is the update by itself."""
        self.phase = phase

    def _phase(self) -> Phase:
        if torch._C._current_graph_task_id() != -1:
            self.phase = "update"  # what comes after
            return "backward"
        return self.phase

    def _is_of_host(self, kwargs: dict) -> bool:
        device = kwargs.get("device")
        return device is None or torch.device(device).type == "cpu"

    def _answer(self, phase: Phase, name: str, func, tensors: list[torch.Tensor]) -> Any:
        """To an operation that asks for a number of the device, or of a copy of it; None to others."""
        if func is torch.ops.aten.is_pinned.default:
            return False
        if func in (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.equal.default):
            if any(tensor.device.type == self.device.type for tensor in tensors):
                self.syncs[phase, name] += 1
            return True if func is torch.ops.aten.equal.default else _ANSWERS.get(tensors[0].dtype, 0)
        if torch.Tag.dynamic_output_shape in func.tags and name != "aten.index":
            self.syncs[phase, name] += 1
        return None

    def _count_copies(self, phase: Phase, name: str, tensors, made, kwargs: dict) -> None:
        """Between host and device; a copy that the host waits for is a sync too. A number (no dimension) that is an
        argument of a kernel is no copy."""
        if not name.startswith(("aten._to_copy", "aten.copy_", "aten._copy_from")):
            return
        if len({tensor.device.type for tensor in (*tensors, *made)}) > 1:
            self.copies[phase, name] += 1
            if not kwargs.get("non_blocking"):
                self.syncs[phase, name] += 1


def _on_host(func, args, kwargs):
    if func is torch.ops.aten._pin_memory.default:
        return args[0]
    kwargs = {name: value for name, value in kwargs.items() if name != "pin_memory"}
    with unset_fake_temporarily():
        return func(*args, **kwargs)


def _tensors(tree) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _operation(phase: Phase, name: str, func, args, kwargs, out, tensors, made) -> Operation:
    dtype = next((str(tensor.dtype).removeprefix("torch.") for tensor in tensors if tensor.is_floating_point()), "")
    kernels = _kernels(name, func, args, tensors, made)
    if not kernels:
        return Operation(phase, name, dtype, 0, 0, 0, 0)
    formula = flop_registry.get(func.overloadpacket)
    flops = int(formula(*args, **kwargs, out_val=out)) if formula else 0
    written = _bytes(made) if made else _bytes(_written(func, args))
    return Operation(phase, name, dtype, kernels, _bytes(tensors), written, flops)


def _kernels(name: str, func, args, tensors, made) -> int:
    if func.is_view or name in _UNLAUNCHED:
        return 0
    if name.startswith("aten._foreach_"):
        return -(-len(_tensors(args[0])) // TENSORS_A_LAUNCH)
    if name == "aten.convolution_backward":
        return sum(args[-1])
    return 1


def _written(func, args) -> list[torch.Tensor]:
    """Of an operation that returns nothing: the arguments that it changes."""
    changed = [
        value
        for argument, value in zip(func._schema.arguments, args, strict=False)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return _tensors(changed)


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    """Of the numbers that are there: those of an expanded dimension once."""
    return sum(
        tensor.element_size()
        * math.prod(size for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride)
        for tensor in tensors
    )
