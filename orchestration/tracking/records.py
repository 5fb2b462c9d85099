"""What MLflow shows of studies, searches and trials, read from files alone, and the view that `gonn ui` opens."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from ablations.search import Search, Tried
from ablations.study import Study, TrialRef
from gonn_core.config import TrialConfig
from gonn_core.metrics import CHARTS, METRICS, SUMMARISED
from gonn_core.trial.directory import TrialDirectory
from reports.figures.style import COLOURS

DETAILS = "other"
"""Prefix of the metrics without a chart of their own: MLflow makes a section of a prefix, and sorts sections by name;
this one comes after `Model metrics`."""
TEST = {metric: f"test_{metric}" for metric in SUMMARISED}
"""Metric -> its name over the test games, as the study's tables have it."""
DELTA = f"delta_{TEST['nats']}"
"""Loss over the test games with an enhancement minus the loss without it, whatever it is a metric of: a trial (at its
seed), an arm (from all runs of the base), or a study, where `.CARD` follows."""


@dataclass(frozen=True)
class TrackedTrial:
    """A trial in one study; a control that several studies share has a run in each."""

    id: str
    arm: str
    seed: int

    @property
    def name(self) -> str:
        """Name of its run: `without parametric_relu, seed 2`."""
        return f"{self.arm}, seed {self.seed}"


@dataclass(frozen=True)
class StudyInfo:
    """A study or a search as MLflow shows it."""

    id: str
    title: str
    trials: tuple[TrackedTrial, ...]
    settings: Mapping[str, str]
    commit: str = "unknown"
    dirty: bool = False
    optional: frozenset[str] = frozenset()
    """Trials that need not finish for the study to be finished."""
    arms: tuple[str, ...] = ()
    """Arms that have a run of their own, the parent of the runs of their trials."""

    def colour(self, arm: str) -> str:
        """The colour of an arm's curve, as in the figures of the study's report."""
        return COLOURS[[*dict.fromkeys(trial.arm for trial in self.trials)].index(arm) % len(COLOURS)]

    @property
    def name(self) -> str:
        """Name of its experiment. The six digits that end the id come first as well: MLflow cuts long names."""
        return f"{self.id.rpartition('-')[2]} {self.id}"

    @property
    def tags(self) -> dict[str, str]:
        """Tags by which lists of experiments can be searched."""
        return {name: self.settings[name] for name in ("base", "budget", "data", "design") if name in self.settings}


@dataclass(frozen=True)
class ArmReport:
    """Metrics and tags of an arm's run."""

    metrics: Mapping[str, float]
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyReport:
    """What MLflow shows of the report of a study or search."""

    note: str = ""
    """Markdown, the description of the study's run and of the experiment."""
    verdict: str | None = None
    """A few words, a tag of the study's run and of the experiment."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Path among the artifacts of the study's run -> file."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags of the study's run."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Metrics of the study's run."""
    arms: Mapping[str, ArmReport] = field(default_factory=dict)
    trials: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Trial id -> metrics that only the report has."""


def study_info(study: Study, due: Sequence[TrialRef] | None = None) -> StudyInfo:
    """A study file as MLflow shows it. due: the trials that it needs so far; None: all."""
    labels = {arm.id: arm.label for arm in study.arms}
    settings = study.model_dump(mode="json", exclude={"arms", "trials", "contrasts", "format", "commit", "dirty"})
    return StudyInfo(
        id=study.id,
        title=study.title,
        arms=tuple(labels.values()),
        trials=tuple(TrackedTrial(ref.trial, labels[ref.arm], ref.seed) for ref in due or study.trials),
        settings=flatten(settings) | _budget(study, study.arms[0].config),
        commit=study.commit,
        dirty=study.dirty,
    )


def search_info(search: Search, tried: Sequence[Tried]) -> StudyInfo:
    """A learning-rate search and its trials so far as MLflow shows them."""
    settings = search.model_dump(mode="json", exclude={"config", "format", "commit", "dirty"})
    return StudyInfo(
        id=search.id,
        title=f"learning rate of {search.title}",
        trials=tuple(TrackedTrial(trial.trial, f"rate {trial.rate:.4g}", search.seed) for trial in tried),
        settings=flatten(settings) | _budget(search, search.config) | {"design": "search of a learning rate"},
        commit=search.commit,
        dirty=search.dirty,
        optional=frozenset(trial.trial for trial in tried if trial.state in ("pruned", "diverged")),
    )


def _budget(experiment: Study | Search, config: TrialConfig) -> dict[str, str]:
    """The budget's label, and the precision of the trials even where it is the budget's default."""
    return {"budget": experiment.budget_label, "precision": config.training.precision}


def flatten(tree: Mapping, prefix: str = "") -> dict[str, str]:
    """Leaves of a tree as dotted path -> text; lists as JSON."""
    flat: dict[str, str] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value if isinstance(value, str) else json.dumps(value)
    return flat


def curve_name(metric: str) -> str:
    """MLflow's name of a metric of a progress line: `validation_…` where it is over the validation games, below
    DETAILS where it has no chart of its own."""
    over_games = metric in METRICS and METRICS[metric].source == "positions"
    name = f"validation_{metric}" if over_games else metric
    return name if metric in CHARTS else f"{DETAILS}/{name}"


_KEY = "gonn"
_SECTION = {"uuid": "curves", "name": "Curves", "display": True, "isReordered": False, "isGenerated": True}
_CHART = {"type": "LINE", "metricSectionId": "curves", "xAxisKey": "step", "lineSmoothness": 0, "isGenerated": True}
VIEW = {
    f"mlflow.sharedViewState.{_KEY}": json.dumps(
        {
            "searchFilter": "tags.role = 'trial'",
            "orderByKey": "tags.`arm`",
            "orderByAsc": True,
            "runsHiddenMode": "SHOW_ALL",
            "groupBy": {"aggregateFunction": "average", "groupByKeys": [{"mode": "tag", "groupByData": "arm"}]},
            "useGroupedValuesInCharts": False,
            "selectedColumns": ["tags.`arm`", "tags.`seed`", f"metrics.`{TEST['nats']}`", f"metrics.`{TEST['top1']}`"],
            "compareRunCharts": [
                {**_CHART, "uuid": name, "metricKey": name, "displayName": name} for name in map(curve_name, CHARTS)
            ],
            "compareRunSections": [_SECTION],
            "isAccordionReordered": True,
        }
    )
}
"""Tag of an experiment: the page that `gonn ui` opens, with a curve for each trial, in the colour of its arm. MLflow
keeps the view that a user shares in such a tag."""
CHARTS_PAGE = f"workflowType=machine_learning&compareRunsMode=CHART&viewStateShareKey={_KEY}"


def metrics_of(line: Mapping) -> dict[str, float]:
    """The numbers of a progress line by metric name."""
    return {
        curve_name(name): value
        for name, value in line.items()
        if name != "samples" and isinstance(value, (int, float)) and not isinstance(value, bool)
    }


@dataclass(frozen=True)
class TrialContent:
    """Everything that a trial's run shows, from its directory."""

    status: str
    """MLflow's: RUNNING, FINISHED, FAILED, KILLED (stopped, can be resumed)."""
    params: dict[str, str]
    """Settings that differ from the default, as dotted path -> text."""
    tags: dict[str, str]
    points: list[tuple[int, int, dict[str, float]]]
    """(samples, unix milliseconds, metrics) of every progress point."""
    started: int
    ended: int | None
    files: tuple[Path, ...]

    @property
    def samples(self) -> int:
        """The last step."""
        return max((samples for samples, _, _ in self.points), default=0)


CHECKPOINT = "checkpoint.safetensors"
_STATUS = {"running": "RUNNING", "done": "FINISHED", "failed": "FAILED", "paused": "KILLED", "damaged": "FAILED"}


def stamp(folder: Path) -> tuple:
    """Changes whenever `trial_content` would."""
    names = ("config.json", "metrics.jsonl", "result.json", "failure.json")
    return (
        TrialDirectory(folder).state(),
        *(path.stat().st_mtime_ns if (path := folder / name).exists() else 0 for name in names),
    )


def trial_content(folder: Path) -> TrialContent | None:
    """The content of a trial's directory now; None before its first session. Raises InputError for files of another
    version."""
    directory = TrialDirectory(folder)
    state, tree = directory.state(), directory.config()
    if tree is None:
        return None
    session, config, result, failure = tree["sessions"][-1], tree["config"], directory.result(), directory.failure()
    started = round(1000 * datetime.fromisoformat(tree["sessions"][0]["started"]).timestamp())
    points = [
        (line["samples"], started + round(1000 * line["wall_seconds"]), metrics_of(line))
        for line in directory.metrics()
    ]
    last = points[-1][1] if points else started
    tags = {
        "commit": session["commit"],
        "dirty": json.dumps(session["dirty"]),
        "device": session["device"],
        "compile": session.get("compile", "none"),
        "view": config["data"]["view"],
        **{f"version.{name}": version for name, version in session["versions"].items()},
        **{f"numerics.{name}": str(version) for name, version in tree["numerics"].items()},
    }
    if result is not None:
        tags |= {"weights": result["weights"], "parameters": str(result["parameters"])}
    if failure is not None:
        tags["error"] = failure["error"]
    names = (CHECKPOINT, "result.json", "config.json") if result is not None else ("failure.json",)
    default = flatten(TrialConfig().model_dump(mode="json"))
    return TrialContent(
        status=_STATUS[state],
        params={path: value for path, value in flatten(config).items() if default.get(path) != value},
        tags=tags,
        points=points,
        started=started,
        ended=None if state == "running" else last,
        # A symbolic link may lead out of the workspace.
        files=tuple(path for name in names if (path := folder / name).is_file() and not path.is_symlink()),
    )
