"""Every case, in the order of the audit's tables."""

from tests.error_rates import growing, looks, margins, pages, plain, pools, screens, win_rates
from tests.error_rates.rates import Case

CASES: list[Case] = [
    *plain.CASES,
    *margins.CASES,
    *win_rates.CASES,
    *pages.CASES,
    *pools.CASES,
    *growing.CASES,
    *looks.CASES,
    *screens.CASES,
]
