"""Under what a claim was measured, and in what a comparison made here differs from it.

A claim is judged only where everything agrees that its document tells: planes, net, loss, sampling, optimiser, schedule
and rate, the games, and how far the nets were trained. What neither document nor code tells (`not_told` of base and
claim) is our choice and no condition. Precision, device and batch splits are none either: they are to leave the method
as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ablations.data.declared import collection, years_lacking
from ablations.declarations import Declarations
from ablations.schema import Base, Claim, Enhancement
from ablations.wording import setting_text
from gonn_core.config import TrialConfig, config_paths, get_path, with_values
from gonn_core.settings.features import FeatureConfig

_NO_CONDITIONS = (
    "data.view",
    "data.games",  # a study has them in the digest of its view
    "training.samples",  # compared as samples or stage
    "training.init_seed",
    "training.data_seed",
    "training.precision",
    "training.batch_splits",
)
_GAMES = {"kgs": "KGS", "gogod": "GoGoD"}
_KINDS = {
    "features.": "the planes",
    "net.": "the net",
    "data.": "sampling",
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
    def samples(self) -> int | None:
        """Samples that the nets had been trained on; None: any number."""
        return self.base.schedule_end if self.claim.stage == "finished" else self.claim.samples

    @property
    def planes(self) -> int:
        """Input planes of the net with the enhancement."""
        return self.claim.planes or _planes(self.on.features)


@dataclass(frozen=True)
class Comparison:
    """Two arms of a study: a card's toggles, as they were used, and the configurations without and with it."""

    card: Enhancement
    off: TrialConfig
    on: TrialConfig
    data: str
    """The study's data set."""
    coverage: str = ""
    """What of it was there, as the study says."""


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
    missing = [f"the missing {part}" for part in conditions.base.missing]
    formed = declared.cards[comparison.card.id].on_base(conditions.base.id)
    if comparison.card.toggles != formed.toggles:
        missing.append(f"the enhancement's form (here not as on {conditions.base.id})")
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
    if one.base is None or (one.games != other.games and "any" not in (one.games, other.games)):
        return False
    first, second = (conditions_of(declared, card, claim) for claim in (one, other))
    assert first is not None and second is not None  # they have a base
    if first.samples is None or second.samples is None:
        return True
    return abs(first.samples - second.samples) < first.off.training.batch_size


def _games_apart(comparison: Comparison, claim: Claim) -> Iterator[str]:
    here = collection(comparison.data)
    told = _GAMES.get(claim.games, claim.data)
    if here == "none":
        yield f"the games ({comparison.data}, which judges no claim)"
    elif claim.games != "any" and claim.games != here:
        yield f"the games ({comparison.data} instead of {told})"
    elif claim.games != "any" and (lacking := years_lacking(comparison.coverage)):
        yield f"the games ({lacking} of {told})"


def _settings_apart(comparison: Comparison, conditions: Conditions, formed: Enhancement) -> Iterator[str]:
    arms = ((comparison.off, conditions.off), (comparison.on, conditions.on))
    others = [
        path
        for path in _DECIDING
        if path not in formed.toggles and any(get_path(here, path) != get_path(there, path) for here, there in arms)
    ]
    for path in config_paths():
        if not conditions.tells(path) or path in formed.toggles:
            continue
        if path not in others and any(within(path, other.rpartition(".")[0]) for other in others):
            continue
        pairs = {(get_path(here, path), get_path(there, path)) for here, there in arms}
        for here, there in sorted(pairs, key=str):
            if here != there:
                yield f"{path} ({setting_text(here)} instead of {setting_text(there)})"
    planes, same = _planes(comparison.on.features), comparison.on.features == conditions.on.features
    if same and planes != conditions.planes and conditions.tells("features"):
        yield f"the planes ({planes} instead of {conditions.planes})"


def _samples_apart(comparison: Comparison, conditions: Conditions) -> Iterator[str]:
    training, end = comparison.off.training, conditions.base.schedule_end
    batch, samples, wanted = training.batch_size, training.samples, conditions.samples
    if conditions.claim.stage == "finished":
        if samples <= end - batch:
            yield f"samples ({samples:,}; claimed of nets trained to their end, here {end:,})"
    elif wanted is not None and abs(wanted - samples) >= batch:
        yield f"samples ({samples:,} instead of {wanted:,})"
    schedule = training.schedule
    runs_through = schedule.kind in _RELATIVE or schedule.final_drop != 1
    of_a_part = wanted is not None and wanted != end and abs(samples - end) >= batch
    same = schedule.kind == conditions.off.training.schedule.kind
    if same and runs_through and of_a_part and conditions.tells("training.schedule.kind"):
        yield f"the schedule (run through in {samples:,} instead of {end:,} samples)"


def _planes(features: FeatureConfig) -> int:
    from gonn_core.features.sets import plane_names  # with numpy behind it, which lists of declarations do without

    return len(plane_names(features))


def within(path: str, beginning: str) -> bool:
    """Whether a config path is `beginning` or lies below it."""
    return path == beginning or path.startswith(f"{beginning}.")
