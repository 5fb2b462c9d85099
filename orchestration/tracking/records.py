"""What MLflow is told about a study and its trials, read from files alone; knows nothing of MLflow's client."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from ablations.search import Search
from ablations.study import Study, TrialRef
from gonn_core.config import TrialConfig
from gonn_core.evaluation.reading import Reading
from gonn_core.evaluation.stored import whole_evaluations
from gonn_core.files.told import tell
from gonn_core.metrics import OF_POSITIONS, SUMMARISED
from gonn_core.trial.directory import TrialDirectory
from orchestration.tracking.colours import arm_colours
from orchestration.tracking.names import curve_name


@dataclass(frozen=True)
class TrackedTrial:
    """One trial as a study sees it: the control of several studies has a run in each."""

    id: str
    arm: str
    seed: int
    control: bool = False

    @property
    def name(self) -> str:
        """Name of its run: `s0 -parametric_relu`; what tells it from its neighbours stands before the place
        where MLflow cuts names."""
        return f"s{self.seed} {self.arm}"


@dataclass(frozen=True)
class StudyInfo:
    """A study as MLflow shows it."""

    id: str
    title: str
    trials: tuple[TrackedTrial, ...]
    settings: Mapping[str, str]
    commit: str = "unknown"
    dirty: bool = False
    given_up: frozenset[str] = frozenset()
    """Trials that need not go on for the study to be finished."""
    arms: tuple[str, ...] = ()
    """In their order, for their colours; of those of the trials where none are named."""

    @property
    def name(self) -> str:
        """Name of its experiment: the id, after the six digits that end it and that MLflow's lists would cut off."""
        return f"{self.id.rpartition('-')[2]} {self.id}"

    @property
    def told(self) -> dict[str, str]:
        """What a list of experiments shows of it, whatever is found: those of its settings that tell it from others."""
        return {name: self.settings[name] for name in ("base", "budget", "data", "design") if name in self.settings}

    @property
    def grouped(self) -> bool:
        """Whether any arm has several trials, which charts then show as one."""
        return len({trial.arm for trial in self.trials}) < len(self.trials)

    @property
    def colours(self) -> dict[str, str]:
        """Arm -> colour."""
        return arm_colours(self.arms or [trial.arm for trial in self.trials])


@dataclass(frozen=True)
class StudyReport:
    """What a study found, as MLflow is told of it."""

    note: str
    """The description, markdown; MLflow's lists show its beginning as it is written."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Path among the artifacts of the study's run -> file."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Of the study's run."""
    told: Mapping[str, str] = field(default_factory=dict)
    """Tags of the run and of the experiment: what a list of experiments shows."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Metrics of the study's run, as they are now."""
    trials: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Trial -> metrics that only the whole study gives it."""
    points: Sequence[tuple[int, int, Mapping[str, float]]] = ()
    """(step, unix milliseconds, metrics) of the study's run over time."""


def study_info(study: Study, due: Sequence[TrialRef] | None = None) -> StudyInfo:
    """A study file as MLflow shows it. due: the trials that it needs so far, all unless told."""
    control = study.arms[0].id
    settings = study.model_dump(mode="json", exclude={"arms", "trials", "contrasts", "format", "commit", "dirty"})
    labels = {arm.id: arm_name(arm.label) for arm in study.arms}
    return StudyInfo(
        id=study.id,
        title=study.title,
        arms=tuple(labels.values()),
        trials=tuple(TrackedTrial(t.trial, labels[t.arm], t.seed, t.arm == control) for t in due or study.trials),
        settings=flatten(settings) | told_budget(study, study.arms[0].config),
        commit=study.commit,
        dirty=study.dirty,
    )


def told_budget(experiment: Study | Search, config: TrialConfig) -> dict[str, str]:
    """The budget as it is told from others, and the precision of the trials, also where it is the budget's own."""
    return {"budget": experiment.budget_label, "precision": config.training.precision}


def arm_name(label: str) -> str:
    """`+chain_pooling` of the arm `with chain_pooling`, `-elu` of `without elu`: MLflow cuts names after a few
    letters."""
    for word, sign in (("with ", "+"), ("without ", "-")):
        if label.startswith(word):
            return sign + label.removeprefix(word)
    return label


def flatten(tree: Mapping, prefix: str = "") -> dict[str, str]:
    """Leaves of a tree as dotted path -> text; lists as JSON."""
    flat: dict[str, str] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value if isinstance(value, str) else json.dumps(value)
    return flat


def metrics_of(line: Mapping) -> dict[str, float]:
    """The numbers of a progress line by metric name."""
    numbers = {
        name: value
        for name, value in line.items()
        if name != "samples" and isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    return {curve_name(name): value for name, value in numbers.items()}


@dataclass(frozen=True)
class TrialContent:
    """Everything that a trial's run shows, from its directory."""

    state: str
    """MLflow's status: RUNNING, FINISHED, FAILED, KILLED (stopped, can go on)."""
    params: dict[str, str]
    tags: dict[str, str]
    points: list[tuple[int, int, dict[str, float]]]
    """(samples, unix milliseconds, metrics) of every progress point and, at the end, of the evaluations."""
    started: int
    ended: int | None
    view: str
    files: tuple[Path, ...]


CHECKPOINT = "checkpoint.safetensors"
_STATUS = {"running": "RUNNING", "done": "FINISHED", "failed": "FAILED", "paused": "KILLED", "damaged": "FAILED"}


def stamp(folder: Path) -> tuple:
    """Changes whenever `trial_content` would."""
    names = ("config.json", "metrics.jsonl", "result.json", "failure.json", "eval")
    return (
        TrialDirectory(folder).state(),
        *(path.stat().st_mtime_ns if (path := folder / name).exists() else 0 for name in names),
    )


def trial_content(folder: Path) -> TrialContent | None:
    """What a trial's directory says now; None before its first session has begun. Raises InputError for files of
    another version."""
    directory = TrialDirectory(folder)
    state, tree = directory.state(), directory.config()
    if tree is None:
        return None
    session, lines, result, failure = tree["sessions"][-1], directory.metrics(), directory.result(), directory.failure()
    started = _milliseconds(tree["sessions"][0]["started"])
    points = [(line["samples"], started + round(1000 * line["wall_seconds"]), metrics_of(line)) for line in lines]
    last = points[-1][1] if points else started
    usual = Reading(**tree["config"].get("evaluation", {}))
    points += [(samples, last, means) for samples, means in _evaluations(folder, usual)]
    training = tree["config"]["training"]
    tags = {
        "commit": session["commit"],
        "dirty": json.dumps(session["dirty"]),
        "device": session["device"],
        "compile": session.get("compile", "none"),
        "init_seed": str(training["init_seed"]),
        "data_seed": str(training["data_seed"]),
        "view": tree["config"]["data"]["view"],
        **{f"version.{name}": version for name, version in session["versions"].items()},
        **{f"numerics.{name}": str(version) for name, version in tree["numerics"].items()},
    }
    if result is not None:
        tags |= {"weights": result["weights"], "parameters": str(result["parameters"])}
    if failure is not None:
        tags["error"] = failure["error"]
    names = (CHECKPOINT, "result.json", "config.json") if result is not None else ("failure.json",)
    return TrialContent(
        state=_STATUS[state],
        params=flatten(tree["config"]),
        tags=tags,
        points=points,
        started=started,
        ended=None if state == "running" else last,
        view=tree["config"]["data"]["view"],
        files=tuple(
            path for name in names if (path := folder / name).is_file() and not path.is_symlink()
        ),  # a link may lead anywhere
    )


def _evaluations(folder: Path, usual: Reading) -> list[tuple[int, dict[str, float]]]:
    """Samples and means of the stored evaluations, as detail/<split>_<history>_<metric>; of several on one split that
    on most positions.

    Each is a point of its own: what is seen between two evaluations of a trial must not hide the second. usual: how the
    trial's own configuration reads the policy; evaluations read in another way say so in the name.
    """
    points: dict[tuple[int, str], dict[str, float]] = {}
    evaluations, damages = whole_evaluations(folder)
    for evaluation in sorted(evaluations, key=lambda evaluation: evaluation.summary["positions"]):
        summary = evaluation.summary
        read = "_".join(name for name, on in evaluation.reading._asdict().items() if on) or "plain"
        other = "" if evaluation.reading == usual else f"{read}_"
        known = {name: sums for name in OF_POSITIONS if (sums := evaluation.game_sums(name)) is not None}
        means = {name: float(sums.sums.sum() / sums.counts.sum()) for name, sums in known.items()}
        means |= {name: summary[name] for name in SUMMARISED}
        prefix = f"detail/{summary['split']}_{summary['history']}_{other}"
        point = points.setdefault((summary["samples"], prefix), {})
        point |= {prefix + name: value for name, value in means.items()}
    for each in damages:
        tell(each, "MLflow is not told of it")
    return [(samples, means) for (samples, _), means in points.items()]


def _milliseconds(moment: str) -> int:
    return round(1000 * datetime.fromisoformat(moment).timestamp())
