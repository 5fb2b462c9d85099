"""The one table of metrics: name, unit, which way is better, where each is read, whether a claim may name it.

Nothing else lists metrics. It imports nothing, so that declarations and lists can read it without numpy.

A new metric that a claim may name touches three files: this one; `gonn_core/evaluation/metrics.py` with the values
that it is the mean of (one that is not read from positions: `reports/claims/measures.py` with its measure); and the
card that claims it. A metric that is only shown touches the first two.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Better = Literal["lower", "higher"]
Unit = Literal["nats", "share", "places", "loss", "count", "ratio", "samples/s", "its own"]
"""share: of 1; it is written in per cent, its differences in points."""
Source = Literal["positions", "curve", "gap", "net", "speed", "weights", "probes", "games"]
"""positions: every position of an evaluation, by `gonn_core.evaluation.metrics.VALUES`; curve: the last line of a
trial's progress, under the metric's id (`reports.results.study_results`); the others: see `reports.claims.measures`."""
Margin = Literal["smallest_nats", "smallest_share", "smallest_rank"]


@dataclass(frozen=True)
class Metric:
    """One metric."""

    id: str
    title: str
    """In tables."""
    unit: Unit
    better: Better | None
    """None: neither is."""
    source: Source
    claim_title: str | None = None
    """In tables of claims; None: no claim may name it."""
    claim_unit: str = ""
    """What follows a claimed number in lists."""
    margin: Margin | float | None = None
    """The least difference that counts as an effect: a field of `reports.stats.verdicts.Thresholds`, which each study
    writes down, or a number; None: nothing is judged on it."""
    summarised: bool = False
    """Its mean is in the file of every evaluation, and it has columns in every study's tables."""
    legal_only: bool = False
    """Given only where a policy is read over legal points."""
    planes: int = 1
    """Output planes that a net needs to have, or more."""
    chart: int | None = None
    """Place among the charts that MLflow shows without a search; None: it is under detail/."""


_TABLE = (
    Metric(
        id="nats",
        title="nats",
        unit="nats",
        better="lower",
        source="positions",
        claim_title="nats",
        claim_unit=" nats",
        margin="smallest_nats",
        summarised=True,
        chart=1,
    ),
    Metric(
        id="top1",
        title="top-1",
        unit="share",
        better="higher",
        source="positions",
        claim_title="top-1",
        claim_unit=" points",
        margin="smallest_share",
        summarised=True,
        chart=3,
    ),
    Metric("top2", "top-2", "share", "higher", "positions"),
    Metric("top3", "top-3", "share", "higher", "positions"),
    Metric(
        id="top4",
        title="top-4",
        unit="share",
        better="higher",
        source="positions",
        claim_title="top-4",
        claim_unit=" points",
        margin="smallest_share",
        summarised=True,
        chart=4,
    ),
    Metric("top5", "top-5", "share", "higher", "positions"),
    Metric("top10", "top-10", "share", "higher", "positions"),
    Metric(
        id="rank",  # 1: the likeliest
        title="mean rank",
        unit="places",
        better="lower",
        source="positions",
        claim_title="rank of the move played",
        claim_unit=" places",
        margin="smallest_rank",
    ),
    Metric(
        id="probability",  # of the move played
        title="mean p",
        unit="share",
        better="higher",
        source="positions",
        claim_title="probability of the move played",
        claim_unit=" points",
        margin="smallest_share",
    ),
    Metric("p1", "p ≥ 1 %", "share", "higher", "positions"),
    Metric("p2", "p ≥ 2 %", "share", "higher", "positions"),
    Metric("p5", "p ≥ 5 %", "share", "higher", "positions"),
    Metric("p10", "p ≥ 10 %", "share", "higher", "positions"),
    Metric("p25", "p ≥ 25 %", "share", "higher", "positions"),
    Metric("p50", "p ≥ 50 %", "share", "higher", "positions"),
    Metric("search_loss", "search loss", "loss", "lower", "positions"),
    Metric("search_loss_trimmed", "search loss, trimmed", "loss", "lower", "positions"),
    Metric("search_loss_median", "search loss, median", "loss", "lower", "positions"),
    Metric("search_loss_top10", "search loss, rank ≤ 10", "loss", "lower", "positions"),
    Metric("top1_ko", "top-1 where a ko is", "share", "higher", "positions"),
    Metric("entropy", "policy entropy", "nats", None, "positions"),
    Metric(
        id="squared_error",
        title="squared error",
        unit="loss",
        better="lower",
        source="positions",
        claim_title="squared error of the softmax",
        claim_unit=" squared error",
        margin=0.002,  # ours, as of training's
    ),
    Metric("nats_plane2", "nats of the reply", "nats", "lower", "positions", planes=2),
    Metric("top1_plane2", "top-1 of the reply", "share", "higher", "positions", planes=2),
    Metric("nats_plane3", "nats of the move after it", "nats", "lower", "positions", planes=3),
    Metric("top1_plane3", "top-1 of the move after it", "share", "higher", "positions", planes=3),
    Metric("squared_error_planes", "squared error, mean of the planes", "loss", "lower", "positions", planes=2),
    Metric(
        id="illegal_probability",  # over all points, where the policy is read over legal ones
        title="p of illegal points",
        unit="share",
        better="lower",
        source="positions",
        claim_title="probability of illegal points",
        claim_unit=" points",
        margin="smallest_share",
        legal_only=True,
    ),
    Metric(
        id="train_nats",
        title="training loss",
        unit="nats",
        better="lower",
        source="curve",
        claim_title="training loss in nats",
        claim_unit=" train nats",
        margin="smallest_nats",
        chart=2,
    ),
    Metric(
        id="train_top1",  # over the points that the training's softmax is over
        title="training top-1",
        unit="share",
        better="higher",
        source="curve",
        claim_title="top-1 in training",
        claim_unit=" points in training",
        margin="smallest_share",
    ),
    Metric(
        id="train_loss",  # what is minimised: cross-entropy, or squared error, with further planes and heads
        title="loss minimised",
        unit="loss",
        better="lower",
        source="curve",
        claim_title="loss minimised in training",
        claim_unit=" training loss",
        # Ours: the least difference in nats; of squared errors, which fall by about twice what a probability gains, the
        # least difference of a share.
        margin=0.002,
    ),
    Metric(
        id="generalisation_gap",  # the squared error over all output planes, of nets that minimise it
        title="squared error, test less training",
        unit="loss",
        better="lower",
        source="gap",
        claim_title="squared error, test less training",
        claim_unit=" test less training error",
        margin=0.002,  # as that of either error
    ),
    Metric("samples_per_s", "samples/s", "samples/s", "higher", "curve", chart=5),
    Metric(
        id="samples_per_s_ratio",
        title="samples/s, with : without",
        unit="ratio",
        better="higher",
        source="speed",
        claim_title="samples/s, with : without",
        claim_unit=" x samples/s",
    ),
    Metric(
        id="parameters",
        title="parameters",
        unit="count",
        better=None,
        source="net",
        claim_title="parameters",
        claim_unit=" parameters",
    ),
    Metric(
        id="win_rate",
        title="win rate",
        unit="share",
        better="higher",
        source="games",
        claim_title="win rate",
        claim_unit=" points",
        # Ours: half of the 95 % interval of 600 games, the most that a document rests such a claim on. Win rates nearer
        # to one half are as good as even.
        margin=0.04,
    ),
    Metric(
        id="weight_statistic",
        title="statistic of the weights",
        unit="its own",
        better=None,
        source="weights",
        claim_title="weight_statistic",
    ),
    Metric(
        id="probe",
        title="probability in a test position",
        unit="share",
        better=None,
        source="probes",
        claim_title="probe",
        claim_unit=" points",
        margin="smallest_share",
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.id: metric for metric in _TABLE})
"""Id -> metric, in the order of tables."""
CLAIMED = tuple(metric.id for metric in _TABLE if metric.claim_title is not None)
"""Those that claims may name."""
OF_POSITIONS = tuple(metric.id for metric in _TABLE if metric.source == "positions")
"""Those that every evaluation gives."""
SUMMARISED = tuple(metric.id for metric in _TABLE if metric.summarised)
"""Those whose means are in the file of every evaluation: the columns of a study's tables."""
OF_TRAINING = tuple(metric.id for metric in _TABLE if metric.source == "curve" and metric.claim_title is not None)
"""Those of the training positions, of which every line of a trial's progress has the mean since the line before."""
CHARTS = tuple(
    metric.id for metric in sorted((metric for metric in _TABLE if metric.chart), key=lambda metric: metric.chart or 0)
)
"""Those that MLflow shows without a search, in order."""

UNIFORM_NATS = math.log(19 * 19)
"""Of a net that knows nothing: every point as likely as any other."""


def watched(nats: float, digits: int = 3) -> str:
    """`2.531 validation nats`, of a net in training; above those of a uniform one the number says nothing, and looks
    like a divergence that is none: `above uniform (5.89 nats)`."""
    if math.isfinite(nats) and nats < UNIFORM_NATS:
        return f"{nats:.{digits}f} validation nats"
    return f"above uniform ({UNIFORM_NATS:.2f} nats)" if math.isfinite(nats) else "validation nats are no number"
