"""Table of a ladder head's answers: how often it is right by distance to the deciding stone, and the documents' two
positions."""

import numpy as np

from gonn_core.evaluation.probes.ladder_head import PUBLISHED
from gonn_core.evaluation.probes.stored import ProbeAnswers
from gonn_core.go.points import point_name
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table

CLASSES = ((4, 6), (7, 10), (11, 18))
"""Distances that share a row; nearer stones decide none of the ladders cut from games."""
_NOTE = (
    "Pairs of positions in which one far stone decides a ladder, asked of the net's ladder head. right: its "
    "probability for the stones in question is above"
    " 50 % where the ladder works, or not above where it fails; answering the same everywhere gives 50 % over both."
)


def ladder_head_table(answers: ProbeAnswers, title: str) -> Table | None:
    """One row for all pairs, one per class of distance, one per stone of the documents' positions; None for a net
    without a ladder head."""
    head = answers.ladder_head
    if head is None:
        return None
    answered, distance = ~np.isnan(head.works), answers.arrays["distance"]
    rows = [_pairs_row("all", "ladders", head, answered)]
    for low, high in CLASSES:
        inside = answered & (distance >= low) & (distance <= high)
        rows.append(_pairs_row(f"{low}-{high}", f"  {low}–{high} away", head, inside))
    for case, stones in PUBLISHED.items():
        side = "fails" if case.endswith("broken") else "works"
        for stone, published in stones.items():
            shares = answers.laddered(case)
            assert shares is not None  # the net has a ladder head
            share = float(shares[stone])
            cell = Cell(f"{_percent(share)} (published {_percent(published)})", share)
            rows.append(
                Row(f"{case} {point_name(stone)}", {"pairs": Cell(f"{case} {point_name(stone)}"), f"p_{side}": cell})
            )
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
        "ladder_head", title, tuple(columns), tuple(Row(row.key, {**blank, **row.cells}) for row in rows), (_NOTE,)
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


def _percent(share: float) -> str:
    return formats.minus(f"{100 * share:.1f} %")
