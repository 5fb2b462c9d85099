"""The documents' extra metrics of a study: levels by arm, effects by card, hits by move number. Shown folded; no
verdicts."""

from collections.abc import Mapping, Sequence

import numpy as np

from gonn_core.evaluation.metrics import MOVES_A_BIN
from gonn_core.metrics import METRICS, OF_POSITIONS
from reports.results.compare import analyse_study, used_trials
from reports.results.group import MAIN, Group
from reports.results.study_results import StudyResults
from reports.results.sums import SummedEvaluation
from reports.study.tables import describe, interval_cell
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell

EXTRA_METRICS = tuple(name for name in OF_POSITIONS if name != "nats")

_NOTES = (
    "Top-k: the share of positions in which k guesses are enough. p ≥ x %: the share in which the move played gets "
    "at least that probability. "
    "Mean rank: 1 is the likeliest move; among equal ones the lowest point comes first (mid-ranks cannot be told "
    "from what is stored).",
    "Search loss: 1/(p + 0.003), about the visits after which a search tries the move, at most 333; trimmed: without "
    "the 5 % smallest and the 5 % largest. "
    "Squared error: the sum over points of (policy − one-hot)². The reducible policy loss equals nats: a target of "
    "one move has no entropy to take off.",
)
_PLANES = (
    "Reply, and the move after it: what further output planes predict, over the positions in which there is such a "
    "move (no pass, the game not over)."
)
_NO_VERDICTS = (
    "Intervals are made as those of nats. Nobody decided beforehand to look at these: they have no q and no verdict."
)


def extra_tables(results: StudyResults, group: Group) -> tuple[Table, ...]:
    """Tables of the main evaluation, effects by the runs of `group`; none while no trial has it. Metrics that no
    evaluation holds are named in a note. Of a screen's many arms the base alone is in them."""
    title = describe(results.study.evaluations[MAIN])
    named = results.study.arms[:1] if results.study.design == "screen" else results.study.arms
    arms = [arm.id for arm in named if results.evaluated(arm.id, MAIN)]
    if not arms:
        return ()
    known = [metric for metric in EXTRA_METRICS if any(results.arm_result(arm, MAIN, metric) for arm in arms)]
    tables = [_levels(results, arms, known, f"More metrics by arm: {title}")]
    if results.study.contrasts:
        tables.append(_effects(results, group, known, f"Effects on them: {title}"))
    by_number = {
        arm: _by_number([each for trial in results.of_arm(arm) if (each := trial.evaluations[MAIN]) is not None])
        for arm in arms
    }
    if any(by_number.values()):
        tables.append(_move_numbers(results, by_number, f"Top-1 by move number: {title}"))
    return tuple(tables)


def _levels(results: StudyResults, arms: Sequence[str], known: Sequence[str], title: str) -> Table:
    rows = []
    for metric in known:
        cells = {"metric": text_cell(METRICS[metric].title)}
        for arm in arms:
            result = results.arm_result(arm, MAIN, metric)
            mean = None if result is None else float(result.means.mean())
            text = formats.NONE if mean is None else formats.level(mean, METRICS[metric].unit)
            cells[arm] = Cell(text, mean, tuple(trial.id for trial in results.evaluated(arm, MAIN).values()), MAIN)
        rows.append(Row(metric, cells))
    lacking = [
        METRICS[metric].title for metric in EXTRA_METRICS if metric not in known and _asked(results, arms, metric)
    ]
    planes = [_PLANES] if any(METRICS[metric].planes > 1 for metric in known) else []
    notes = (*_NOTES, *planes, *([f"Not kept by these evaluations: {', '.join(lacking)}."] if lacking else ()))
    return Table(
        "metrics", title, (Column("metric", "metric", "left"), *_arm_columns(results, arms)), tuple(rows), notes
    )


def _asked(results: StudyResults, arms: Sequence[str], metric: str) -> bool:
    """Whether evaluations of this kind, made today, would hold a metric."""
    planes = max(results.study.arm(arm).config.net.residual.output_planes for arm in arms)
    if METRICS[metric].planes > planes:
        return False
    read = (each.reading for arm in arms for trial in results.of_arm(arm) if (each := trial.evaluations[MAIN]))
    return not METRICS[metric].legal_only or any(reading.legal_only for reading in read)


def _effects(results: StudyResults, group: Group, known: Sequence[str], title: str) -> Table:
    rows = []
    for metric in known:
        cells, unit = {"metric": text_cell(METRICS[metric].title)}, METRICS[metric].unit
        effects = analyse_study(results, metric, MAIN, group).effects
        for contrast in results.study.contrasts:
            trials = used_trials(results, contrast, MAIN)
            cells[contrast.card] = interval_cell(effects.get(contrast.card), trials, MAIN, unit)
        rows.append(Row(metric, cells))
    columns = (
        Column("metric", "Δ (shares in points)", "left"),
        *(_effect_column(each.card) for each in results.study.contrasts),
    )
    return Table("metric-effects", title, columns, tuple(rows), (_NO_VERDICTS,))


def _effect_column(card: str) -> Column:
    return Column(card, card, escape=True, parts=(card, *interval95(card)))


def _by_number(evaluations: Sequence[SummedEvaluation]) -> Mapping[int, tuple[int, float]]:
    """First move of a bin -> positions, mean top-1 over seeds; empty when one of the evaluations holds no move
    numbers."""
    binned = [evaluation.by_move_number for evaluation in evaluations]
    if None in binned:
        return {}
    return {
        bins[0][0]: (bins[0][1], float(np.mean([share for _, _, share in bins]))) for bins in zip(*binned, strict=True)
    }


def _move_numbers(results: StudyResults, by_number: Mapping[str, Mapping[int, tuple[int, float]]], title: str) -> Table:
    rows = []
    for first, (positions, _) in next(bins for bins in by_number.values() if bins).items():
        cells = {
            "moves": Cell(f"{first}–{first + MOVES_A_BIN - 1}", first),
            "positions": Cell(f"{positions:,}", positions),
        }
        for arm, bins in by_number.items():
            share = bins[first][1] if bins else None
            text = formats.NONE if share is None else formats.level(share, "share")
            cells[arm] = Cell(text, share, tuple(trial.id for trial in results.evaluated(arm, MAIN).values()), MAIN)
        rows.append(Row(str(first), cells))
    columns = (Column("moves", "moves"), Column("positions", "positions"), *_arm_columns(results, tuple(by_number)))
    return Table("move-numbers", title, columns, tuple(rows))


def _arm_columns(results: StudyResults, arms: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(arm, results.study.arm(arm).label, escape=True) for arm in arms)
