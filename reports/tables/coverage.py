"""The coverage of a data set (`kgs, 4 of 15 training years (missing 2000, …)`): in full once a page, else in short."""

import re

_MISSING = re.compile(r" \(missing [^()]*\)")


def in_short(coverage: str) -> str:
    """Without the list of what is missing."""
    return _MISSING.sub("", coverage)
