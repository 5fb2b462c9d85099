"""A net on rows of a position store: metrics of every position.

Always in fp32, with batch normalisation in inference mode and the identity symmetry (spec: GoNN 1.4, 4.8), in batches of 256,
the last, partial one included.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch

from gonn_core.records.sampler import GONN_KEEP, keep_for_rows
from gonn_core.training.batches import PlaneMaker, ahead

from .metrics import Scores

BATCH = 256
HistoryMode = Literal["full", "as_published"]
"""`full`: all of the last five moves; `as_published`: GoNN's test rows lost moves at random, once, with the probabilities of training
rows (spec: GoNN 0.6, 1.3)."""
_KEEP_SEED = 0  # part of the metric set: a row of a store keeps the same history in every evaluation
_ALL_HISTORY = len(GONN_KEEP)


def history_kept(rows: np.ndarray, mode: HistoryMode) -> np.ndarray:
    """How many of the last moves each of `rows` (N,) shows under a history mode: (N,) uint8."""
    if mode == "full":
        return np.full(len(rows), _ALL_HISTORY, np.uint8)
    if mode == "as_published":
        return keep_for_rows(rows, _KEEP_SEED, GONN_KEEP)
    raise ValueError(f"history mode {mode!r}: valid are full, as_published")


def score(logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """nats (N,) float32 and rank (N,) int64 from logits (N, 361) and moves played (N,).

    Among equal logits the one of the lowest point comes first, as in argmax.
    """
    logits = logits.float()
    nats = torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    own = logits.gather(1, targets[:, None])
    points = torch.arange(logits.shape[1], device=logits.device)
    before = (logits > own) | ((logits == own) & (points < targets[:, None]))
    return nats, before.sum(1)


@torch.no_grad()
def evaluate(
    net: torch.nn.Module,
    maker: PlaneMaker,
    rows: np.ndarray,
    history: HistoryMode,
    threads: int = 1,
    on_batch: Callable[[int], None] | None = None,
) -> Scores:
    """Scores of `net` on `rows` (N,) of the maker's store, in their order. `on_batch` is called with the positions done so far.

    The net comes back in the mode, training or inference, in which it was given.
    """
    keep = history_kept(rows, history)
    rows = np.ascontiguousarray(rows, np.int64)
    nats, rank = np.empty(len(rows), np.float32), np.empty(len(rows), np.uint16)
    training = net.training
    net.eval()
    host = ahead(lambda i: maker.on_host(rows[i : i + BATCH], np.zeros(len(rows[i : i + BATCH]), np.uint8), keep[i : i + BATCH]), range(0, len(rows), BATCH), threads)
    try:
        for i, batch in zip(range(0, len(rows), BATCH), host):
            batch = maker.on_device(batch)
            batch_nats, batch_rank = score(net(batch.planes), batch.targets)
            nats[i : i + BATCH] = batch_nats.cpu().numpy()
            rank[i : i + BATCH] = batch_rank.cpu().numpy()
            if on_batch:
                on_batch(min(i + BATCH, len(rows)))
    finally:
        host.close()
        net.train(training)
    return Scores(nats, rank)
