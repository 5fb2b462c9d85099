"""How long trials take here, by the measured speeds of their nets, and the smallest effect that their seeds show."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ablations.noise import noise_of
from ablations.study import Study, TrialRef
from gonn_core.config import TrialConfig
from gonn_core.evaluation.evaluate import shown_in_full
from gonn_core.settings.data import HistoryMode
from gonn_core.settings.features import FeatureConfig
from gonn_core.trial.job import RunSettings
from orchestration.runners.base import places
from orchestration.runners.gpus import device_title
from orchestration.speeds.measure import Say, cached_speeds, net_key, speeds_of, today_file
from reports.results.costs import net_cost
from reports.results.planning import KnownNoise, planned_effect
from reports.stats.model import RunNoise
from reports.stats.power import smallest_effect
from reports.tables.formats import about
from reports.workspace import Workspace

MOST_NETS = 6
"""Nets that are measured for an estimate; the speeds of others follow from their operations."""
EVALUATION_SHARE = 0.3
"""Time of evaluating a position over that of training on one: the median of 31 bases on a CPU (0.15 to 0.44)."""
SYMMETRIES = 8
SAMPLED = 20_000
"""Rows by which the share of positions is estimated that an evaluation need not compute."""


@dataclass(frozen=True)
class Estimate:
    """Seconds that trials take on `slots` slots. uncompiled: the nets will be compiled, but were measured without."""

    seconds: float
    slots: int
    uncompiled: bool = False

    @property
    def minutes(self) -> str:
        """`about 12 min`, `less than a minute`."""
        minutes = self.seconds / 60
        if minutes < 1:
            return "less than a minute"
        return f"about {minutes:.1f} min" if minutes < 10 else f"about {minutes:,.0f} min"

    @property
    def source(self) -> str:
        """What the estimate is based on."""
        return "by speeds measured here" + ("; by nets that are not compiled" if self.uncompiled else "")


def estimate(study: Study, left: Sequence[TrialRef], settings: RunSettings, workspace: Workspace, say: Say) -> Estimate:
    """Time of the trials of a study that are left, measuring the speeds of their arms if they are not known today.
    settings: how the trials are evaluated. Raises SettingError (DEVICE), InputError."""
    arms = {trial.arm: study.arm(trial.arm).config for trial in left}
    known = cached_speeds(today_file(workspace, device_title(settings.device)))
    compiled = settings.compile  # compiling takes longer than measuring: only if it was done already
    if compiled != "none" and not all(net_key(config, compiled) in known for config in arms.values()):
        compiled = "none"
    measured = speeds_of(workspace, {arm: arms[arm] for arm in _spread(arms)}, settings.device, say, compiled)
    rates = {arm: entry["samples_per_s"] for arm, entry in measured.items()}
    seconds = {arm: _trial_seconds(config, _rate(config, arms, rates), settings) for arm, config in arms.items()}
    slots = places(left, None, settings.device).slots
    return Estimate(sum(seconds[trial.arm] for trial in left) / slots, slots, compiled != settings.compile)


def _spread(arms: Mapping[str, TrialConfig]) -> list[str]:
    """At most MOST_NETS arms with different nets, spread over the range of operations."""
    nets = {net_key(config): arm for arm, config in reversed(list(arms.items()))}
    ordered = sorted(nets.values(), key=lambda arm: net_cost(arms[arm])[1])
    if len(ordered) <= MOST_NETS:
        return [arm for arm in arms if arm in ordered]
    return [ordered[round(place)] for place in np.linspace(0, len(ordered) - 1, MOST_NETS)]


def _rate(config: TrialConfig, arms: Mapping[str, TrialConfig], rates: Mapping[str, float]) -> float:
    """Samples/s of a net: as measured, else that of the net with the nearest number of operations, scaled."""
    for arm, rate in rates.items():
        if net_key(arms[arm]) == net_key(config):
            return rate
    operations = {arm: net_cost(arms[arm])[1] for arm in rates}
    own = net_cost(config)[1]
    nearest = min(rates, key=lambda arm: abs(math.log(operations[arm] / own)))
    return rates[nearest] * operations[nearest] / own


def _trial_seconds(config: TrialConfig, samples_per_s: float, settings: RunSettings) -> float:
    """Time of one trial: training, the points of its curve, and its evaluations."""
    passes = settings.looks * settings.progress_positions + evaluation_passes(settings, config.features)
    return (config.training.samples + EVALUATION_SHARE * passes) / samples_per_s


def evaluation_passes(settings: RunSettings, features: FeatureConfig) -> float:
    """Positions that all evaluations of a trial pass through its net. What shows the same planes under full history is
    copied from that evaluation, if the job asks for it too."""
    full = {(request.view, request.symmetry_averaging) for request in settings.evaluations if request.history == "full"}
    return sum(
        request.minimum_positions
        * (SYMMETRIES if request.symmetry_averaging else 1)
        * (share_computed(features, request.history) if (request.view, request.symmetry_averaging) in full else 1.0)
        for request in settings.evaluations
    )


@cache
def share_computed(features: FeatureConfig, history: HistoryMode) -> float:
    """Share of the positions that an evaluation computes when it can copy from one under full history."""
    if history == "full":
        return 1.0
    return 1.0 - float(np.mean(shown_in_full(features, np.arange(SAMPLED), history)))


def smallest_line(study: Study, known: KnownNoise | None) -> str:
    """The smallest effect that the study's seeds show: by the noise measured here, else by `ablations.noise`."""
    power = f"{100 * study.thresholds.power:.0f} % power"
    shown = f"smallest effect that {len(study.seeds)} seeds show with {power}"
    effect = planned_effect(study, known)
    if effect is not None:
        return f"{shown}, from the seed noise so far: {effect:.4f} nats"
    samples = study.arms[0].config.training.samples
    row = noise_of(study.base, study.budget_label, samples)
    as_declared = row is not None or study.precision is None
    row = row if as_declared else noise_of(study.base, study.budget, samples)
    if row is None or len(study.seeds) < 2:
        return "smallest effect: unknown, no seed noise measured yet on this base, budget and data"
    noise, exact = row  # of a difference of two runs
    games = noise.evaluation_variance * noise.games / study.evaluations[0].games
    run = RunNoise(math.sqrt(noise.seed_variance / 2), noise.df)
    effect = smallest_effect(run, games, len(study.seeds), study.thresholds)
    of = f"{noise.base} at {about(noise.samples)} samples on {noise.data}"
    of += "" if as_declared else f", not in {study.precision}"
    kind = "an estimate" if exact and as_declared else "a rough estimate"
    return f"{shown}: about {effect:.2g} nats, {kind} from the noise that ships ({of})"


def unfinished(study: Study, states: Mapping[str, str]) -> list[TrialRef]:
    """Trials that are not done, by the state of each."""
    return [trial for trial in study.trials if states[trial.trial] != "done"]


def states_of(trials: Iterable[TrialRef], workspace: Workspace) -> dict[str, str]:
    """Trial id -> state."""
    from gonn_core.trial.directory import TrialDirectory

    return {trial.trial: TrialDirectory(workspace.runs / trial.trial).state() for trial in trials}
