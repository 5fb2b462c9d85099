"""Every case."""

from tests.error_rates import bounds, cards, claims, groups, growing, looks, pages, win_rates
from tests.error_rates.rates import Case

CASES: list[Case] = [
    *groups.CASES,
    *pages.CASES,
    *looks.CASES,
    *growing.CASES,
    *claims.CASES,
    *cards.CASES,
    *bounds.CASES,
    *win_rates.CASES,
]
