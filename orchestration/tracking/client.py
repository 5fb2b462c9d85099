"""MLflow's records of studies, arms and trials. The only module that imports MLflow.

A study is an experiment with a run for the study, below it a run for each arm, and below that a run for each trial.
MLflow is asked for what it has each time; nothing is remembered. Writing twice therefore changes nothing, whichever
process wrote first.
"""

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from urllib.parse import urlsplit

from orchestration.tracking.records import (
    CHECKPOINT,
    VIEW,
    ArmReport,
    StudyInfo,
    StudyReport,
    TrackedTrial,
    TrialContent,
    trial_content,
)

if TYPE_CHECKING:
    from mlflow.entities import Experiment, Run

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # the next round tries again anyway
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",  # seconds
    "PGCONNECT_TIMEOUT": "10",  # seconds; PostgreSQL's library waits for ever
    "MLFLOW_LOGGING_LEVEL": "ERROR",
}
DATABASE = "mlflow.db"
_PARAMS_A_BATCH, _POINTS_A_BATCH = 100, 30  # MLflow takes 1,000 metrics at a time
_NOTE = "mlflow.note.content"
_NOTE_CHARACTERS = 4900  # a tag of an experiment holds 5,000
_COLOUR = "mlflow.runColor"
_ARTIFACTS = "mlflow.gonn.artifacts"
"""Tag of a run: digest of the artifacts that were logged last. MLflow's pages hide tags that begin with `mlflow.`."""
_CHECKPOINT = "checkpoint"
"""Tag of a trial's run: URI of its checkpoint. Of a control's runs in several studies one stores it."""

P = ParamSpec("P")
T = TypeVar("T")


def set_up() -> None:
    """Import MLflow with our environment variables, which it reads then; takes seconds on a busy machine."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import mlflow

    logging.getLogger(mlflow.__name__).setLevel(logging.ERROR)


def make_database(path: Path) -> None:
    """Create an SQLite database with all of MLflow's tables, atomically: MLflow makes them by some sixty migrations in
    the file itself, and cannot repair a file that a kill or a full disk left in between."""
    from mlflow import MlflowClient

    making = path.with_name(f"{path.name}.making")
    leftovers = making, making.with_name(f"{making.name}-journal")
    try:
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)
        MlflowClient(f"sqlite:///{making}").search_experiments(max_results=1)
        os.replace(making, path)
    finally:
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)


class Writer:
    """Writes studies to MLflow. Raises what MLflow's client raises, and UserError for trial directories that cannot be
    read."""

    def __init__(self, uri: str, root: Path, runs: Path, own: bool):
        """Makes a new database: one process at a time. root, runs: the workspace's folders; own: whether the database
        is the workspace's."""
        set_up()
        from mlflow import MlflowClient

        if own and not (root / DATABASE).exists():
            make_database(root / DATABASE)
        self._uri, self._root, self._runs, self._own = uri, root, runs, own
        self._mlflow = MlflowClient(uri)
        self.answered = time.monotonic()
        """When MLflow last gave an answer or an error."""

    def _ask(self, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call a method of MLflow's client."""
        try:
            return call(*arguments, **options)
        finally:
            self.answered = time.monotonic()

    def _pages(self, search: Callable[..., Sequence[T]], *arguments: object, **options: object) -> list[T]:
        """All results of a search, which MLflow gives in pages."""
        results: list[T] = []
        token = None
        while True:
            page = self._ask(search, *arguments, max_results=1000, page_token=token, **options)
            results += page
            if not (token := getattr(page, "token", None)):
                return results

    def experiment(self, study: StudyInfo) -> str | None:
        """Id of a study's experiment; None for one that was never logged or is deleted."""
        experiment = self._ask(self._mlflow.get_experiment_by_name, study.name)
        return experiment.experiment_id if experiment and experiment.lifecycle_stage == "active" else None

    def write_all(self, study: StudyInfo, report: StudyReport | None) -> None:
        """Everything that is missing of a study, its arms and trials, its report and its status."""
        report = report or StudyReport()
        runs, written = self.write_trials(study, study.trials, report.trials)
        statuses = {trial: "FINISHED" if trial.id in study.optional else status for trial, status in written.items()}
        for arm in study.arms:
            if run := runs.get(("arm", arm)):
                content = report.arms.get(arm, ArmReport({}))
                self._write_values(run, {}, content.tags)
                self._write_metrics(run, content.metrics)
                self._write_status(run, _status(status for trial, status in statuses.items() if trial.arm == arm))
        parent = runs["study", study.id]
        self._write_status(parent, _status(statuses.values()))
        if report.note:
            self._write_report(study, parent, report)

    def write_trials(
        self,
        study: StudyInfo,
        trials: Iterable[TrackedTrial],
        metrics: Mapping[str, Mapping[str, float]],
        running: bool = False,
    ) -> tuple[dict[tuple[str, str], "Run"], dict[TrackedTrial, str | None]]:
        """Bring the runs of `trials` and the study's run up to date. Returns all runs of the study by role and name,
        and the statuses of the trials, None for one that has not begun.

        metrics: trial id -> those that its directory does not have. running: whether the study is.
        """
        experiment = self._experiment(study).experiment_id
        runs, statuses = self._runs_of(experiment), {}

        def get_run(role: str, name: str, title: str, parent: "Run | None" = None, arm="", started: int | None = None):
            if (role, name) not in runs:
                tags = {"study": study.id, role: name, "role": role, "mlflow.source.name": "gonn"}
                if parent is not None:
                    tags |= {"mlflow.parentRunId": parent.info.run_id, _COLOUR: study.colour(arm)}
                runs[role, name] = self._ask(self._mlflow.create_run, experiment, started, tags, title)
            return runs[role, name]

        above = get_run("study", study.id, study.title)
        commit = {"commit": study.commit, "dirty": str(study.dirty).lower(), "mlflow.source.git.commit": study.commit}
        self._write_values(above, study.settings, {**commit, **study.tags})
        if running:
            self._write_status(above, "RUNNING")
        for trial in trials:
            content = trial_content(self._runs / trial.id)
            statuses[trial] = None if content is None else content.status
            if content is None:
                if run := runs.get(("trial", trial.id)):
                    self._write_status(run, "KILLED")
                continue
            parent = get_run("arm", trial.arm, trial.arm, above, trial.arm) if trial.arm in study.arms else above
            run = get_run("trial", trial.id, trial.name, parent, trial.arm, content.started)
            self._write_trial(run, trial, content, metrics.get(trial.id, {}))
        return runs, statuses

    def _experiment(self, study: StudyInfo) -> "Experiment":
        """The study's experiment, which is made or restored where necessary."""
        client, ask = self._mlflow, self._ask
        remote = urlsplit(self._uri).scheme in ("http", "https")
        location = None if remote else (self._root / "mlartifacts" / study.id).resolve().as_uri()
        experiment = ask(client.get_experiment_by_name, study.name)
        if experiment is not None and experiment.lifecycle_stage == "deleted":
            ask(client.restore_experiment, experiment.experiment_id)
        if experiment is not None and self._own and experiment.artifact_location != location:
            # The workspace was moved or copied. An experiment's artifact location cannot change, so this one would
            # write into the folder that the workspace came from: it is replaced.
            name = f"{study.id} (of another folder, {experiment.experiment_id})"
            ask(client.rename_experiment, experiment.experiment_id, name)
            ask(client.delete_experiment, experiment.experiment_id)
            experiment = None
        if experiment is not None:
            return experiment
        tags = {_NOTE: study.title, "verdict": "none yet", **study.tags, **VIEW}
        tags["mlflow.experimentKind"] = "custom_model_development"
        return ask(client.get_experiment, ask(client.create_experiment, study.name, location, tags=tags))

    def _runs_of(self, experiment: str) -> dict[tuple[str, str], "Run"]:
        """(role, study, arm or trial) -> run. A request to make a run that was carried out but not answered in time is
        sent again: the second of two runs is deleted."""
        runs: dict[tuple[str, str], Run] = {}
        for run in self._search_runs([experiment]):
            role = run.data.tags.get("role", "")
            if role not in ("study", "arm", "trial"):  # a user's own run
                continue
            if runs.setdefault((role, run.data.tags.get(role, "")), run) is not run:
                self._ask(self._mlflow.delete_run, run.info.run_id)
        return runs

    def _search_runs(self, experiments: list[str], filtered: str = "") -> list["Run"]:
        """Active runs, in the order of their start times."""
        order = ["attributes.start_time ASC"]
        return self._pages(self._mlflow.search_runs, experiments, filtered, order_by=order)

    def _write_trial(
        self, run: "Run", trial: TrackedTrial, content: TrialContent, metrics: Mapping[str, float]
    ) -> None:
        tags = {
            **content.tags,
            "arm": trial.arm,
            "seed": str(trial.seed),
            "mlflow.source.git.commit": content.tags["commit"],
        }
        files = {path.name: path for path in content.files}
        if CHECKPOINT in files:
            home = self._home(run, trial.id)
            tags[_CHECKPOINT] = f"runs:/{home}/{CHECKPOINT}"
            if home != run.info.run_id:
                del files[CHECKPOINT]
        self._write_values(run, content.params, tags)
        self._write_points(run, content.points)
        self._write_metrics(run, metrics, content.samples)
        self._write_files(run, files)
        self._write_status(run, content.status, content.ended)

    def _home(self, run: "Run", trial: str) -> str:
        """Id of the run that stores a trial's checkpoint: this one, unless another study's active run does."""
        experiments = [experiment.experiment_id for experiment in self._pages(self._mlflow.search_experiments)]
        for other in self._search_runs(experiments, f"tags.trial = '{trial}'"):
            if other.data.tags.get(_CHECKPOINT, "").startswith(f"runs:/{other.info.run_id}/"):
                return other.info.run_id
        return run.info.run_id

    def _write_report(self, study: StudyInfo, run: "Run", report: StudyReport) -> None:
        """Descriptions, tags, metrics and files of the study's run, and the tags of its experiment."""
        note = report.note if len(report.note) <= _NOTE_CHARACTERS else report.note[:_NOTE_CHARACTERS] + "\n\n…"
        tags = {_NOTE: note, **({"verdict": report.verdict} if report.verdict else {})}
        self._write_values(run, {}, {**report.tags, **tags})
        experiment = self._experiment(study)
        for name, value in (tags | VIEW).items():
            if experiment.tags.get(name) != value:
                self._ask(self._mlflow.set_experiment_tag, experiment.experiment_id, name, value)
        self._write_metrics(run, report.metrics)
        self._write_files(run, report.files)

    def _write_values(self, run: "Run", params: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Log params that are missing (MLflow's cannot change) and tags that differ."""
        from mlflow.entities import Param, RunTag

        new = [Param(name, value) for name, value in params.items() if name not in run.data.params]
        changed = [RunTag(name, value) for name, value in tags.items() if run.data.tags.get(name) != value]
        for start in range(0, len(new), _PARAMS_A_BATCH):
            self._ask(self._mlflow.log_batch, run.info.run_id, params=new[start : start + _PARAMS_A_BATCH])
        if changed:
            self._ask(self._mlflow.log_batch, run.info.run_id, tags=changed)

    def _write_metrics(self, run: "Run", metrics: Mapping[str, float], step: int = 0) -> None:
        """Log the metrics of one point whose values differ: MLflow shows the latest."""
        from mlflow.entities import Metric

        now = round(1000 * time.time())
        changed = {name: value for name, value in metrics.items() if run.data.metrics.get(name) != value}
        if changed:
            points = [Metric(name, value, now, step) for name, value in changed.items()]
            self._ask(self._mlflow.log_batch, run.info.run_id, metrics=points)

    def _write_points(self, run: "Run", points: Iterable[tuple[int, int, Mapping[str, float]]]) -> None:
        """Log the points (step, unix milliseconds, metrics) that are missing. The metrics of a point are written
        together, so the first of them shows whether it is there."""
        from mlflow.entities import Metric

        steps: dict[str, set[int]] = {}
        new: list[list[Metric]] = []
        for step, moment, metrics in points:
            first = next(iter(metrics))
            if first not in steps:
                history = self._mlflow.get_metric_history
                there = self._ask(history, run.info.run_id, first) if first in run.data.metrics else []
                steps[first] = {point.step for point in there}
            if step not in steps[first]:
                new.append([Metric(name, value, moment, step) for name, value in metrics.items()])
        for start in range(0, len(new), _POINTS_A_BATCH):
            batch = [metric for point in new[start : start + _POINTS_A_BATCH] for metric in point]
            self._ask(self._mlflow.log_batch, run.info.run_id, metrics=batch)

    def _write_files(self, run: "Run", files: Mapping[str, Path]) -> None:
        """Log artifacts, path in the run -> file, when their contents differ from those logged last."""
        digests = [(name, hashlib.sha256(path.read_bytes()).hexdigest()) for name, path in files.items()]
        digest = hashlib.sha256(repr(digests).encode()).hexdigest()[:16]
        if not files or run.data.tags.get(_ARTIFACTS) == digest:
            return
        for name, path in files.items():
            self._ask(self._mlflow.log_artifact, run.info.run_id, str(path), os.path.dirname(name) or None)
        self._ask(self._mlflow.set_tag, run.info.run_id, _ARTIFACTS, digest)

    def _write_status(self, run: "Run", status: str, ended: int | None = None) -> None:
        """Set RUNNING, FINISHED, FAILED or KILLED; ended: unix milliseconds, None: now."""
        if status == run.info.status:
            return
        if status == "RUNNING":
            self._ask(self._mlflow.update_run, run.info.run_id, status)
        else:
            self._ask(self._mlflow.set_terminated, run.info.run_id, status, ended)


def _status(trials: Iterable[str | None]) -> str:
    """Status of a study or an arm with trials of these statuses."""
    statuses = set(trials)
    for status in ("RUNNING", "FAILED"):
        if status in statuses:
            return status
    return "FINISHED" if statuses == {"FINISHED"} else "KILLED"
