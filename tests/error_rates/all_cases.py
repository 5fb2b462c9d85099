"""Every case, in the order of the audit's tables."""

from tests.error_rates import (
    cards,
    claims,
    growing,
    looks,
    margins,
    mixed,
    pages,
    plain,
    pools,
    screens,
    strings,
    win_rates,
)
from tests.error_rates.rates import Case

CASES: list[Case] = [
    *plain.CASES,
    *claims.CASES,
    *cards.CASES,
    *margins.CASES,
    *win_rates.CASES,
    *pages.CASES,
    *pools.CASES,
    *growing.CASES,
    *looks.CASES,
    *screens.CASES,
    *strings.CASES,
    *mixed.CASES,
]
