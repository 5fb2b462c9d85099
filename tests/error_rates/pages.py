"""Pages over several bases: what share of the effects that are said to help or hurt is false.

Where nothing has an effect this is the share of pages that say of anything that it helps or hurts.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from reports.stats.estimates import Effect
from reports.stats.verdicts import with_q
from tests.error_rates.judged import FALSE, POWER, THRESHOLDS, effects_of, false_share, is_shown, model_of
from tests.error_rates.made import BASE, PLAIN, TRAINING, Noise, add_one, make_runs
from tests.error_rates.rates import Bar, Case, Table

OF_160, OF_30, LONE = (50, 27, 25, 22, 19, 7, 6, 4), (9, 8, 6, 4, 3), (1,) * 8
"""Effects of each base."""
SIZES = (1.0, 2.0, 3.0, 5.0)
"""Of a real effect, in standard deviations of a difference of two runs."""


def _case(name: str, bases: Sequence[int], null: float = 1.0, seeds: int = 4, **options) -> Case:
    """null: share of the effects that are 0. options: `spread`, of the logarithm of each arm's noise; `noisy`, share of
    the arms three times as noisy; `base`, factor of the noise of all bases; `noise`; `share`."""
    noise: Noise = options.get("noise", PLAIN)

    def draw(generator: np.random.Generator) -> Table:
        page: dict[int, Effect] = {}
        truths: list[float] = []
        for count in bases:
            sizes = generator.choice(SIZES, count) * generator.choice([-1, 1], count) * 2**0.5 * TRAINING
            own = np.where(generator.random(count) < null, 0.0, sizes)
            scale = np.exp(options.get("spread", 0.0) * generator.standard_normal(count))
            scale *= np.where(generator.random(count) < options.get("noisy", 0.0), 3.0, 1.0)
            factors = {**dict(enumerate(scale.tolist())), BASE: options.get("base", 1.0)}
            runs = make_runs(generator, add_one(count, seeds), own, replace(noise, scale=factors))
            effects, _ = effects_of(model_of(runs))
            page |= {len(truths) + level: each for level, each in effects.items()}
            truths += own.tolist()
        page = with_q(page, THRESHOLDS)
        shown = {number: each for number, each in page.items() if is_shown(each)}
        real = [number in shown for number, truth in enumerate(truths) if abs(truth) >= 0.05]
        return {FALSE: false_share(shown, truths), POWER: np.mean(real) if real else np.nan}

    bars = {FALSE: Bar(most=0.06)} | ({POWER: Bar()} if null < 1 else {})
    return Case("pages", name, draw, bars, options.get("share", 0.5 if bases == OF_30 else 0.1))


UNEQUAL = {"spread": 0.3, "noisy": 0.05}
CASES = [
    _case("30 of 5 bases, nothing", OF_30, **UNEQUAL),
    _case("30 of 5 bases, 80 % nothing", OF_30, 0.8, **UNEQUAL),
    _case("30 of 5 bases, nothing, bases 3x as noisy", OF_30, base=3.0),
    _case("30 of 5 bases, 80 % nothing, bases 3x as noisy", OF_30, 0.8, base=3.0),
    _case("30 of 5 bases, nothing, t(3)", OF_30, noise=Noise(shape="t3")),
    _case("8 lone ones of 8 bases, nothing, n=3", LONE, seeds=3, share=1.0),
    _case("160 of 8 bases, nothing", OF_160, **UNEQUAL),
    _case("160 of 8 bases, 80 % nothing", OF_160, 0.8, **UNEQUAL),
    _case("160 of 8 bases, nothing, bases 3x as noisy", OF_160, base=3.0),
    _case("160 of 8 bases, 80 % nothing, bases 3x as noisy", OF_160, 0.8, base=3.0),
]
