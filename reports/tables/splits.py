"""Words that tell of which games a number is: `test nats`, `validation top-1`."""

from collections.abc import Sequence
from dataclasses import replace

from reports.tables.cells import Column

SPLIT = "{split}"
"""Stands in titles and CSV names of columns for the split of the evaluation that fills them."""


def of_split(columns: Sequence[Column], split: str) -> tuple[Column, ...]:
    """The columns with `split` (validation or test) in their titles and the names of their CSV columns."""
    return tuple(
        replace(
            column,
            title=column.title.replace(SPLIT, split),
            parts=tuple(part.replace(SPLIT, split) for part in column.parts),
        )
        for column in columns
    )
