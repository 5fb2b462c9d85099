"""A net on rows of a position store: metrics of every position.

In fp32 unless another precision is given; with batch normalisation in inference mode (spec: GoNN 1.4, 4.8), in batches
of 256, the last, partial one included. Under the identity symmetry and over all points, unless a reading says
otherwise. A history mode decides how many earlier moves each position shows.
"""

from collections.abc import Callable
from typing import Literal, Protocol, get_args

import numpy as np
import torch

from gonn_core.evaluation.metrics import PLAIN, Reading, Scores
from gonn_core.go.points import SYMMETRY
from gonn_core.nets import PolicyNet
from gonn_core.records.sampler import GONN_KEEP, keep_for_rows
from gonn_core.settings.data import HistoryMode
from gonn_core.settings.features import FeatureConfig
from gonn_core.training.batches import Batch, ahead
from gonn_core.training.objective import NONE

Precision = Literal["fp32", "bf16"]
"""Of a pass of the net, as `training.precision` names it."""
BATCH = 256
_AT_A_TIME = 8
"""Batches that a device other than a CPU is given before the host waits for what it made of them."""


MOST_BYTES = 2**26
"""Of planes that are kept; those beyond are made each time."""


class Maker(Protocol):
    """What makes the batches that an evaluation is made of: see `gonn_core.training.batches.PlaneMaker`."""

    def on_host(self, rows: np.ndarray, symmetries: np.ndarray, keep: np.ndarray) -> Batch: ...

    def on_device(self, batch: Batch) -> Batch: ...


class KeptPlanes:
    """A maker's batches, the same to the last bit, with planes made once for each batch of rows.

    A trial looks at the same positions at every point of its curve. Planes are zeros and ones, so that a byte holds
    what a float32 does; packed bits are kept as they are.
    """

    def __init__(self, maker: Maker, most_bytes: int = MOST_BYTES):
        self._maker, self._room = maker, most_bytes
        self._kept: dict[tuple[bytes, bytes, bytes], tuple[Batch, torch.dtype]] = {}

    def on_host(self, rows: np.ndarray, symmetries: np.ndarray, keep: np.ndarray) -> Batch:
        """As `PlaneMaker.on_host`; called from threads."""
        name = (rows.tobytes(), symmetries.tobytes(), keep.tobytes())
        if name in self._kept:
            kept, kind = self._kept[name]
            return kept if kind == torch.uint8 else kept._replace(planes=kept.planes.to(kind))
        made = self._maker.on_host(rows, symmetries, keep)
        if made.planes.numel() <= self._room:
            self._room -= made.planes.numel()
            self._kept[name] = made._replace(planes=made.planes.to(torch.uint8)), made.planes.dtype
        return made

    def on_device(self, batch: Batch) -> Batch:
        """As `PlaneMaker.on_device`."""
        return self._maker.on_device(batch)


class NotFinite(RuntimeError):
    """A net gives logits that are not finite numbers."""


def score(logits: torch.Tensor, targets: torch.Tensor, illegal: torch.Tensor | None = None) -> tuple[torch.Tensor, ...]:
    """nats (N,) float32, rank (N,) int64, entropy and squared error (N,) float32 from logits (N, 361) and moves played
    (N,).

    illegal (N, 361) bool: points left out of softmax and rank; no move played is among them. Among equal logits the one
    of the lowest point comes first, as in argmax.
    """
    logits = logits.float()
    if illegal is not None:
        logits = logits.masked_fill(illegal, -torch.inf)
    logs = torch.log_softmax(logits, 1)
    shares, played = logs.exp(), targets[:, None]
    own_log = logs.gather(1, played)
    own = logits.gather(1, played)
    points = torch.arange(logits.shape[1], device=logits.device)
    before = (logits > own) | ((logits == own) & (points < played))
    own_share = own_log.exp()[:, 0]
    squared_error = shares.square().sum(1) - 2 * own_share + 1
    return -own_log[:, 0], before.sum(1), torch.special.entr(shares).sum(1), squared_error


def score_later(logits: torch.Tensor, future: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """nats, rank and squared error (N, K-1) of the output planes after the first, from their logits (N, K-1, 361) and
    the moves to come (N, K-1): nan, -1 and nan where there is none. Over all points: nobody knows which will be
    legal."""
    there = future != NONE
    nats, rank, _, squared_error = score(logits.flatten(0, 1), future.clamp(min=0).flatten())
    return (
        nats.view_as(future).masked_fill(~there, torch.nan),
        rank.view_as(future).masked_fill(~there, -1),
        squared_error.view_as(future).masked_fill(~there, torch.nan),
    )


def illegal_probability(logits: torch.Tensor, illegal: torch.Tensor) -> torch.Tensor:
    """(N,) float32: what the softmax over all points of logits (N, 361) gives to the illegal ones, (N, 361) bool. A net
    that was trained on legal points alone has learnt nothing of the others."""
    return torch.softmax(logits.float(), 1).masked_fill(~illegal, 0.0).sum(1)


def turned_back(logits: torch.Tensor, symmetry: int, points: torch.Tensor | None = None) -> torch.Tensor:
    """logits (…, 361) of positions that were turned by `symmetry`, at the points of the positions as they were.

    points: what `turned_points` says of the symmetry, where the device is not to be sent it again and again."""
    if symmetry == 0:
        return logits
    return logits[..., turned_points(symmetry, logits.device) if points is None else points]


def turned_points(symmetry: int, device: torch.device) -> torch.Tensor:
    """(361,) int64 on a device: where each point is in a position that was turned by `symmetry`."""
    return torch.from_numpy(SYMMETRY[symmetry]).to(device)


def _policies(net: torch.nn.Module, batch: Batch, precision: Precision) -> torch.Tensor:
    """(N, K, 361): of all output planes where the batch tells the moves to come, else of the first."""
    with torch.autocast(batch.planes.device.type, torch.bfloat16, enabled=precision == "bf16"):
        if "future" in batch.extras and isinstance(net, PolicyNet):
            return net.policies(net.body(batch.planes))
        return net(batch.planes)[:, None]


@torch.no_grad()
def evaluate(
    net: torch.nn.Module,
    maker: Maker,
    rows: np.ndarray,
    history: HistoryMode,
    threads: int = 1,
    on_batch: Callable[[int], None] | None = None,
    reading: Reading = PLAIN,
    precision: Precision = "fp32",
) -> Scores:
    """Scores of `net` on `rows` (N,) of the maker's store, in their order. `on_batch` is called with the positions done
    so far: on a CPU those that have their scores, elsewhere those that the device was given.

    A reading of legal points alone needs a maker that makes the further target `illegal`. With one that makes `future`
    all output planes of a net are scored. precision: of the net's passes, as `training.precision`; the scores are made
    in float32. The net comes back in the mode, training or inference, in which it was given. Raises NotFinite.
    """
    keep = history_kept(rows, history)
    rows = np.ascontiguousarray(rows, np.int64)
    whole = _Columns(reading.legal_only)
    training = net.training
    net.eval()
    starts = range(0, len(rows), BATCH)
    turns: dict[int, torch.Tensor] = {}

    def on_host(step):
        chosen = slice(step[0], step[0] + BATCH)
        return maker.on_host(rows[chosen], np.full(len(rows[chosen]), step[1], np.uint8), keep[chosen])

    host = ahead(on_host, [(start, symmetry) for start in starts for symmetry in reading.symmetries], threads)
    try:
        for number, start in enumerate(starts, 1):
            upright = maker.on_device(next(host))
            policies = _policies(net, upright, precision)
            for symmetry in reading.symmetries[1:]:
                if symmetry not in turns:
                    turns[symmetry] = turned_points(symmetry, policies.device)
                turned = _policies(net, maker.on_device(next(host)), precision)
                policies = policies + turned_back(turned, symmetry, turns[symmetry])
            logits = policies[:, 0]
            illegal = upright.extras["illegal"] if reading.legal_only else None
            mean = logits / len(reading.symmetries)
            # Logits that are no numbers compare with nothing, so that every move would count as the first choice.
            values = (torch.isfinite(logits).all()[None], *score(mean, upright.targets, illegal))
            values += () if illegal is None else (illegal_probability(mean, illegal),)
            if policies.shape[1] > 1:
                values += score_later(policies[:, 1:] / len(reading.symmetries), upright.extras["future"])
            whole.add(values)
            if policies.device.type == "cpu" or number % _AT_A_TIME == 0:
                whole.fetch()
            if on_batch:
                on_batch(min(start + BATCH, len(rows)))
        whole.fetch()
    finally:
        host.close()
        net.train(training)
    return whole.scores()


class _Columns:
    """What was made of each batch, on the device until it is fetched: whether all is finite, and the arrays of
    `Scores`."""

    _KINDS = (np.float32, np.uint16, np.float32, np.float32)

    def __init__(self, legal_only: bool):
        self._kinds = (*self._KINDS, *((np.float32,) if legal_only else ()))
        self._waiting: list[tuple[torch.Tensor, ...]] = []
        self._fetched: list[list[np.ndarray]] = []

    def add(self, values: tuple[torch.Tensor, ...]) -> None:
        """Of one batch; waits for nothing."""
        self._waiting.append(values)

    def fetch(self) -> None:
        """Copy to the host what waits on the device. Raises NotFinite."""
        if not self._waiting:
            return
        finite, *columns = [torch.cat(parts).cpu().numpy() for parts in zip(*self._waiting, strict=True)]
        self._waiting.clear()
        if not finite.all():
            raise NotFinite("the net's logits are not finite numbers: its training has diverged")
        self._fetched.append(columns)

    def scores(self) -> Scores:
        """Of all that was fetched."""
        if not self._fetched:
            return Scores(*(np.empty(0, kind) for kind in self._kinds))
        columns = [np.concatenate(parts) for parts in zip(*self._fetched, strict=True)]
        now, later = columns[: len(self._kinds)], columns[len(self._kinds) :]
        scores = Scores(*(column.astype(kind, copy=False) for column, kind in zip(now, self._kinds, strict=True)))
        if not later:
            return scores
        nats, rank, squared_error = later
        return scores._replace(later_nats=nats, later_rank=rank.astype(np.int16), later_squared_error=squared_error)


_KEEP_SEED = 0  # part of the metric set: a row of a store keeps the same history in every evaluation
_ALL_HISTORY = len(GONN_KEEP)


def history_kept(rows: np.ndarray, mode: HistoryMode) -> np.ndarray:
    """How many of the last moves each of `rows` (N,) shows under a history mode: (N,) uint8."""
    if mode == "full":
        return np.full(len(rows), _ALL_HISTORY, np.uint8)
    if mode == "as_published":
        return keep_for_rows(rows, _KEEP_SEED, GONN_KEEP)
    if mode == "none":
        return np.zeros(len(rows), np.uint8)
    raise ValueError(f"history mode {mode!r}: valid are {', '.join(get_args(HistoryMode))}")


def shown_in_full(features: FeatureConfig, rows: np.ndarray, mode: HistoryMode) -> np.ndarray:
    """(N,) bool: which of `rows` (N,) have the same planes under `mode` as under `full`.

    Those that keep as many moves as there are planes of moves or of past boards; all of them where there is none. Rows
    at a game's beginning, which have no more moves to show, are not told apart.
    """
    return history_kept(rows, mode) >= max(features.history, features.past_boards)
