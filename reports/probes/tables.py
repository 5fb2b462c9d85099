"""Tables of a trial's or a study's answers to probes."""

from collections.abc import Mapping

import numpy as np

from gonn_core.evaluation.probes.stored import ProbeAnswers, rescaled
from gonn_core.evaluation.probes.suite import PublishedPosition, published
from gonn_core.go.points import point_name
from reports.probes.effects import GroupEffect, common_suite, study_effects
from reports.results.study_results import StudyResults
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95
from reports.tables.verdicts import verdict_text

_CLASSES = ((0, 3), (4, 6), (7, 10), (11, 18))
"""Distances that share a row."""
_NOTE = (
    "found: a right move is likelier than all it is set against; score: probability of right among right and wrong "
    "moves, rescaled so that chance is 0 and certainty 100 %"
)
_FAR_CLASSES = _CLASSES[1:]
"""Nearer stones decide none of the ladders cut from games."""
_HEAD_NOTE = (
    "Pairs of positions in which one far stone decides a ladder, asked of the net's ladder head. right: its "
    "probability for the stones in question is above 50 % where the ladder works, or not above where it fails; "
    "answering the same everywhere gives 50 % over both."
)


def ladder_head_table(answers: ProbeAnswers, title: str) -> Table | None:
    """One row for all pairs, one per class of distance, one per stone of the documents' positions; None for a net
    without a ladder head."""
    head = answers.ladder_head
    if head is None:
        return None
    answered, distance = ~np.isnan(head.works), answers.arrays["distance"]
    rows = [_pairs_row("all", "ladders", head, answered)]
    for low, high in _FAR_CLASSES:
        inside = answered & (distance >= low) & (distance <= high)
        rows.append(_pairs_row(f"{low}-{high}", f"  {low}–{high} away", head, inside))
    for shown in published():
        side = "fails" if shown.case.name.endswith("broken") else "works"
        for stone, share in shown.laddered.items():
            laddered = answers.laddered(shown.case.name)
            assert laddered is not None  # the net has a ladder head
            ours = float(laddered[stone])
            name = f"{shown.case.name} {point_name(stone)}"
            cell = Cell(f"{_percent(ours)} (published {_percent(share)})", ours)
            rows.append(Row(name, {"pairs": Cell(name), f"p_{side}": cell}))
    columns = [
        Column("pairs", "ladder head", "left"),
        Column("cases", "pairs"),
        Column("right", "right"),
        Column("right_works", "where it works"),
    ]
    columns += [
        Column("right_fails", "where it fails"),
        Column("p_works", "P(laddered), works"),
        Column("p_fails", "P(laddered), fails"),
    ]
    blank = {column.key: Cell("") for column in columns}
    return Table(
        "ladder_head", title, tuple(columns), tuple(Row(row.key, {**blank, **row.cells}) for row in rows), (_HEAD_NOTE,)
    )


def _pairs_row(key: str, name: str, head, chosen: np.ndarray) -> Row:
    works, fails = head.works[chosen], head.fails[chosen]
    cells = {"pairs": Cell(name), "cases": Cell(f"{len(works):,}", len(works))}
    if len(works):
        right = {"right_works": (works > 0.5).mean(), "right_fails": (fails <= 0.5).mean()}
        shares = {
            "right": (right["right_works"] + right["right_fails"]) / 2,
            **right,
            "p_works": works.mean(),
            "p_fails": fails.mean(),
        }
        cells |= {name: Cell(_percent(share), float(share)) for name, share in shares.items()}
    return Row(key, cells)


def groups_table(answers: ProbeAnswers, title: str) -> Table:
    """One row per group, and one per class of distance within it."""
    arrays, rows = answers.arrays, []
    for number, group in enumerate(answers.summary["groups"]):
        inside = (arrays["group"] == number) & ~np.isnan(arrays["chance"])
        classes = [
            (f"{low}–{high} away", inside & (arrays["distance"] >= low) & (arrays["distance"] <= high))
            for low, high in _CLASSES
        ]
        for name, chosen in (
            (group["name"].replace("_", " "), inside),
            *(each for each in classes if group["name"] != "published"),
        ):
            if chosen.any():
                rows.append(_group_row(f"{group['name']} {name}", name, answers, chosen))
    columns = [
        Column("group", "probes", "left"),
        *(Column(key, key) for key in ("cases", "found", "score")),
        Column("right", "P(right)"),
        Column("wrong", "P(wrong)"),
    ]
    return Table("probes", title, tuple(columns), tuple(rows), (_NOTE,))


def _group_row(key: str, name: str, answers: ProbeAnswers, chosen: np.ndarray) -> Row:
    solved, chance = answers.solved()[chosen], answers.arrays["chance"][chosen]
    shares = {"found": solved.mean(), "score": rescaled(answers.arrays["share"][chosen], chance).mean()}
    shares |= {side: answers.arrays[side][chosen].mean() for side in ("right", "wrong")}
    cells = {side: Cell(_percent(value), float(value)) for side, value in shares.items()}
    return Row(
        key,
        {
            "group": Cell(("  " if "away" in name else "") + name),
            "cases": Cell(f"{chosen.sum():,}", int(chosen.sum())),
            **cells,
        },
    )


def positions_table(answers: ProbeAnswers, positions: tuple[PublishedPosition, ...]) -> Table:
    """One row per test position: the likeliest moves, and the named one beside the published figures."""
    rows = []
    for each in positions:
        policy = answers.policy(each.case.name)
        best = ", ".join(
            f"{point_name(int(move))} {_percent(policy[move])}" for move in np.argsort(-policy, kind="stable")[:3]
        )
        named = [*((move, "right") for move in each.case.right), *((move, "wrong") for move in each.case.wrong)]
        ours = ", ".join(f"{point_name(move)} ({side}) {_percent(policy[move])}" for move, side in named)
        cells = {
            "position": Cell(each.case.name),
            "named": Cell(ours),
            "published": Cell("; ".join(_published(each, named))),
            "best": Cell(best),
        }
        rows.append(Row(each.case.name, cells))
    columns = (
        Column("position", "position", "left"),
        Column("named", "named move", "left"),
        Column("published", "published nets", "left"),
        Column("best", "likeliest here", "left"),
    )
    return Table("positions", "Test positions of the documents", columns, tuple(rows))


def _published(each: PublishedPosition, named: list[tuple[int, str]]) -> list[str]:
    texts = []
    for picture, moves in each.pictures.items():
        if moves:
            shown = [move for move, _ in named] or [next(iter(moves))]
            figures = (
                f"{point_name(move)} {_percent(moves[move]) if move in moves else 'not among its best'}"
                for move in shown
            )
            texts.append(f"{picture} {', '.join(figures)}")
    return texts


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
            effect, interval = each.effect, each.effect.interval95
            delta = formats.with_interval(effect.delta, interval, "share")
            ends = [interval.low, interval.high] if interval else []
            cells = {
                "card": Cell(card, card),
                "group": Cell(each.group.replace("_", " "), each.group),
                "cases": Cell(f"{each.cases:,}", each.cases),
                "off": Cell(_percent(each.off), each.off),
                "on": Cell(_percent(each.on), each.on),
                "delta": Cell(delta, [effect.delta, *ends]),
                "q": Cell(formats.q_value(effect.q), effect.q),
                "verdict": _verdict(each),
                "bound": Cell("", None if each.verdict is None else effect.bound),
                "n": Cell(str(effect.n), effect.n),
            }
            rows.append(Row(f"{card} {each.group}", cells))
    columns = (
        Column("card", "enhancement", "left"),
        Column("group", "probes", "left"),
        Column("cases", "cases"),
        Column("off", "score without"),
        Column("on", "with"),
        Column("delta", "Δ points, 95 %", parts=("delta", *interval95())),
        Column("q", "q", printed=False),
        Column("verdict", "verdict", "left"),
        Column("bound", "smaller than", printed=False),
        Column("n", "seeds"),
    )
    known = [each.effect for groups in effects.values() for each in groups]
    notes, count = [], sum(effect.q is not None for effect in known)
    if count > 1:
        notes.append(f"q is over the {count} effects of this table; an interval is of one by itself.")
    if any(effect.n == 1 for effect in known):
        notes.append("An interval of one seed is over cases alone.")
    return Table("probe_effects", "Probe scores", columns, tuple(rows), tuple(notes))


def _verdict(each: GroupEffect) -> Cell:
    """The word alone in CSV."""
    if each.verdict is None:
        return Cell(formats.NONE)
    return Cell(verdict_text(each.verdict, each.effect, "probe"), each.verdict)


def _percent(share: float) -> str:
    return formats.minus(f"{100 * share:.1f} %")
