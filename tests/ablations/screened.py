"""Screens of real enhancements on gonn-b5 under the budget cpu, laid out without any data."""

from functools import cache

from ablations.designs import budget_config
from ablations.registry import load_registry
from ablations.screens.arms import Flips, screen_arms
from ablations.study import Study, TrialRef, seeded
from gonn_core.config import trial_id

REGISTRY = load_registry()
PINNED = {
    "parametric_relu": ".x.x.x.x.x.x.x.xx.x.x.x.x.x.x.x.",
    "ladder_input": "..xx..xx..xx..xxxx..xx..xx..xx..",
    "dilated_convolutions": ".xx..xx..xx..xx.x..xx..xx..xx..x",
    "global_pooling_head": "................x..x.xx..xx.x..x",
    "stdev_pooling": ".................xx.x..xx..x.xx.",
    "chain_pooling": "....xxxx....xxxxxxxx....xxxx....",
    "history_dropping": ".x.xx.x..x.xx.x.x.x..x.xx.x..x.x",
    "four_liberties": "..xxxx....xxxx..xx....xxxx....xx",
    "three_liberties_after_play": ".xx.x..x.xx.x..xx..x.xx.x..x.xx.",
    "five_moves_of_history": "........xxxxxxxxxxxxxxxx........",
    "ko_plane": ".x.x.x.xx.x.x.x.x.x.x.x..x.x.x.x",
    "batchnorm_gamma": "..xx..xxxx..xx..xx..xx....xx..xx",
    "stem_kernel_5x5": ".xx..xx.x..xx..xx..xx..x.xx..xx.",
    "stem_center_kernel": "....xxxxxxxx....xxxx........xxxx",
    "center_init": ".x.xx.x.x.x..x.xx.x..x.x.x.xx.x.",
    "global_pooling_trunk": "..xxxx..xx....xxxx....xx..xxxx..",
}
"""Card -> in which arms it is changed (x)."""
SEEDS = "11222211221111221122221122111122"
"""The seed of each arm."""


@cache
def flips_of(*names: str) -> Flips:
    """Those cards on gonn-b5 under the budget cpu."""
    base, budget = REGISTRY.base("gonn-b5"), REGISTRY.budget("cpu")
    return Flips(base.id, budget_config(base, budget), [REGISTRY.card(name).on_base(base.id, "cpu") for name in names])


def study_of(*names: str, fold: str | None = None, runs: int | None = None, held=None, left_out=None) -> Study:
    """The screen of those cards as a study without evaluations."""
    flips = flips_of(*names)
    design = screen_arms(flips, flips.cards, fold)
    count = design.runs_of(runs)
    seeds = tuple(range(1, design.usual_seeds(count) + 1))
    of_arm = design.seeds_of(count, seeds)
    trials = tuple(
        TrialRef(trial=trial_id(seeded(arm.config, seed)), arm=arm.id, seed=seed)
        for seed in seeds
        for arm in design.arms
        if seed in of_arm[arm.id]
    )
    return Study(
        id="a-screen", title="a screen", cards=names, base="gonn-b5", budget="cpu", design="screen", data="starter",
        coverage="", pairing="by_position", seeds=seeds, arms=design.arms, contrasts=design.contrasts, trials=trials,
        evaluations=(), thresholds={"min_seeds": 3.0}, held=held or {}, left_out=left_out or {}, created="", commit="",
        dirty=False,
    )  # fmt: skip
