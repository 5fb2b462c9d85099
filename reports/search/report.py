"""A search for a learning rate as far as it is: its trials and what they say of the best rate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ablations.search import Search, Tried, rounded
from reports.search.curve import Optimum, find_optimum


@dataclass(frozen=True)
class SearchReport:
    """A search as far as it is."""

    search: Search
    tried: tuple[Tried, ...]
    optimum: Optimum | None
    """None before the first trial is done."""

    @property
    def rate(self) -> float | None:
        """The rate found, as it is told and adopted."""
        return rounded(self.optimum.rate) if self.optimum else None

    @property
    def done(self) -> list[tuple[Tried, float]]:
        """Trials that are done, with their nats."""
        return [(each, each.nats) for each in self.tried if each.state == "done" and each.nats is not None]

    @property
    def unfinished(self) -> int:
        """Trials that are still to come, or under way."""
        return max(0, self.search.trials - sum(each.state in ("done", "pruned", "diverged") for each in self.tried))


def search_report(search: Search, tried: Sequence[Tried]) -> SearchReport:
    """The report of a search whose trials stand so."""
    report = SearchReport(search, tuple(tried), None)
    return replace(report, optimum=find_optimum([(each.rate, nats) for each, nats in report.done], search.rates))
