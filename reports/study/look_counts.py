"""Looks at test results before a study was finished, counted and said."""

from collections.abc import Mapping


def looks_text(looks: Mapping[str, int]) -> str:
    """One sentence for a table's footer; `looks`: how often test results were shown, by table or command.

    No alpha is spent on them: each look at unfinished results that may decide whether more seeds are run raises the
    chance of a false helps or hurts above alpha, and the reader has to weigh that.
    """
    total = sum(looks.values())
    if total <= 1:
        return f"Looks at the test results: {total}."
    parts = ", ".join(f"{name} {count}" for name, count in looks.items() if count)
    return f"Looks at the test results: {total} ({parts}); intervals and p values are not corrected for having looked before."
