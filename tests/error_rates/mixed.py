"""Runs of a base from add-one studies and from a screen together, in one mixed model: both effects of every level, with
interactions or without, noisier runs, heavy tails, missing runs. Written without anything of the analysis."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from reports.stats.mixed import Coding, Design, Fit
from tests.error_rates.rates import Bar, Case, Table

LEVELS, ADD_ONE, SEEDS, ARMS = 16, 9, 4, 32
TRUE = np.array([-0.03, 0.03, -0.02, -0.015, 0.01] + [0.0] * 11)
OF_A_RUN, OF_A_SEED, LARGE = 0.0125, 0.0027, {(0, 1): 0.03, (5, 6): 0.02}
NOISY = 3
FALSE_SHARE, POWER = "false among those shown", "shown of four effects of 0.015 to 0.03"


@dataclass(frozen=True)
class Made:
    """runs: of an arm of the screen; pair: sd of each interaction, with the large ones; noisier: factor of the noise of
    runs with level `NOISY`; tails: degrees of freedom of Student's t; lost: share of the runs that is missing."""

    runs: int
    pair: float = 0.0
    effects: bool = True
    noisier: float = 1.0
    tails: float = 1e9
    lost: float = 0.0

    def draw(self, generator: np.random.Generator) -> tuple[Design, np.ndarray, dict[Coding, np.ndarray]]:
        """A design, the loss of each run, and the true effects in either coding."""
        odd = [number for number in range(ARMS) if number.bit_count() % 2][:LEVELS]
        screen = [[(arm & number).bit_count() % 2 for number in odd] for arm in range(ARMS)]
        single = [[0] * LEVELS, *np.eye(LEVELS)[:ADD_ONE].tolist()]
        arms = [(arm, seed) for arm in single for seed in range(SEEDS)]
        arms += [(arm, (seed + arm[0] * (self.runs == 1)) % 2) for arm in screen for seed in range(self.runs)]
        kept = generator.random(len(arms)) >= self.lost
        changes = np.array([arm for arm, _ in arms], float)[kept]
        seeds = np.array([seed for _, seed in arms])[kept]
        pairs = np.triu(generator.normal(0.0, self.pair, (LEVELS, LEVELS)), 1)
        for both, size in LARGE.items() if self.pair else ():
            pairs[both] += size
        at_base = TRUE * self.effects
        noise = generator.standard_t(self.tails, len(changes)) * np.where(changes[:, NOISY], self.noisier, 1.0)
        noise *= OF_A_RUN / (self.tails / (self.tails - 2)) ** 0.5
        shared = generator.normal(0.0, OF_A_SEED, SEEDS)[seeds]
        values = 2.5 + changes @ at_base + np.einsum("ri,ij,rj->r", changes, pairs, changes) + noise + shared
        mean = at_base + (pairs + pairs.T).sum(1) / 2
        return (
            Design(changes, [str(level) for level in range(LEVELS)], seeds.tolist()),
            values,
            {"mean": mean, "base": at_base},
        )


def _answers(design: Design, values: np.ndarray, coding: Coding, truth: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Which effects their intervals cover, the share that is false among those shown at a false discovery rate of 5 %,
    and the share shown of the four largest."""
    fit = Fit(design, values, coding)
    found = [fit.estimate(row) for row in np.eye(LEVELS)]
    size, error = np.array([each.value for each in found]), np.array([each.variance**0.5 for each in found])
    df = np.array([each.df for each in found])
    shown = stats.false_discovery_control(2 * stats.t.sf(abs(size) / error, df)) <= 0.05
    false = shown & ((np.abs(truth) < 1e-12) | (np.sign(truth) != np.sign(size)))
    hits = np.abs(size - truth) <= stats.t.isf(0.025, df) * error
    return hits, false.sum() / max(shown.sum(), 1), shown[:4].mean()


def _case(name: str, made: Made, others: tuple[float, float] = (0.94, 0.93), own: float | None = None) -> Case:
    """others: least coverage of the mean effects and of those at the base; own: of the noisy level's, in both."""

    def draw(generator: np.random.Generator) -> Table:
        design, values, truths = made.draw(generator)
        table: dict[str, float] = {}
        for coding, truth in truths.items():
            hits, false, power = _answers(design, values, coding, truth)
            table[f"{coding}: covered"] = np.delete(hits, NOISY).mean() if own else hits.mean()
            table[f"{coding}: covered, noisy"] = hits[NOISY]
            table[f"{coding}: {FALSE_SHARE}"], table[f"{coding}: {POWER}"] = false, power
        return table

    bars: dict[str, Bar] = {}
    codings: Sequence[Coding] = ("mean", "base")
    for coding, least in zip(codings, others, strict=True):
        bars[f"{coding}: covered"] = Bar(least=least)
        if own:
            bars[f"{coding}: covered, noisy"] = Bar(least=own)
        bars[f"{coding}: {FALSE_SHARE}"] = Bar(most=0.06)
        bars[f"{coding}: {POWER}"] = Bar()
    return Case("mixed", name, draw, bars, share=0.25)


CASES = [
    _case("one model, single runs, interactions", Made(1, pair=0.002)),
    _case("one model, two runs, interactions", Made(2, pair=0.002)),
    _case("one model, two runs, no interactions", Made(2)),
    _case("one model, two runs, nothing at all", Made(2, effects=False)),
    _case("one model, two runs, interactions, a level 3x as noisy", Made(2, 0.002, noisier=3.0), (0.93, 0.93), 0.91),
    _case("one model, two runs, a level 3x as noisy", Made(2, noisier=3.0), (0.93, 0.93), 0.91),
    _case("one model, two runs, interactions, heavy tails", Made(2, pair=0.002, tails=3.0)),
    _case("one model, two runs, interactions, a tenth lost", Made(2, pair=0.002, lost=0.1)),
]
