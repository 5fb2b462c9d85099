"""What is stored of every position, and the values that metrics are means of (spec: GoNN 4.8, other systems 2.7, 3.6,
5); identities of weights and evaluations.

Titles and verdicts of metrics are in `gonn_core.metrics`. Each function of `VALUES` gives a value per position whose
mean over positions is the metric. Medians, trimmed means and means over a part of the positions are no plain means:
their values are linearised (metric + influence of the position), so that their mean is the metric and their spread over
games is its spread; code that resamples games treats all metrics alike.

Two of the documents' metrics are missing. The reducible policy loss, cross-entropy minus the target's entropy, equals
nats: a target of one move has none. Mid-ranks of ties do not follow from a stored rank: among equal logits the lowest
point comes first.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gonn_core.go.points import SYMMETRY
from gonn_core.metrics import SUMMARISED

if TYPE_CHECKING:
    import torch

METRIC_SET = 1
"""Version of these metrics and of how they are computed; part of every evaluation's id. Raise it when one is added or
changes."""
GUESSES = (1, 2, 3, 4, 5, 10)
THRESHOLDS = {f"p{percent}": percent / 100 for percent in (1, 2, 5, 10, 25, 50)}
"""Shares of positions whose move gets at least such a probability."""
WATCHED = (*THRESHOLDS, "search_loss")
"""In every line of a trial's progress that looks at validation games, in addition to `SUMMARISED`."""
SEARCH_EPSILON = 0.003
"""As in the code; the text has none. It caps the search policy loss of a position at 333."""
TRIMMED = 0.05
"""Share cut off at each end."""
MOVES_A_BIN = 20
_MEDIAN_WINDOW = 0.05  # quantiles on either side of the median from which the density there is taken


class Reading(NamedTuple):
    """symmetry_averaging: mean of the logits over the 8 symmetries of the position, turned back (spec: other systems
    1.7).

    legal_only: softmax and rank over empty points but the simple-ko point (spec: other systems 2.5, 2.7). Suicide stays
    among them: neither document asks for more.
    """

    symmetry_averaging: bool = False
    legal_only: bool = False

    @property
    def symmetries(self) -> range:
        """Symmetries under which the net sees a position; 0 is the identity."""
        return range(len(SYMMETRY) if self.symmetry_averaging else 1)


PLAIN = Reading()
"""One forward pass, softmax over all 361 points."""


class Scores(NamedTuple):
    """Of every position; optional arrays are None where an evaluation lacks them."""

    nats: np.ndarray
    """(N,) float32: -log softmax(logits)[move]."""
    rank: np.ndarray
    """(N,) uint16: rank of the move played among the logits, 0 the largest."""
    entropy: np.ndarray | None = None
    """(N,) float32, of the policy in nats."""
    squared_error: np.ndarray | None = None
    """(N,) float32: the sum over points of (policy - one-hot)^2."""
    illegal: np.ndarray | None = None
    """(N,) float32: probability of illegal points in the policy over all points; where it is read over legal ones."""
    later_nats: np.ndarray | None = None
    """(N, K-1) float32 of the further output planes of a net with K: the reply, the move after it; nan where that is a
    pass or the game is over."""
    later_rank: np.ndarray | None = None
    """(N, K-1) int16, -1 where there is no such move."""
    later_squared_error: np.ndarray | None = None
    """(N, K-1) float32, nan where there is none."""
    ply: np.ndarray | None = None
    """(N,) int16: moves played before the position."""
    ko: np.ndarray | None = None
    """(N,) bool: whether a ko forbids a point."""

    def means(self) -> dict[str, float]:
        """nats, top1, top4: means over the positions, nan when there is none."""
        if not len(self.nats):
            return dict.fromkeys(SUMMARISED, float("nan"))
        return {
            "nats": float(self.nats.mean(dtype=np.float64)),
            "top1": float((self.rank < 1).mean()),
            "top4": float((self.rank < 4).mean()),
        }


def joined(parts: Sequence[Scores]) -> Scores:
    """Scores of the positions of all parts, one or more of one net, in their order."""
    columns = zip(Scores._fields, zip(*parts, strict=True), strict=True)
    return Scores(**{name: np.concatenate(column) for name, column in columns if column[0] is not None})


class GameSums(NamedTuple):
    """Per game, for statistics that resample games: games (G,) ids in rising order; sums (G,) float64; counts (G,)
    int64."""

    games: np.ndarray
    sums: np.ndarray
    counts: np.ndarray


Values = Callable[[Scores], np.ndarray | None]
"""(N,) float64 of the scores of N positions, None when these lack what it takes."""


def probability(scores: Scores) -> np.ndarray:
    """(N,) float64 probability of the move played."""
    return np.exp(-scores.nats.astype(np.float64))


def search_loss(scores: Scores) -> np.ndarray:
    """(N,) search policy loss 1/(p + 0.003): about the visits that a search needs to find the move."""
    return 1.0 / (probability(scores) + SEARCH_EPSILON)


def trimmed(values: np.ndarray) -> np.ndarray:
    """Linearised mean without the 5 % smallest and the 5 % largest of `values` (N,)."""
    cut = int(TRIMMED * len(values))
    ordered = np.sort(values)
    middle = ordered[cut : len(values) - cut]
    clipped = np.clip(values, middle[0], middle[-1])
    return middle.mean() + (clipped - clipped.mean()) * (len(values) / len(middle))


def median(values: np.ndarray) -> np.ndarray:
    """Linearised median of `values` (N,)."""
    low, middle, high = np.quantile(values, (0.5 - _MEDIAN_WINDOW, 0.5, 0.5 + _MEDIAN_WINDOW))
    side = np.sign(values - middle) / 2
    return middle + (side - side.mean()) * (high - low) / (2 * _MEDIAN_WINDOW)


def over_part(values: np.ndarray, part: np.ndarray) -> np.ndarray | None:
    """Linearised mean of `values` (N,) over the positions in `part` (N,) bool; None when there is none."""
    if not part.any():
        return None
    mean = values[part].mean()
    return mean + np.where(part, values - mean, 0.0) / part.mean()


def _hits(scores: Scores, guesses: int = 1) -> np.ndarray:
    return (scores.rank < guesses).astype(np.float64)


def _stored(name: str) -> Values:
    def values(scores: Scores) -> np.ndarray | None:
        array = getattr(scores, name)
        return None if array is None else array.astype(np.float64)

    return values


def _later(plane: int, name: str) -> Values:
    """Of an output plane after the first, over the positions that have such a move."""

    def values(scores: Scores) -> np.ndarray | None:
        nats, array = scores.later_nats, getattr(scores, f"later_{name}")
        if nats is None or nats.shape[1] < plane - 1:
            return None
        column = array[:, plane - 2]
        kept = (column == 0) if name == "rank" else column
        return over_part(np.nan_to_num(kept.astype(np.float64)), ~np.isnan(nats[:, plane - 2]))

    return values


def _over_planes(scores: Scores) -> np.ndarray | None:
    """The mean over the output planes of their mean squared errors, as training takes it."""
    first, later = scores.squared_error, scores.later_squared_error
    if first is None or later is None:
        return None
    planes = [_later(plane, "squared_error")(scores) for plane in range(2, later.shape[1] + 2)]
    parts = [part for part in planes if part is not None]
    return (first.astype(np.float64) + np.sum(parts, axis=0)) / (1 + len(planes)) if len(parts) == len(planes) else None


VALUES: Mapping[str, Values] = {
    "nats": _stored("nats"),
    **{f"top{guesses}": lambda scores, guesses=guesses: _hits(scores, guesses) for guesses in GUESSES},  # type: ignore[misc]
    "rank": lambda scores: scores.rank.astype(np.float64) + 1.0,
    "probability": probability,
    **{
        name: lambda scores, least=least: (probability(scores) >= least).astype(np.float64)  # type: ignore[misc]
        for name, least in THRESHOLDS.items()
    },
    "search_loss": search_loss,
    "search_loss_trimmed": lambda scores: trimmed(search_loss(scores)),
    "search_loss_median": lambda scores: median(search_loss(scores)),
    "search_loss_top10": lambda scores: over_part(search_loss(scores), scores.rank < 10),
    "top1_ko": lambda scores: None if scores.ko is None else over_part(_hits(scores), scores.ko),
    "entropy": _stored("entropy"),
    "squared_error": _stored("squared_error"),
    "nats_plane2": _later(2, "nats"),
    "top1_plane2": _later(2, "rank"),
    "nats_plane3": _later(3, "nats"),
    "top1_plane3": _later(3, "rank"),
    "squared_error_planes": _over_planes,
    "illegal_probability": _stored("illegal"),
}
"""Metric -> the values that it is the mean of."""


def watched_means(scores: Scores) -> dict[str, float]:
    """Means of `WATCHED` over the positions."""
    return {name: float(VALUES[name](scores).mean()) for name in WATCHED}  # type: ignore[union-attr]


def by_move_number(scores: Scores) -> list[tuple[int, int, float]] | None:
    """(first move number, positions, top-1) of each bin of 20 moves, move 1 being a game's first; None without stored
    move numbers."""
    if scores.ply is None:
        return None
    bins = scores.ply.astype(np.int64) // MOVES_A_BIN
    counts, hits = np.bincount(bins), np.bincount(bins, weights=_hits(scores))
    return [
        (number * MOVES_A_BIN + 1, int(count), float(hits[number] / count))
        for number, count in enumerate(counts)
        if count
    ]


def weights_digest(state: Mapping[str, "torch.Tensor"]) -> str:
    """16 hex digits over names, types, shapes and values of a net's parameters and buffers; memory format and device do
    not matter."""
    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()[:16]


def evaluation_id(
    weights: str, subset: str, history: str, reading: Reading = PLAIN, metric_set: int = METRIC_SET
) -> str:
    """16 hex digits over all that decides an evaluation's numbers: digests of weights and subset, metric set, history
    mode, reading."""
    parts = [weights, subset, f"metrics {metric_set}", history, f"averaged {int(reading.symmetry_averaging)}"]
    if reading.legal_only:  # left out otherwise: older identities stay
        parts.append("legal only")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
