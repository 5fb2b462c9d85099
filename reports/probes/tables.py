"""Tables of a trial's or a study's answers to probes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gonn_core.evaluation.probes.stored import ProbeAnswers, rescaled
from gonn_core.evaluation.probes.suite import PublishedPosition, published
from gonn_core.go.points import point_name
from reports.probes.effects import GroupEffect, common_suite, study_effects
from reports.results.study_results import StudyResults
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, make_row
from reports.tables.formats import verdict_text


def _percent(share: float) -> str:
    return formats.minus(f"{100 * share:.1f} %")


_DISTANCES = ((0, 3), (4, 6), (7, 10), (11, 18))
"""Distances that share a row."""
_GROUPS = (
    Column("group", "probes", "left"),
    Column("cases", "cases", show=formats.count),
    Column("found", "found", show=_percent),
    Column("score", "score", show=_percent),
    Column("right", "P(right)", show=_percent),
    Column("wrong", "P(wrong)", show=_percent),
)
_GROUPS_NOTE = (
    "found: a right move is likelier than all it is set against; score: probability of right among right and wrong "
    "moves, rescaled so that chance is 0 and certainty 100 %"
)


def groups_table(answers: ProbeAnswers, title: str) -> Table:
    """One row per group, and one per class of distance within it."""
    arrays, rows = answers.arrays, []
    for number, group in enumerate(answers.summary["groups"]):
        inside = (arrays["group"] == number) & ~np.isnan(arrays["chance"])
        parts = [(group["name"].replace("_", " "), inside)]
        if group["name"] != "published":
            for low, high in _DISTANCES:
                near = (arrays["distance"] >= low) & (arrays["distance"] <= high)
                parts.append((f"  {low}–{high} away", inside & near))
        for name, chosen in parts:
            if chosen.any():
                values: dict[str, Any] = {
                    "group": name,
                    "cases": int(chosen.sum()),
                    "found": float(answers.solved()[chosen].mean()),
                    "score": float(rescaled(arrays["share"][chosen], arrays["chance"][chosen]).mean()),
                    **{side: float(arrays[side][chosen].mean()) for side in ("right", "wrong")},
                }
                rows.append(make_row(_GROUPS, f"{group['name']} {name}", values))
    return Table("probes", title, _GROUPS, tuple(rows), (_GROUPS_NOTE,))


_POSITIONS = (
    Column("position", "position", "left"),
    Column("named", "named move", "left"),
    Column("published", "published nets", "left"),
    Column("best", "likeliest here", "left"),
)


def positions_table(answers: ProbeAnswers) -> Table:
    """One row per test position of the documents: the named moves and the published figures, the likeliest moves, and
    what a ladder head says of the stones in question."""
    rows = []
    for each in published():
        policy, laddered = answers.policy(each.case.name), answers.laddered(each.case.name)
        named = [*((move, "right") for move in each.case.right), *((move, "wrong") for move in each.case.wrong)]
        ours = [f"{point_name(move)} ({side}) {_percent(policy[move])}" for move, side in named]
        theirs = _published(each, [move for move, _ in named])
        if laddered is not None and each.laddered:
            ours += [f"{point_name(stone)} (laddered) {_percent(laddered[stone])}" for stone in each.laddered]
            stones = [f"{point_name(stone)} {_percent(share)}" for stone, share in each.laddered.items()]
            theirs.append(f"laddered {', '.join(stones)}")
        likeliest = np.argsort(-policy, kind="stable")[:3]
        values = {
            "position": each.case.name,
            "named": Cell(", ".join(ours)),
            "published": Cell("; ".join(theirs)),
            "best": ", ".join(f"{point_name(int(move))} {_percent(policy[move])}" for move in likeliest),
        }
        rows.append(make_row(_POSITIONS, each.case.name, values))
    return Table("positions", "Test positions of the documents", _POSITIONS, tuple(rows))


def _published(each: PublishedPosition, named: list[int]) -> list[str]:
    """The published probabilities of the named moves, or of the first one, in each picture that shows a policy."""
    texts = []
    for picture, moves in each.pictures.items():
        if moves:
            figures = [
                f"{point_name(move)} {_percent(moves[move]) if move in moves else 'not among its best'}"
                for move in named or list(moves)[:1]
            ]
            texts.append(f"{picture} {', '.join(figures)}")
    return texts


_EFFECTS = (
    Column("card", "enhancement", "left"),
    Column("group", "probes", "left"),
    Column("cases", "cases", show=formats.count),
    Column("off", "score without", show=_percent),
    Column("on", "with", show=_percent),
    Column("delta", "Δ points, 95 %", parts=("delta", *interval95())),
    Column("q", "q", printed=False, show=formats.q_value),
    Column("verdict", "verdict", "left"),
    Column("bound", "smaller than", printed=False),
    Column("n", "seeds"),
)


def study_table(results: StudyResults) -> Table | None:
    """Scores by card and group of the suite that most trials of a study answered; None when no card has both its arms
    answered.

    A shared control may have been probed for another study: that alone is no comparison.
    """
    suite = common_suite(results)
    effects = {} if suite is None else study_effects(results, suite)
    return effects_table(effects) if any(effects.values()) else None


def effects_table(effects: Mapping[str, list[GroupEffect]]) -> Table:
    """One row per card and group: scores without and with it, difference with interval."""
    rows = []
    for card, groups in effects.items():
        for each in groups:
            effect, ends, verdict = each.effect, each.effect.interval95, each.verdict
            delta = formats.with_interval(effect.delta, ends, "share")
            values: dict[str, Any] = {
                "card": card,
                "group": Cell(each.group.replace("_", " "), each.group),
                "cases": each.cases,
                "off": each.off,
                "on": each.on,
                "delta": Cell(delta, [effect.delta, *([ends.low, ends.high] if ends else [])]),
                "q": effect.q,
                "n": effect.n,
            }
            if verdict is not None:
                values |= {"verdict": Cell(verdict_text(verdict, effect, "probe"), verdict), "bound": effect.bound}
            rows.append(make_row(_EFFECTS, f"{card} {each.group}", values))
    every = [each.effect for groups in effects.values() for each in groups]
    notes, count = [], sum(effect.q is not None for effect in every)
    if count > 1:
        notes.append(f"q is over the {count} effects of this table; an interval is of one by itself.")
    if any(effect.n == 1 for effect in every):
        notes.append("An interval of one seed is over cases alone.")
    return Table("probe_effects", "Probe scores", _EFFECTS, tuple(rows), tuple(notes))
