"""A net on rows of a position store: metrics of every position.

Always in fp32, with batch normalisation in inference mode (spec: GoNN 1.4, 4.8), in batches of 256, the last, partial
one included. Under the identity symmetry and over all points, unless a reading says otherwise.
"""

from collections.abc import Callable
from typing import get_args

import numpy as np
import torch

from gonn_core.evaluation.metrics import Scores
from gonn_core.evaluation.reading import PLAIN, Reading
from gonn_core.go.points import SYMMETRY
from gonn_core.nets import PolicyNet
from gonn_core.records.sampler import GONN_KEEP, keep_for_rows
from gonn_core.settings.evaluation import HistoryMode
from gonn_core.training.batches import Batch, PlaneMaker, ahead
from gonn_core.training.loss import NONE

BATCH = 256
_KEEP_SEED = 0  # part of the metric set: a row of a store keeps the same history in every evaluation
_ALL_HISTORY = len(GONN_KEEP)


class NotFinite(RuntimeError):
    """A net gives logits that are not finite numbers."""


def history_kept(rows: np.ndarray, mode: HistoryMode) -> np.ndarray:
    """How many of the last moves each of `rows` (N,) shows under a history mode: (N,) uint8."""
    if mode == "full":
        return np.full(len(rows), _ALL_HISTORY, np.uint8)
    if mode == "as_published":
        return keep_for_rows(rows, _KEEP_SEED, GONN_KEEP)
    if mode == "none":
        return np.zeros(len(rows), np.uint8)
    raise ValueError(f"history mode {mode!r}: valid are {', '.join(get_args(HistoryMode))}")


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


def turned_back(logits: torch.Tensor, symmetry: int) -> torch.Tensor:
    """logits (…, 361) of positions that were turned by `symmetry`, at the points of the positions as they were."""
    return logits if symmetry == 0 else logits[..., torch.from_numpy(SYMMETRY[symmetry]).to(logits.device)]


def _policies(net: torch.nn.Module, batch: Batch) -> torch.Tensor:
    """(N, K, 361): of all output planes where the batch tells the moves to come, else of the first."""
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
) -> Scores:
    """Scores of `net` on `rows` (N,) of the maker's store, in their order. `on_batch` is called with the positions done
    so far.

    A reading of legal points alone needs a maker that makes the further target `illegal`. With one that makes `future`
    all output planes of a net are scored. The net comes back in the mode, training or inference, in which it was given.
    Raises NotFinite.
    """
    keep = history_kept(rows, history)
    rows = np.ascontiguousarray(rows, np.int64)
    kinds = (np.float32, np.uint16, np.float32, np.float32, *((np.float32,) if reading.legal_only else ()))
    arrays = [np.empty(len(rows), kind) for kind in kinds]
    later: list[tuple[np.ndarray, ...]] = []
    training = net.training
    net.eval()
    starts = range(0, len(rows), BATCH)

    def on_host(step):
        chosen = slice(step[0], step[0] + BATCH)
        return maker.on_host(rows[chosen], np.full(len(rows[chosen]), step[1], np.uint8), keep[chosen])

    host = ahead(on_host, [(start, symmetry) for start in starts for symmetry in reading.symmetries], threads)
    try:
        for start in starts:
            upright = maker.on_device(next(host))
            policies = _policies(net, upright)
            for symmetry in reading.symmetries[1:]:
                policies = policies + turned_back(_policies(net, maker.on_device(next(host))), symmetry)
            logits = policies[:, 0]
            illegal = upright.extras["illegal"] if reading.legal_only else None
            # Logits that are no numbers compare with nothing, so that every move would count as the first choice.
            if not bool(torch.isfinite(logits).all()):
                raise NotFinite("the net's logits are not finite numbers: its training has diverged")
            mean = logits / len(reading.symmetries)
            values = score(mean, upright.targets, illegal)
            values += () if illegal is None else (illegal_probability(mean, illegal),)
            if policies.shape[1] > 1:
                later.append(
                    tuple(
                        part.cpu().numpy()
                        for part in score_later(policies[:, 1:] / len(reading.symmetries), upright.extras["future"])
                    )
                )
            for whole, part in zip(arrays, values, strict=True):
                whole[start : start + BATCH] = part.cpu().numpy()
            if on_batch:
                on_batch(min(start + BATCH, len(rows)))
    finally:
        host.close()
        net.train(training)
    scores = Scores(*arrays)
    if not later:
        return scores
    nats, rank, squared_error = (np.concatenate(parts) for parts in zip(*later, strict=True))
    return scores._replace(later_nats=nats, later_rank=rank.astype(np.int16), later_squared_error=squared_error)
