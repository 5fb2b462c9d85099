"""Cases, what is asked of them, and how often each thing happened."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Table = Mapping[str, float | np.floating]
"""What happened in one made table, by question: a share of its effects, 0 or 1, or a number of seeds."""


@dataclass(frozen=True)
class Bar:
    """What a rate has to keep to: at most `most`, at least `least`; neither: it is only shown. unit: % or another, of
    the mean."""

    least: float | None = None
    most: float | None = None
    unit: str = "%"

    @property
    def words(self) -> str:
        if self.least is not None and self.most is not None:
            return f"{self._number(self.least)} to {self._number(self.most)}"
        if self.least is not None:
            return f">= {self._number(self.least)}"
        return "" if self.most is None else f"<= {self._number(self.most)}"

    def _number(self, value: float) -> str:
        return f"{100 * value:g}" if self.unit == "%" else f"{value:g}"


@dataclass(frozen=True)
class Case:
    """One situation. draw: makes one table with a generator and says what happened in it, by question; bars: of the
    questions, in the order in which they are shown; share: of the tables of a full run that this case gets."""

    group: str
    name: str
    draw: Callable[[np.random.Generator], Table]
    bars: Mapping[str, Bar]
    share: float = field(default=1.0)


@dataclass(frozen=True)
class Rate:
    """The answer to one question over all tables of a case. error: Monte-Carlo standard error of `value`."""

    case: Case
    question: str
    value: float
    error: float
    tables: int

    @property
    def bar(self) -> Bar:
        return self.case.bars[self.question]

    def keeps(self, errors: float = 3.0) -> bool:
        """Whether the bar is kept, but for `errors` standard errors of this simulation. What must never or always
        happen has no such allowance."""
        return not self._beyond(self.bar.least, -1.0, errors) and not self._beyond(self.bar.most, 1.0, errors)

    def _beyond(self, bar: float | None, side: float, errors: float) -> bool:
        if bar is None:
            return False
        allowance = 0.0 if bar in (0.0, 1.0) else errors * (self.error or (bar * (1 - bar) / self.tables) ** 0.5)
        return side * (self.value - bar) > allowance


def run_case(case: Case, tables: int, seed: int) -> list[Rate]:
    """All rates of a case over so many made tables; the same for the same seed, whatever else is run."""
    generator = np.random.default_rng([seed, *case.group.encode(), *case.name.encode()])
    found: dict[str, list[float]] = {question: [] for question in case.bars}
    for _ in range(tables):
        table = case.draw(generator)
        for question, values in found.items():
            values.append(float(table[question]))
    return [_rate(case, question, np.array(values)) for question, values in found.items()]


def _rate(case: Case, question: str, values: np.ndarray) -> Rate:
    """Over the tables that say anything of the question."""
    values = values[~np.isnan(values)]
    tables = len(values)
    error = float(values.std(ddof=1) / tables**0.5) if tables > 1 else float("nan")
    return Rate(case, question, float(values.mean()), error, tables)


def named(cases: Sequence[Case], words: Sequence[str]) -> Iterator[Case]:
    """Those whose group or name holds one of the words; all without words."""
    return (case for case in cases if not words or any(word in f"{case.group} {case.name}" for word in words))
