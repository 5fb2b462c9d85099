"""Under what a claim was measured, and in what a comparison made here differs from it.

A claim is judged only where everything agrees that its document tells: planes, net, loss, sampling, optimiser, schedule
and rate, the data set (its years, filter and split) with the filters of both arms, how far the nets were trained, and
over how many samples a training loss was averaged. What neither document nor code tells (`not_told` of base and claim)
is our choice and no condition, nor is a setting that makes no difference in either net. Precision, device and batch
splits are none either: they leave the method as it is.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ablations.data.schema import judges_claims, years_lacking
from ablations.declarations import Declarations
from ablations.schema import ANY_GAMES, EARLY, Base, Claim, Enhancement
from ablations.wording import setting_text
from gonn_core.config import TrialConfig, config_paths, get_path, with_values
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError
from gonn_core.settings.features import FeatureConfig

_NO_CONDITIONS = (
    "data.view",  # its filters are compared as data.games
    "training.samples",  # compared as samples or stage
    "training.init_seed",
    "training.data_seed",
    "training.precision",
    "training.batch_splits",
)
_KINDS = {
    "features.": "the planes",
    "net.": "the net",
    "data.": "games and sampling",
    "training.": "training",
    "evaluation.": "reading",
}
_FEW = 4
"""So many differences are listed one by one."""
_DECIDING = ("features.set", "net.family", "training.optimiser.kind", "training.schedule.kind")
"""Where one of these differs, its neighbours say nothing more."""
_RELATIVE = ("linear", "half_life", "steps")
"""Schedules whose rate at a sample depends on how many there will be."""


@dataclass(frozen=True)
class Conditions:
    """What a claim was measured under, as far as its document tells."""

    claim: Claim
    base: Base
    off: TrialConfig
    """Of the net without the enhancement; data view and seeds are open."""
    on: TrialConfig
    not_told: tuple[str, ...]
    """Config paths or their beginnings."""

    def tells(self, path: str) -> bool:
        """Whether the value at a config path is a condition."""
        return not any(within(path, each) for each in (*_NO_CONDITIONS, *self.not_told))

    @property
    def planes(self) -> int:
        """Input planes of the net with the enhancement."""
        return self.claim.planes or _planes(self.on.features)


@dataclass(frozen=True)
class Comparison:
    """Two arms of a study: a card's toggles, as they were used, and the configurations without and with it, with the
    filters of the games that are not the data set's own."""

    card: Enhancement
    off: TrialConfig
    on: TrialConfig
    data: str
    """The study's data set."""
    coverage: str = ""
    """What of it was there, as the study says."""
    window: int | None = None
    """Samples that the last training loss is the mean of; None: not known."""


def conditions_of(declared: Declarations, card: Enhancement, claim: Claim) -> Conditions | None:
    """What a claim of a card was measured under; None where its net is none of the bases. Raises SettingError for
    conditions that cannot be."""
    if claim.base is None:
        return None
    base = declared.bases[claim.base]
    formed = declared.cards[card.id].on_base(claim.base)
    where = f"{card.id}.claims.{claim.id}.conditions"
    off, on = (with_values(base.config, {**claim.conditions, **formed.values(state)}, where) for state in ("off", "on"))
    return Conditions(claim, base, off, on, (*base.not_told, *claim.not_told))


def differences(declared: Declarations, comparison: Comparison, claim: Claim) -> tuple[str, ...]:
    """In what a comparison differs from a claim's conditions, each in words; empty: the claim is tested as it was
    made."""
    conditions = conditions_of(declared, comparison.card, claim)
    unmatched = [] if claim.unmatched is None else [claim.unmatched]
    games = list(_games_apart(comparison, claim))
    if conditions is None:
        return ("the net (the document's is none of the bases)", *unmatched, *games)
    missing = [f"the missing {part}" for part in conditions.base.missing] if claim.missing_matters else []
    formed = declared.cards[comparison.card.id].on_base(conditions.base.id)
    if comparison.card.toggles != formed.toggles:
        missing.append(f"the enhancement's form (here not as on {conditions.base.id})")
    if claim.window and abs((comparison.window or 0) - claim.window) >= comparison.off.training.batch_size:
        here = "not known" if comparison.window is None else f"{comparison.window:,}"
        games.append(f"the window ({here} instead of the last {claim.window:,} samples)")
    samples, settings = _samples_apart(comparison, conditions), _settings_apart(comparison, conditions, formed)
    return (*unmatched, *samples, *games, *missing, *settings)


def in_brief(apart: Sequence[str]) -> str:
    """Differences in a sentence: all of them where they are few, else settings by their number."""
    if len(apart) <= _FEW:
        return ", ".join(apart)
    parts = [each for each in apart if not each.startswith(tuple(_KINDS))]
    for prefix, kind in _KINDS.items():
        if count := sum(each.startswith(prefix) for each in apart):
            parts.append(f"{count} setting{'s' * (count > 1)} of {kind}")
    return ", ".join(parts)


def opposed(declared: Declarations, card: Enhancement, one: Claim, other: Claim) -> bool:
    """Whether two claims of a card say opposite things of one number, so that a trial could not but contradict one."""
    same = ("metric", "quantity", "statistic", "probe", "history", "base", "conditions", "unmatched")
    if one.direction == other.direction or any(getattr(one, name) != getattr(other, name) for name in same):
        return False
    apart = ANY_GAMES not in (one.games, other.games) and not set(one.games) & set(other.games)
    if one.base is None or apart:
        return False
    base = declared.bases[one.base]
    spans = [claim.span(base.schedule_end) for claim in (one, other)]
    low, high = max(low for low, _ in spans), min(high for _, high in spans)
    return low - high < base.config.training.batch_size


def _games_apart(comparison: Comparison, claim: Claim) -> Iterator[str]:
    if not judges_claims(comparison.data):
        yield f"the games ({comparison.data}, which judges no claim)"
    elif claim.games != ANY_GAMES and comparison.data not in claim.games:
        yield f"the games ({comparison.data} instead of {claim.data})"
    elif claim.games != ANY_GAMES and (lacking := years_lacking(comparison.coverage)):
        yield f"the games ({lacking} of {claim.data})"


def _settings_apart(comparison: Comparison, conditions: Conditions, formed: Enhancement) -> Iterator[str]:
    arms = ((comparison.off, conditions.off), (comparison.on, conditions.on))
    others = [
        path
        for path in _DECIDING
        if path not in formed.toggles and any(get_path(here, path) != get_path(there, path) for here, there in arms)
    ]
    for path in config_paths():
        differing = [arm for arm in arms if get_path(arm[0], path) != get_path(arm[1], path)]
        if not differing or not conditions.tells(path) or path in formed.toggles:
            continue
        if path not in others and any(within(path, other.rpartition(".")[0]) for other in others):
            continue
        pairs = {tuple(get_path(config, path) for config in arm) for arm in differing if not _idle(path, *arm)}
        for here, there in sorted(pairs, key=str):
            yield f"{path} ({setting_text(here)} instead of {setting_text(there)})"
    planes, same = _planes(comparison.on.features), comparison.on.features == conditions.on.features
    if same and planes != conditions.planes and conditions.tells("features"):
        yield f"the planes ({planes} instead of {conditions.planes})"


def _idle(path: str, here: TrialConfig, there: TrialConfig) -> bool:
    """Whether the values at a path make no difference in either configuration."""
    values = get_path(there, path), get_path(here, path)
    try:
        exchanged = [with_values(config, {path: value}) for config, value in zip((here, there), values, strict=True)]
    except SettingError:  # neither can have the other's
        return False
    return [*map(effective, exchanged)] == [*map(effective, (here, there))]


def _samples_apart(comparison: Comparison, conditions: Conditions) -> Iterator[str]:
    training, claim, end = comparison.off.training, conditions.claim, conditions.base.schedule_end
    batch, samples, (low, high) = training.batch_size, training.samples, claim.span(end)
    if not low - batch < samples < high + batch:
        claimed = {
            "finished": f"; claimed of nets trained to their end, here {end:,}",
            "any": f"; claimed from {claim.samples_from or 0:,} on",
            "early": f"; claimed of the first {EARLY:.0%} of {end:,}",
            "unknown": "; after how many it was measured is not known",
        }
        yield f"samples ({samples:,}{claimed.get(claim.stage or '', f' instead of {claim.samples or 0:,}')})"
    schedule = training.schedule
    runs_through = schedule.kind in _RELATIVE or schedule.final_drop != 1
    of_a_part = low != end and high != math.inf and abs(samples - end) >= batch
    same = schedule.kind == conditions.off.training.schedule.kind
    if same and runs_through and of_a_part and conditions.tells("training.schedule.kind"):
        yield f"the schedule (run through in {samples:,} instead of {end:,} samples)"


def _planes(features: FeatureConfig) -> int:
    from gonn_core.features.sets import plane_names  # with numpy behind it, which lists of declarations do without

    return len(plane_names(features))


def within(path: str, beginning: str) -> bool:
    """Whether a config path is `beginning` or lies below it."""
    return path == beginning or path.startswith(f"{beginning}.")
