"""What a document claims of an effect, or of a level, in numbers."""

import math
from dataclasses import dataclass

from reports.stats.verdicts import Direction


@dataclass(frozen=True)
class ClaimedEffect:
    """What a document says of one metric, as treatment - control in the metric's unit, set beside where it was
    measured.

    low, high: the claimed value (equal) or range (-inf or inf: open), None when only a direction is stated; direction:
    how the metric is said to move. differs: the conditions (see `ablations.claimed`) in which the measurement differs
    from the claim's, named.
    from_memory: the evidence is `unverified memory`.
    of_level: low and high are what one arm has itself, a share of 1; the direction is of no account.
    """

    direction: Direction
    low: float | None = None
    high: float | None = None
    differs: tuple[str, ...] = ()
    from_memory: bool = False
    of_level: bool = False

    def __post_init__(self):
        if self.low is None and self.high is None:
            return
        if self.low is None or self.high is None:
            raise ValueError("claim: low and high go together")
        if self.low > self.high or not any(map(math.isfinite, (self.low, self.high))):
            raise ValueError(f"claim: range {self.low} to {self.high}; want low <= high and one of them finite")
        wrong = (self.direction == "decrease" and self.high > 0) or (self.direction == "increase" and self.low < 0)
        if wrong and not self.of_level:
            raise ValueError(f"claim: {self.low} to {self.high} is no {self.direction}")

    @property
    def size(self) -> float | None:
        """|claim| for delta: of the range's middle, or of its finite end; None when only a direction is stated."""
        if self.low is None or self.high is None:
            return None
        ends = [end for end in (self.low, self.high) if math.isfinite(end)]
        return abs(sum(ends) / len(ends))

    @property
    def judged(self) -> bool:
        """Whether it is held against what was found: not one from memory, not one made under other conditions."""
        return not (self.from_memory or self.differs)
