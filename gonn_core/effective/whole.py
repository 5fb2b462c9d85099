"""`effective`: a configuration with every setting put to its default that makes no difference in its run.

Trials of `config` and of `effective(config)` end with the same weights, to the bit, and read their policy in the same
way; two configurations with one effective form compute the same. Configurations that compute the same although theirs
differ are not ruled out: what depends on the games, on gradients or on rounding is not looked at.
"""

from functools import lru_cache

from gonn_core.config import TrialConfig, config_paths, get_path, with_values
from gonn_core.effective import data, nets, schedule, training
from gonn_core.effective.rule import Rule

RULES: tuple[Rule, ...] = (*nets.RULES, *data.RULES, *training.RULES, *schedule.RULES)
"""Applied in this order: what a rule reads of other rules' settings comes before it, or does not depend on them."""
ALWAYS: tuple[str, ...] = (*nets.ALWAYS, *data.ALWAYS, *training.ALWAYS)
"""Settings that make a difference in every run that can have them."""


@lru_cache(4096)
def effective(config: TrialConfig) -> TrialConfig:
    """`config` in the form that all configurations have that compute what it computes, as far as the rules know."""
    for rule in RULES:
        values = {path: value for path, value in rule.values(config).items() if get_path(config, path) != value}
        if values:
            config = with_values(config, values)
    return config


def idle_differences(one: TrialConfig, other: TrialConfig) -> dict[str, tuple[str, ...]] | None:
    """Of two configurations that compute the same: in which settings they differ, by the reason why these make no
    difference. None where they do not compute the same."""
    if effective(one) != effective(other):
        return None
    apart = [path for path in config_paths() if get_path(one, path) != get_path(other, path)]
    reasons: dict[str, tuple[str, ...]] = {}
    for path in apart:
        reason = next(rule.idle for rule in RULES if path in rule.paths)
        reasons[reason] = (*reasons.get(reason, ()), path)
    return reasons
