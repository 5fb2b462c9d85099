"""Effects of the runs of one base: how often intervals cover them, and how much of what is shown is false."""

from collections.abc import Sequence

import numpy as np

from tests.error_rates.judged import COVERED, FALSE, NOISY, POWER, answers, effects_of, model_of
from tests.error_rates.made import BASE, MANY, PLAIN, Arm, Noise, add_one, make_runs, screen
from tests.error_rates.rates import Bar, Case, Table

LEVELS, ADD_ONE = 16, 9
TRUE = np.array([-0.03, 0.03, -0.02, -0.015, 0.01] + [0.0] * 11)
PAIR, LARGE = 0.002, {(0, 1): 0.03, (5, 6): 0.02}
"""Standard deviation of small interactions everywhere, and two large ones."""
LOUD = 7.0
NOISIER = 3
HALVES = Noise(training=0.009, run_by_games=0.0, arm_by_games=0.009 / 2, games=20, unequal=True)
"""With 4 seeds, half of the variance of an effect is the games'."""
SLIGHTLY = Noise(scale={MANY: 1.4})
MEAN, AT_BASE = "", "at the base: "


def _bars(
    prefix: str, least: float, own: float | None, real: bool, judged: bool, most: float | None = 0.985
) -> dict[str, Bar]:
    """own: least coverage of the noisy levels, 0 where it is only shown, None without any."""
    bars = {f"{prefix}{COVERED}": Bar(least, None if prefix else most)}
    if own is not None:
        bars[f"{prefix}{NOISY}"] = Bar(own or None)
    if judged:
        bars[f"{prefix}{FALSE}"] = Bar(most=0.06)
        bars |= {f"{prefix}{POWER}": Bar()} if real else {}
    return bars


def _alone(count: int, seeds: int, what: str = "", noise: Noise = PLAIN, **options) -> Case:
    """Levels each alone beside the base. options: `least` coverage, of the noisy ones `own`; `effects`: the true
    ones."""
    truths = options.get("effects", np.zeros(count))
    noisy = [level for level in noise.scale if level >= 0]

    def draw(generator: np.random.Generator) -> Table:
        effects, _ = effects_of(model_of(make_runs(generator, add_one(count, seeds), truths, noise)))
        return answers(effects, truths, noisy)

    bars = _bars(MEAN, options.get("least", 0.94), options.get("own", 0.91 if noisy else None), any(truths), True)
    if count == len(noisy):
        del bars[COVERED]
    return Case("alone", f"{count} alone, n={seeds}{what}", draw, bars, 0.5 if count > 5 else 1.0)


def _together(
    name: str, arms: Sequence[Arm], effects: np.ndarray, noise: Noise = PLAIN, pair: float = 0.0, **options
) -> Case:
    """Runs that combine levels. options: `least` coverage of means and of effects at the base; of the noisy levels
    `own`; `most`: most of means; `large`: interactions; `has_base`: whether the runs tell effects at the base;
    `loud`: the first of the levels whose interactions are `LOUD` times as large; `share`."""
    loud = options.get("loud", len(effects))
    noisy = [*(level for level in noise.scale if level >= 0), *range(loud, len(effects))]
    large = options.get("large", LARGE if pair else {})
    rows = np.array([levels for levels, _ in arms])
    combined = rows.T @ rows > 0

    def draw(generator: np.random.Generator) -> Table:
        pairs = np.triu(pair * generator.standard_normal((len(effects), len(effects))), 1)
        pairs[loud:, loud:] *= LOUD
        for both, size in large.items():
            pairs[both] += size
        model = model_of(make_runs(generator, arms, effects, noise, pairs))
        table: dict[str, float] = {}
        truths = effects + (combined * (pairs + pairs.T)).sum(1) / 2, effects
        for prefix, found, truth in zip((MEAN, AT_BASE), effects_of(model), truths, strict=True):
            table |= {f"{prefix}{question}": value for question, value in answers(found, truth, noisy).items()}
        return table

    least, own = options.get("least", (0.94, 0.93)), options.get("own", (0.91, 0.0) if noisy else (None, None))
    bars: dict[str, Bar] = {}
    for prefix, *each in zip((MEAN, AT_BASE) if options.get("has_base", True) else (MEAN,), least, own, strict=False):
        bars |= _bars(prefix, *each, any(effects), prefix == MEAN, options.get("most", 0.985))
    return Case("together", name, draw, bars, options.get("share", 0.2))


def _grouped(runs: int, arms: int = 32) -> list[Arm]:
    return add_one(ADD_ONE, 4, LEVELS) + screen(LEVELS, arms, runs)


def _aliased(runs: int) -> list[Arm]:
    """The last two levels are always changed together."""
    return [([*levels[:-1], levels[-2]], seeds) for levels, seeds in _grouped(runs)]


def _two_screens(arms: int = 32) -> list[Arm]:
    """Single runs of each half of the levels, next to repeated ones that change one."""
    half, none = LEVELS // 2, [0.0] * (LEVELS // 2)
    sides = [
        [([*none, *row] if second else [*row, *none], seeds) for row, seeds in screen(half, arms)] for second in (0, 1)
    ]
    return add_one(ADD_ONE, 4, LEVELS) + sides[0] + sides[1]


def _noisy(level: int = NOISIER, **noise) -> Noise:
    return Noise(scale={level: 3.0}, **noise)


ALONE = [
    *(_alone(count, seeds) for seeds in (3, 4, 8) for count in (1, 6)),
    _alone(16, 4),
    _alone(6, 4, ", five effects", effects=np.array([-0.06, 0.05, -0.04, 0.03, 0.02, 0.0])),
    *(
        _alone(count, seeds, ", one 3x as noisy", _noisy(0), own=0.88 if seeds == 3 else 0.91)
        for count in (1, 6, 16)
        for seeds in (3, 4, 8)
    ),
    _alone(6, 4, ", base 3x as noisy", _noisy(BASE), least=0.93),
    _alone(6, 4, ", t(3)", Noise(shape="t3")),
    _alone(6, 4, ", exponential", Noise(shape="exponential")),
    _alone(6, 4, ", 5 % of runs 6 sd worse", Noise(shape="accidents")),
    _alone(6, 4, ", a tenth lost", Noise(lost=0.1)),
    _alone(6, 4, ", 20 games, half of the noise", HALVES),
]

SMALL = [*add_one(12, 4), ([1.0, 1.0, *[0.0] * 10], range(4))]
"""Many levels alone, and one full factorial of two."""

NOTHING = np.zeros(LEVELS)
TOGETHER = [
    # Interactions stay in the noise of single runs.
    _together("32 single runs, interactions", _grouped(1), TRUE, pair=PAIR, most=None),
    _together("two runs an arm, interactions", _grouped(2), TRUE, pair=PAIR),
    _together("two runs an arm", _grouped(2), TRUE),
    _together("two runs an arm, nothing", _grouped(2), NOTHING),
    _together("32 single runs, nothing", _grouped(1), NOTHING),
    _together(
        "two runs an arm, interactions, a level 3x as noisy", _grouped(2), TRUE, _noisy(), PAIR, least=(0.93, 0.93)
    ),
    _together("two runs an arm, a level 3x as noisy", _grouped(2), TRUE, _noisy(), least=(0.93, 0.93)),
    _together("two runs an arm, nothing, a level 3x as noisy", _grouped(2), NOTHING, _noisy(), least=(0.93, 0.93)),
    _together("two runs an arm, interactions, base 3x as noisy", _grouped(2), TRUE, _noisy(BASE), PAIR),
    _together("two runs an arm, interactions, t(3)", _grouped(2), TRUE, Noise(shape="t3"), PAIR),
    _together("two runs an arm, interactions, exponential", _grouped(2), TRUE, Noise(shape="exponential"), PAIR),
    _together(
        "two runs an arm, interactions, 5 % of runs 6 sd worse", _grouped(2), TRUE, Noise(shape="accidents"), PAIR
    ),
    _together("two runs an arm, interactions, a tenth lost", _grouped(2), TRUE, Noise(lost=0.1), PAIR),
    _together("two runs an arm, interactions, 20 games", _grouped(2), TRUE, Noise(games=20, unequal=True), PAIR),
    _together("two runs an arm, interactions, an aliased pair of levels", _aliased(2), TRUE, pair=PAIR),
    _together("screen of two runs an arm alone, interactions", screen(LEVELS, 32, 2), TRUE, pair=PAIR),
    _together("screen of 32 single runs alone", screen(LEVELS, 32), TRUE, has_base=False),
    _together("32 single runs, interactions, many changes 3x as noisy", _grouped(1), TRUE, _noisy(MANY), PAIR),
    _together("two runs an arm, interactions, many changes 3x as noisy", _grouped(2), TRUE, _noisy(MANY), PAIR),
    _together("32 single runs, many changes 3x as noisy", _grouped(1), TRUE, _noisy(MANY)),
    _together("64 single runs, interactions", _grouped(1, arms=64), TRUE, pair=PAIR),
    _together("64 single runs, interactions, many changes 1.4x as noisy", _grouped(1, arms=64), TRUE, SLIGHTLY, PAIR),
    _together("64 single runs, interactions, many changes 3x as noisy", _grouped(1, arms=64), TRUE, _noisy(MANY), PAIR),
    _together("two screens of single runs, interactions", _two_screens(), TRUE, pair=PAIR, large={}, most=None),
    _together(
        "two screens of single runs, interactions of the second 7x",
        _two_screens(),
        TRUE,
        pair=PAIR,
        large={},
        loud=LEVELS // 2,
        own=(0.91, 0.0),
        most=None,
    ),
    _together("12 alone and a 2 x 2", SMALL, np.zeros(12), large={}),
    _together("12 alone and a 2 x 2 with an interaction of 0.03", SMALL, np.zeros(12), large={(0, 1): 0.03}),
    _together("12 alone and a 2 x 2, one alone 3x as noisy", SMALL, np.zeros(12), _noisy(), large={}, own=(0.91, None)),
    _together("12 alone and a 2 x 2, one of the two 3x as noisy", SMALL, np.zeros(12), _noisy(0), large={}),
]
"""Levels alone and a screen of all of them, and what a group may be made of besides."""
CASES = [*ALONE, *TOGETHER]
