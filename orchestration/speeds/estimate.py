"""How long trials take here, with evaluation and the measurement of their nets' speeds, and what their seeds can show,
also before any ran.

By speeds measured on this machine, else by the table that ships and how fast this machine trains its reference net.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ablations.expected.table import Expected, Told, load_expected, noise_of, rate_of
from ablations.registry import Registry
from ablations.study import Study, TrialRef
from gonn_core.config import TrialConfig
from gonn_core.trial.job import RunSettings
from orchestration.runners.base import places
from orchestration.runners.gpus import device_title
from orchestration.speeds.kept import kept_speeds, latest_speeds, net_key, today_file
from orchestration.speeds.measure import Say, measuring_seconds, speeds_of
from orchestration.speeds.passes import evaluation_passes, look_passes
from orchestration.speeds.precision import BF16, gain
from orchestration.speeds.reference import reference_config
from reports.results.compare import study_thresholds
from reports.results.costs import net_cost
from reports.results.planning import KnownNoise, planned_effect
from reports.stats.model import RunNoise
from reports.stats.power import smallest_effect
from reports.tables.formats import about
from reports.workspace import Workspace

REFERENCE = "reference"


@dataclass(frozen=True)
class Estimate:
    """Seconds that trials take side by side, on `slots`; low and high where they are told by the table. factor: this
    machine's speed over that of the table's; None: by speeds measured here. gain: speed in the trials' precision over
    that in fp32."""

    seconds: float
    low: float
    high: float
    slots: int
    factor: float | None
    gain: float = 1.0
    compiled: bool = False
    """Whether the nets are to be compiled, which the table knows nothing of."""

    @property
    def minutes(self) -> str:
        """`about 12 min`, `about 12 min (9 to 16)`, `less than a minute`."""
        if self.high < 60:
            return "less than a minute"
        if self.factor is None:
            return f"about {_minutes(self.seconds)} min"
        return f"about {_minutes(self.seconds)} min ({_minutes(self.low)} to {_minutes(self.high)})"

    @property
    def source(self) -> str:
        """Whence it is."""
        if self.factor is None:
            return "by speeds measured here"
        in_bf16 = f" in fp32, bf16 {self.gain:.2f} times as fast here" if self.gain != 1 else ""
        plain = "; by nets that are not compiled" if self.compiled else ""
        return f"an estimate: the table that ships, for a machine {self.factor:.2f} times as fast{in_bf16}{plain}"


def _minutes(seconds: float) -> str:
    minutes = seconds / 60
    return f"{minutes:.1f}" if minutes < 10 else f"{minutes:,.0f}"


def estimate(
    study: Study, left: Sequence[TrialRef], settings: RunSettings, registry: Registry, workspace: Workspace, say: Say
) -> Estimate:
    """Of the trials of a study that are left. Measures this machine where no arm's speed is known: some ten seconds,
    once a day. settings: how trials are evaluated. Raises SettingError (DEVICE), InputError."""
    table, arms = load_expected(), {trial.arm: study.arm(trial.arm).config for trial in left}
    told = {arm: _told(table, study, config) for arm, config in arms.items()}
    gains = _gains(arms, settings.device, workspace, say)
    rates, factor = _rates(arms, told, gains, settings, registry, workspace, say)
    slots = places(left, None, settings.device).slots
    each = {arm: _trial_seconds(config, rates[arm], gains[arm], told[arm], settings) for arm, config in arms.items()}
    known = kept_speeds(today_file(workspace, device_title(settings.device)))
    nets = {net_key(config, settings.compile): (config, rates[arm]) for arm, config in arms.items()}
    unknown = [net for key, net in nets.items() if key not in known]
    seconds = sum(each[trial.arm] for trial in left) / slots + measuring_seconds(unknown)
    if factor is None:
        return Estimate(seconds, seconds, seconds, slots, None)
    low, high = seconds / table.spread.high, seconds / table.spread.low
    most = max(gains.values(), key=lambda one: abs(one - 1))
    return Estimate(seconds, low, high, slots, factor, most, settings.compile != "none")


def _gains(arms: Mapping[str, TrialConfig], device: str, workspace: Workspace, say: Say) -> dict[str, float]:
    """Arm -> how many times as fast a core trains in its precision as in fp32, by the reference net. A GPU is asked
    itself for each net (`_rates`)."""
    of_bf16 = 1.0
    if any(config.training.precision == BF16 for config in arms.values()) and device_title(device) == "cpu":
        of_bf16 = gain(workspace, device, say)
    return {arm: of_bf16 if config.training.precision == BF16 else 1.0 for arm, config in arms.items()}


def _told(table: Expected, study: Study, config: TrialConfig) -> Told:
    flops = net_cost(config)[1]
    return rate_of(table, study.base, study.budget, config.net.family, flops)


def _rates(
    arms: Mapping[str, TrialConfig],
    told: Mapping[str, Told],
    gains: Mapping[str, float],
    settings: RunSettings,
    registry: Registry,
    workspace: Workspace,
    say: Say,
) -> tuple[dict[str, float], float | None]:
    """Arm -> samples/s; this machine's speed over the table's, None where every arm was measured. By the table no arm
    is compiled, whatever the settings say: that would have to be done first."""
    device, compiled = settings.device, settings.compile
    title = device_title(device)
    known = latest_speeds(workspace, title)
    keys = {arm: net_key(config, compiled) for arm, config in arms.items()}
    if all(key in known for key in keys.values()):
        return {arm: known[key]["samples_per_s"] for arm, key in keys.items()}, None
    if title != "cpu":  # the table is of cores; a GPU is asked itself, which takes it seconds
        measured = speeds_of(workspace, arms, device, say, any_day=True, compile=compiled)
        return {arm: entry["samples_per_s"] for arm, entry in measured.items()}, None
    table = load_expected()
    reference = reference_config(registry, table)
    found = speeds_of(workspace, {REFERENCE: reference}, device, say)
    factor = found[REFERENCE]["samples_per_s"] / table.reference_rate().samples_per_s
    return {arm: factor * gains[arm] * each.samples_per_s for arm, each in told.items()}, factor


def _trial_seconds(config: TrialConfig, samples_per_s: float, gain: float, told: Told, settings: RunSettings) -> float:
    """Of one trial: training, the points of its curve, and its evaluations, which are in fp32 whatever it trains in."""
    looked_at, evaluated = look_passes(settings), evaluation_passes(settings, config.features)
    positions_per_s = samples_per_s * told.positions_per_s / told.samples_per_s
    return config.training.samples / samples_per_s + (looked_at + gain * evaluated) / positions_per_s


def smallest_line(study: Study, known: KnownNoise | None) -> str:
    """The smallest effect that the study's seeds show: by the noise measured here, else by that of the table."""
    power = f"{100 * study.thresholds.power:.0f} % power"
    shown = f"smallest effect that {len(study.seeds)} seeds show with {power}"
    effect = planned_effect(study, known)
    if effect is not None:
        return f"{shown}, from the seed noise so far: {effect:.4f} nats"
    samples = study.arms[0].config.training.samples
    table = load_expected()
    found = noise_of(table, study.base, study.budget_label, samples)
    as_declared = found is not None or study.precision is None
    found = found if as_declared else noise_of(table, study.base, study.budget, samples)
    if found is None or len(study.seeds) < 2:
        return "smallest effect: unknown, no seed noise measured yet on this base, budget and data"
    noise, exact = found  # of a difference of two runs
    games = noise.evaluation_variance * noise.games / study.evaluations[0].games
    run = RunNoise(math.sqrt(noise.seed_variance / 2), noise.df)
    effect = smallest_effect(run, games, len(study.seeds), study_thresholds(study))
    of = f"{noise.base} at {about(noise.samples)} samples on {noise.data}"
    of += "" if as_declared else f", not in {study.precision}"
    kind = "an estimate" if exact and as_declared else "a rough estimate"
    return f"{shown}: about {effect:.2g} nats, {kind} from the table that ships ({of})"


def unfinished(study: Study, states: Mapping[str, str]) -> list[TrialRef]:
    """Trials that are not done, by the state of each."""
    return [trial for trial in study.trials if states[trial.trial] != "done"]


def states_of(trials: Iterable[TrialRef], workspace: Workspace) -> dict[str, str]:
    """Trial id -> state."""
    from gonn_core.trial.directory import TrialDirectory

    return {trial.trial: TrialDirectory(workspace.runs / trial.trial).state() for trial in trials}
