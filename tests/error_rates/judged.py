"""Tables of made arms judged by the project, and what can go wrong in one."""

from collections.abc import Mapping, Sequence

from reports.stats.analysis import Comparison, TableAnalysis, analyse_comparisons
from reports.stats.clusters import ArmResult
from reports.stats.estimates import Effect
from reports.stats.seed_noise import Differences
from reports.stats.verdicts import EffectVerdict, Thresholds

THRESHOLDS = Thresholds()
SHOWN = (EffectVerdict.HELPS, EffectVerdict.HURTS)
CONTROL = "control"


def toggles(count: int, truth: float = 0.0) -> dict[str, float]:
    """True levels of a control and `count` treatments, t1 first."""
    return {CONTROL: 0.0, **{f"t{index}": truth for index in range(1, count + 1)}}


def judge(
    arms: Mapping[str, ArmResult],
    names: Sequence[str] | None = None,
    prior: Mapping[str, Differences] | None = None,
    *,
    control: str = CONTROL,
    **options,
) -> TableAnalysis:
    """The project's analysis of treatments (all, or those named) against the control, paired by seed; options: the
    level of a look, and who is decided."""
    names = [arm for arm in arms if arm != control] if names is None else names
    comparisons = {name: Comparison((name,), (control,)) for name in names}
    return analyse_comparisons(arms, comparisons, THRESHOLDS, "lower", prior=prior, **options)


def covered(effect: Effect, truth: float = 0.0) -> bool:
    """Whether the 95 % interval holds the true effect."""
    assert effect.interval95 is not None
    return effect.interval95.low <= truth <= effect.interval95.high


def any_shown(table: TableAnalysis) -> bool:
    """Whether any effect of the table is said to help or hurt."""
    return any(verdict in SHOWN for verdict in table.verdicts.values())
