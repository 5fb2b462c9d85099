"""A net on rows of a position store: metrics of every position.

In fp32 unless another precision is given; with batch normalisation in inference mode (spec: GoNN 1.4, 4.8), in batches
of 256, the last, partial one included. Under the identity symmetry and over all points, unless a reading says
otherwise. A history mode decides how many earlier moves each position shows.
"""

from collections.abc import Callable
from functools import cache
from typing import get_args

import numpy as np
import torch

from gonn_core.evaluation.metrics import PLAIN, Reading, Scores
from gonn_core.go.points import SYMMETRY
from gonn_core.nets import PolicyNet
from gonn_core.records.sampler import GONN_KEEP, keep_for_rows
from gonn_core.settings.data import HistoryMode
from gonn_core.settings.features import FeatureConfig
from gonn_core.settings.training import Precision
from gonn_core.training.batches import Batch, PlaneMaker, ahead
from gonn_core.training.objective import NONE

BATCH = 256
_AT_A_TIME = 8
"""Batches that a device other than a CPU is given before the host waits for their scores."""


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


def turned_back(logits: torch.Tensor, symmetry: int) -> torch.Tensor:
    """logits (…, 361) of positions that were turned by `symmetry`, at the points of the positions as they were."""
    return logits if symmetry == 0 else logits[..., _turned_points(symmetry, logits.device)]


@cache
def _turned_points(symmetry: int, device: torch.device) -> torch.Tensor:
    """(361,) int64 on a device: where each point is in a position that was turned by `symmetry`."""
    return torch.from_numpy(SYMMETRY[symmetry]).to(device)


def _policies(net: torch.nn.Module, batch: Batch, precision: Precision) -> torch.Tensor:
    """(N, K, 361): of all output planes where the batch has the moves to come, else of the first."""
    with torch.autocast(batch.planes.device.type, torch.bfloat16, enabled=precision == "bf16"):
        if "future" in batch.extras and isinstance(net, PolicyNet):
            return net.policies(net.body(batch.planes))
        return net(batch.planes)[:, None]


@torch.no_grad()
def evaluate(
    net: torch.nn.Module,
    maker: PlaneMaker,
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
    training = net.training
    net.eval()
    starts = range(0, len(rows), BATCH)
    waiting: list[tuple[torch.Tensor, ...]] = []
    fetched: list[list[np.ndarray]] = []

    def on_host(step):
        chosen = slice(step[0], step[0] + BATCH)
        return maker.on_host(rows[chosen], np.full(len(rows[chosen]), step[1], np.uint8), keep[chosen])

    host = ahead(on_host, [(start, symmetry) for start in starts for symmetry in reading.symmetries], threads)
    try:
        for number, start in enumerate(starts, 1):
            upright = maker.on_device(next(host))
            policies = _policies(net, upright, precision)
            for symmetry in reading.symmetries[1:]:
                turned = _policies(net, maker.on_device(next(host)), precision)
                policies = policies + turned_back(turned, symmetry)
            logits = policies[:, 0]
            illegal = upright.extras["illegal"] if reading.legal_only else None
            mean = logits / len(reading.symmetries)
            # Logits that are not finite compare with nothing, so that every move would count as the first choice.
            values = (torch.isfinite(logits).all()[None], *score(mean, upright.targets, illegal))
            if illegal is not None:  # their share of the softmax over all points
                values += (torch.softmax(mean.float(), 1).masked_fill(~illegal, 0.0).sum(1),)
            if policies.shape[1] > 1:
                values += score_later(policies[:, 1:] / len(reading.symmetries), upright.extras["future"])
            waiting.append(values)
            if policies.device.type == "cpu" or number % _AT_A_TIME == 0 or number == len(starts):
                finite, *columns = [torch.cat(parts).cpu().numpy() for parts in zip(*waiting, strict=True)]
                if not finite.all():
                    raise NotFinite("the net's logits are not finite numbers: its training has diverged")
                fetched.append(columns)
                waiting = []
            if on_batch:
                on_batch(min(start + BATCH, len(rows)))
    finally:
        host.close()
        net.train(training)
    names = ["nats", "rank", "entropy", "squared_error", *(("illegal",) if reading.legal_only else ())]
    if fetched and len(fetched[0]) > len(names):
        names += ["later_nats", "later_rank", "later_squared_error"]
    parts = list(zip(*fetched, strict=True)) or [(np.empty(0, np.float32),)] * len(names)
    arrays = {name: np.concatenate(part) for name, part in zip(names, parts, strict=True)}
    kinds = {"rank": np.uint16, "later_rank": np.int16}
    return Scores(**{name: array.astype(kinds.get(name, array.dtype), copy=False) for name, array in arrays.items()})


def evaluate_history(
    scores_of: Callable[[np.ndarray, HistoryMode], Scores],
    features: FeatureConfig,
    rows: np.ndarray,
    history: HistoryMode,
    full: Scores | None = None,
) -> Scores:
    """Scores of `rows` (N,) under a history mode by `scores_of`; those of positions that have the same planes under
    `full` are copied from there: 78 % of them under `as_published`.

    full: the scores under `full`, if known. They are computed otherwise, so that the order in which modes are evaluated
    makes no difference.
    """
    others = np.flatnonzero(~shown_in_full(features, rows, history))
    if history == "full" or len(others) == len(rows):
        return scores_of(rows, history)
    scores = full or scores_of(rows, "full")
    if not len(others):
        return scores
    merged = {name: array.copy() for name, array in scores._asdict().items() if array is not None}
    for name, array in scores_of(rows[others], history)._asdict().items():
        if array is not None and name in merged:
            merged[name][others] = array
    return Scores(**merged)


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
    at a game's beginning, which have no more moves to show, are not distinguished.
    """
    return history_kept(rows, mode) >= max(features.history, features.past_boards)
