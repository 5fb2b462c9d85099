"""How long trials take here, evaluation included, and what their seeds can show, also before any ran.

By speeds measured on this machine, else by the table that ships and how fast this machine trains its reference net.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ablations.designs import budget_config
from ablations.expected.table import Expected, Told, load_expected, noise_of, rate_of
from ablations.registry import Registry
from ablations.study import Study, TrialRef
from gonn_core.config import TrialConfig
from gonn_core.trial.job import RunSettings
from orchestration.runners.base import places
from orchestration.speeds.kept import latest_speeds, net_key
from orchestration.speeds.measure import Say, speeds_of
from reports.results.compare import study_thresholds
from reports.results.costs import net_cost
from reports.results.seed_pool import PriorNoise, planned_effect
from reports.stats.power import smallest_effect
from reports.stats.seed_noise import SeedPool
from reports.tables.formats import about
from reports.workspace import Workspace

REFERENCE = "reference"


@dataclass(frozen=True)
class Estimate:
    """Seconds that trials take side by side, on `slots`; low and high where they are told by the table. factor: this
    machine's speed over that of the table's; None: by speeds measured here."""

    seconds: float
    low: float
    high: float
    slots: int
    factor: float | None

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
        return f"an estimate: the table that ships, for a machine {self.factor:.2f} times as fast"


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
    rates, factor = _rates(study, arms, told, settings.device, registry, workspace, say)
    slots = places(left, None, settings.device).slots
    each = {arm: _trial_seconds(config, rates[arm], told[arm], settings) for arm, config in arms.items()}
    seconds = sum(each[trial.arm] for trial in left) / slots
    if factor is None:
        return Estimate(seconds, seconds, seconds, slots, None)
    return Estimate(seconds, seconds / table.spread.high, seconds / table.spread.low, slots, factor)


def _told(table: Expected, study: Study, config: TrialConfig) -> Told:
    flops = net_cost(config)[1]
    return rate_of(table, study.base, study.budget, config.net.family, flops)


def _rates(
    study: Study,
    arms: Mapping[str, TrialConfig],
    told: Mapping[str, Told],
    device: str,
    registry: Registry,
    workspace: Workspace,
    say: Say,
) -> tuple[dict[str, float], float | None]:
    """Arm -> samples/s; this machine's speed over the table's, None where every arm was measured."""
    from gonn_core.training.environment import choose_device, describe_device

    chosen = choose_device(device)
    known = latest_speeds(workspace, describe_device(chosen))
    if all(net_key(config) in known for config in arms.values()):
        return {arm: known[net_key(config)]["samples_per_s"] for arm, config in arms.items()}, None
    if chosen.type != "cpu":  # the table is of cores; a GPU is asked itself, which takes it seconds
        measured = speeds_of(workspace, arms, device, say, any_day=True)
        return {arm: entry["samples_per_s"] for arm, entry in measured.items()}, None
    table = load_expected()
    reference = reference_config(registry, table)
    found = speeds_of(workspace, {REFERENCE: reference}, device, say)
    factor = found[REFERENCE]["samples_per_s"] / table.reference_rate().samples_per_s
    return {arm: factor * each.samples_per_s for arm, each in told.items()}, factor


def reference_config(registry: Registry, table: Expected) -> TrialConfig:
    """The net by which machines are compared."""
    budget = registry.budget(table.reference_budget)
    assert budget.samples != "claim", "the reference has a number of samples"
    return budget_config(registry.base(table.reference), budget, budget.samples)


def _trial_seconds(config: TrialConfig, samples_per_s: float, told: Told, settings: RunSettings) -> float:
    """Of one trial: training, the points of its curve and its evaluations."""
    positions = sum(request.minimum_positions for request in settings.evaluations)
    positions += settings.progress_points * settings.progress_positions if settings.progress_view else 0
    positions_per_s = samples_per_s * told.positions_per_s / told.samples_per_s
    return config.training.samples / samples_per_s + positions / positions_per_s


def smallest_line(study: Study, prior: PriorNoise) -> str:
    """The smallest effect that the study's seeds show: by the noise measured here, else by that of the table."""
    power = f"{100 * study.thresholds['power']:.0f} % power"
    shown = f"smallest effect that {len(study.seeds)} seeds show with {power}"
    effect = planned_effect(study, prior)
    if effect is not None:
        return f"{shown}, from the seed noise so far: {effect:.4f} nats"
    samples = study.arms[0].config.training.samples
    found = noise_of(load_expected(), study.base, study.budget, samples)
    if found is None or len(study.seeds) < 2:
        return "smallest effect: unknown, no seed noise measured yet on this base, budget and data"
    noise, exact = found
    pool = SeedPool(noise.seed_variance, noise.df, (), {})
    games = noise.evaluation_variance * noise.games / study.evaluations[0].games
    thresholds = study_thresholds(study)
    effect = smallest_effect(pool, games, len(study.seeds), thresholds, max(1, len(study.contrasts)))
    of = f"{noise.base} at {about(noise.samples)} samples on {noise.data}"
    kind = "an estimate" if exact else "a rough estimate"
    return f"{shown}: about {effect:.2g} nats, {kind} from the table that ships ({of})"


def unfinished(study: Study, states: Mapping[str, str]) -> list[TrialRef]:
    """Trials that are not done, by the state of each."""
    return [trial for trial in study.trials if states[trial.trial] != "done"]


def states_of(trials: Iterable[TrialRef], workspace: Workspace) -> dict[str, str]:
    """Trial id -> state."""
    from gonn_core.trial.directory import TrialDirectory

    return {trial.trial: TrialDirectory(workspace.runs / trial.trial).state() for trial in trials}
