"""Batches made by threads ahead of the steps that use them.

Batch k is a pure function of its number, so the results do not depend on the number of threads or on which of them was
first.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch

from gonn_core.config import FeatureConfig, TrialConfig
from gonn_core.features.planes import is_compiled, make_planes, packed_bytes
from gonn_core.features.sets import computed_planes, plane_indices
from gonn_core.features.source import plane_source
from gonn_core.features.stored_ladders import has_ladders, open_marks
from gonn_core.features.targets import Targets
from gonn_core.go.points import POINTS, SIZE
from gonn_core.records.sampler import Sampler
from gonn_core.records.store import Store


class Batch(NamedTuple):
    """planes (N, C, 19, 19) float32, 0/1; targets (N,) int64 in 0..360; further targets by name
    (gonn_core.features.targets)."""

    planes: torch.Tensor
    targets: torch.Tensor
    extras: Mapping[str, torch.Tensor] = MappingProxyType({})

    def part(self, chosen: slice | torch.Tensor) -> "Batch":
        """The positions of a slice, or with these indices."""
        extras = {name: values[chosen] for name, values in self.extras.items()}
        return Batch(self.planes[chosen], self.targets[chosen], extras)


def ahead(make: Callable[[Any], Any], items: Iterable, threads: int) -> Generator:
    """`map(make, items)`, in order, with `threads` threads working up to two results each ahead of the consumer.

    An exception of `make` is raised where its result was due. Closing the iterator waits for work under way and drops
    it.
    """
    with ThreadPoolExecutor(threads, thread_name_prefix="batches") as pool:
        pending: deque[Future] = deque()
        items = iter(items)
        try:
            for item in items:
                pending.append(pool.submit(make, item))
                if len(pending) > 2 * threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


_OF_HEADS = {"opponent_reply": "future", "joint_reply": "future", "moves_left_class": "moves_left"}
"""Auxiliary head -> the target it learns, where that is not called like the head."""


def extras_of(config: TrialConfig) -> tuple[str, ...]:
    """The further targets that training on `config` needs, as `PlaneMaker` takes them: `future` once for each further
    move."""
    training = config.training
    names = ["illegal"] if training.mask_illegal else []
    extra_moves = config.net.residual.output_planes - 1 if training.policy_weight else 0
    heads = [_OF_HEADS.get(head, head) for head, weight in training.auxiliary.model_dump().items() if weight]
    names += ["future"] * max(extra_moves, int("future" in heads))
    return (*names, *dict.fromkeys(name for name in heads if name != "future"))


class PlaneMaker:
    """Planes and targets of rows of a position store, in the form in which a device wants them.

    For a CPU, `on_host` makes float32 planes in the wanted memory format. For a CUDA device it makes packed bits in
    pinned memory (a thirty-second of the bytes to copy); `on_device` copies without waiting and unpacks there.
    store: an open position store, or anything with `stones`, `ladders` and `moves` as in gonn_core.go.layout.
    extras: names of further targets, see gonn_core.features.targets.
    """

    def __init__(
        self,
        store,
        features: FeatureConfig,
        device: torch.device,
        memory_format: torch.memory_format,
        extras: Sequence[str] = (),
    ):
        self._features, self._source, self._computed = features, plane_source(store), len(computed_planes(features))
        self._device, self._memory_format = device, memory_format
        self._pinned = device.type not in ("cpu", "meta")
        indices = plane_indices(features)
        self._selected = (
            None if len(indices) == self._computed else torch.from_numpy(np.asarray(indices, np.int64)).to(device)
        )
        self._shifts = torch.arange(7, -1, -1, dtype=torch.uint8, device=device)
        self._extras = Targets(store, extras) if extras else None
        self._stored = open_marks(store) if has_ladders(features) and isinstance(store, Store) else None

    @property
    def is_compiled(self) -> bool:
        """Whether `on_host` would run without compiling its first kernel, which calls most of the others."""
        return is_compiled(self._features, self._device.type != "cpu", self._stored is not None)

    def on_host(self, rows: np.ndarray, symmetries: np.ndarray, keep: np.ndarray) -> Batch:
        """rows (N,) int64 of the store, symmetries and keep (N,) uint8; called from threads. Raises ValueError for a
        row without a move."""
        targets = np.empty(len(rows), np.int64)
        if self._device.type == "cpu":
            numbers = np.empty((len(rows), self._computed, SIZE, SIZE), np.float32)
            make_planes(self._features, self._source, rows, symmetries, keep, numbers, targets, self._stored)
            planes = torch.from_numpy(numbers)
            if self._selected is not None:
                planes = planes[:, self._selected]
            planes = planes.contiguous(memory_format=self._memory_format)
        else:
            shape = len(rows), packed_bytes(self._features)
            planes = torch.empty(shape, dtype=torch.uint8, pin_memory=self._pinned)
            packed = planes.numpy()
            make_planes(self._features, self._source, rows, symmetries, keep, packed, targets, self._stored)
        if targets.min() < 0:
            raise ValueError(f"row {rows[targets.argmin()]} of the store has no move to predict")
        extras = self._extras.make(rows, symmetries) if self._extras else {}
        return Batch(
            planes, self._for_copying(targets), {name: self._for_copying(array) for name, array in extras.items()}
        )

    def _for_copying(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).pin_memory() if self._pinned else torch.from_numpy(array)

    def on_device(self, batch: Batch) -> Batch:
        """The batch that `on_host` made, ready for the net."""
        if self._device.type == "cpu":
            return batch
        packed = batch.planes.to(self._device, non_blocking=True)
        targets = batch.targets.to(self._device, non_blocking=True)
        return Batch(
            self._unpack(packed),
            targets,
            {name: extra.to(self._device, non_blocking=True) for name, extra in batch.extras.items()},
        )

    def _unpack(self, packed: torch.Tensor) -> torch.Tensor:
        bits = (packed.unsqueeze(-1) >> self._shifts) & 1
        planes = bits.flatten(1)[:, : self._computed * POINTS].view(-1, self._computed, SIZE, SIZE)
        if self._selected is not None:
            planes = planes[:, self._selected]
        return planes.to(torch.float32, memory_format=self._memory_format)


def training_batches(
    config: TrialConfig, view, maker: PlaneMaker, first: int, stop: int, threads: int
) -> Generator[Batch, None, None]:
    """Batches number first … stop-1 of a trial, on the device."""
    training, data = config.training, config.data
    sampler = Sampler(
        view,
        training.batch_size,
        training.data_seed,
        data.sampling,
        data.augmentation,
        data.history_keep,
        data.history_frozen,
    )
    host = ahead(lambda k: maker.on_host(*sampler.batch(k)), range(first, stop), threads)
    try:
        for batch in host:
            yield maker.on_device(batch)
    finally:
        host.close()
