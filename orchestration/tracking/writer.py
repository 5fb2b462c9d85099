"""What MLflow holds of studies and trials, brought up to date. The only module that imports MLflow.

What is there already is asked of MLflow each time, not remembered: writing twice changes nothing, whoever wrote first.
A study is an experiment with a parent run and a run per trial.
"""

import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from urllib.parse import urlsplit

from orchestration.tracking import view as mlflow_view
from orchestration.tracking.records import StudyInfo, StudyReport, TrackedTrial, TrialContent, trial_content

if TYPE_CHECKING:
    from mlflow.entities import Run

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # the next round tries again anyway
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",  # seconds
    "PGCONNECT_TIMEOUT": "10",  # seconds; PostgreSQL's own library waits for ever
    "MLFLOW_LOGGING_LEVEL": "ERROR",
}
_PARAMS_A_BATCH, _METRICS_A_BATCH = 100, 1000
_NOTE_CHARACTERS = 7900
_ARTIFACTS = "mlflow.gonn.artifacts"  # digest of what was logged last; names with this prefix stay off the pages

P = ParamSpec("P")
T = TypeVar("T")


def mlflow_errors() -> tuple[type[Exception], ...]:
    """What MLflow, its server and its data base raise when they can; their texts need no type beside them."""
    _set_up()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError


def _set_up() -> None:
    """What MLflow reads from the environment when it is first imported."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import mlflow

    logging.getLogger(mlflow.__name__).setLevel(logging.ERROR)


class Writer:
    """Writes studies through one client of MLflow. Raises what that raises, and UserError for trial directories that
    cannot be read."""

    def __init__(self, uri: str, root: Path, runs: Path, own: bool):
        """Makes the schema of a new data base: one process at a time. root, runs: of the workspace; own: whether the
        data base is the workspace's own, which moves with it."""
        _set_up()
        from mlflow import MlflowClient

        self._uri, self._root, self._runs, self._own = uri, root, runs, own
        self._client = MlflowClient(uri)
        self.heard = time.monotonic()
        """When MLflow last gave an answer, or refused."""

    def _ask(self, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """An answer of the client."""
        try:
            return call(*arguments, **options)
        finally:
            self.heard = time.monotonic()

    def experiment(self, study: str) -> str | None:
        """The id of a study's experiment, None for one that was never logged."""
        experiment = self._ask(self._client.get_experiment_by_name, study)
        return experiment.experiment_id if experiment else None

    def write_all(self, study: StudyInfo, report: StudyReport | None) -> None:
        """All that is missing of a study and its trials, its report, and how it stands."""
        statuses = self.write_trials(study, study.trials)
        statuses = [
            "FINISHED" if trial.id in study.given_up else status
            for trial, status in zip(study.trials, statuses, strict=True)
        ]
        if "RUNNING" in statuses:
            status = "RUNNING"
        elif "FAILED" in statuses:
            status = "FAILED"
        else:
            status = "FINISHED" if set(statuses) == {"FINISHED"} else "KILLED"
        parent = self.write_study(study, status)
        if report is not None:
            self._write_report(parent, report)

    def _experiment(self, study: StudyInfo) -> str:
        remote = urlsplit(self._uri).scheme in ("http", "https")
        location = None if remote else (self._root / "mlartifacts" / study.id).resolve().as_uri()
        experiment = self._ask(self._client.get_experiment_by_name, study.id)
        if experiment is not None and experiment.lifecycle_stage == "deleted":
            self._ask(self._client.restore_experiment, experiment.experiment_id)
        if experiment is not None and self._own and experiment.artifact_location != location:
            # The workspace was moved or copied. An experiment keeps its place for artifacts for ever: this one would go
            # on writing into the folder that the workspace came from. It goes to MLflow's bin, and is made anew from
            # the trial directories.
            self._ask(
                self._client.rename_experiment,
                experiment.experiment_id,
                f"{study.id} (of a folder before, {experiment.experiment_id})",
            )
            self._ask(self._client.delete_experiment, experiment.experiment_id)
            experiment = None
        if experiment is None:
            kind = {
                "mlflow.experimentKind": "custom_model_development",
                "mlflow.note.content": study.title,
                mlflow_view.TAG: mlflow_view.view_state(),
            }
            return self._ask(self._client.create_experiment, study.id, location, tags=kind)
        return experiment.experiment_id

    def write_study(self, study: StudyInfo, status: str):
        """The study's parent run, made when it is not there, in the given status."""
        experiment = self._experiment(study)
        run = self._runs_of(experiment).get("study")
        if run is None:
            run = self._ask(
                self._client.create_run,
                experiment,
                tags={"study": study.id, "role": "study", "mlflow.source.name": "gonn"},
                run_name=study.title,
            )
        tags = {"commit": study.commit, "dirty": str(study.dirty).lower(), "mlflow.source.git.commit": study.commit}
        self._write_values(run, study.settings, tags)
        self._write_status(run, status, None)
        return run

    def _runs_of(self, experiment: str) -> dict[str | None, "Run"]:
        """Runs of an experiment by trial id; the parent under `study`.

        A request to make a run that was carried out but not answered in time is sent again: of two runs of one trial,
        one goes to the bin.
        """
        runs: dict[str | None, Run] = {}
        token = None
        while True:
            page = self._ask(
                self._client.search_runs,
                [experiment],
                max_results=1000,
                order_by=["attributes.start_time ASC"],
                page_token=token,
            )
            for run in page:
                if runs.setdefault(run.data.tags.get("trial", run.data.tags.get("role")), run) is not run:
                    self._ask(self._client.delete_run, run.info.run_id)
            if not (token := page.token):
                return runs

    def write_trials(self, study: StudyInfo, trials: Iterable[TrackedTrial]) -> list[str | None]:
        """Bring the runs of `trials` up to date; their statuses, None for a trial that has not begun."""
        experiment = self._experiment(study)
        runs = self._runs_of(experiment)
        parent = runs.get("study") or self.write_study(study, "RUNNING")
        return [self._write_trial(study, trial, experiment, parent.info.run_id, runs.get(trial.id)) for trial in trials]

    def _write_trial(self, study: StudyInfo, trial: TrackedTrial, experiment: str, parent: str, run) -> str | None:
        content = trial_content(self._runs / trial.id)
        if content is None:
            if run is not None:
                self._write_status(run, "KILLED", None)
            return None
        if run is None:
            tags = {
                "study": study.id,
                "trial": trial.id,
                "role": "trial",
                "mlflow.parentRunId": parent,
                "mlflow.source.name": "gonn",
            }
            run = self._ask(self._client.create_run, experiment, content.started, tags, trial.name)
            self._write_dataset(run.info.run_id, study, content)
        tags = {
            **content.tags,
            "arm": trial.arm,
            "seed": str(trial.seed),
            "control": str(trial.control).lower(),
            "mlflow.source.git.commit": content.tags["commit"],
        }
        self._write_values(run, content.params, tags)
        self._write_points(run, content.points)
        self._write_files(run, content.files)
        self._write_status(run, content.state, content.ended)
        return content.state

    def _write_values(self, run, params: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Params that are missing (they cannot change) and tags that differ."""
        from mlflow.entities import Param, RunTag

        new = [Param(name, str(value)) for name, value in params.items() if name not in run.data.params]
        changed = [RunTag(name, str(value)) for name, value in tags.items() if run.data.tags.get(name) != str(value)]
        for start in range(0, len(new), _PARAMS_A_BATCH):
            self._ask(self._client.log_batch, run.info.run_id, params=new[start : start + _PARAMS_A_BATCH])
        if changed:
            self._ask(self._client.log_batch, run.info.run_id, tags=changed)

    def _write_points(self, run, points: Iterable[tuple[int, int, Mapping[str, float]]]) -> None:
        """Points that are missing; a point's metrics are written together, so one of them tells whether it is there."""
        from mlflow.entities import Metric

        steps: dict[str, set[int]] = {}
        batch: list[Metric] = []
        for samples, moment, metrics in points:
            first = next(iter(metrics))
            if first not in steps:
                known = first in run.data.metrics
                steps[first] = (
                    {metric.step for metric in self._ask(self._client.get_metric_history, run.info.run_id, first)}
                    if known
                    else set()
                )
            if samples in steps[first]:
                continue
            if len(batch) + len(metrics) > _METRICS_A_BATCH:
                self._ask(self._client.log_batch, run.info.run_id, metrics=batch)
                batch = []
            batch += [Metric(name, value, moment, samples) for name, value in metrics.items()]
        if batch:
            self._ask(self._client.log_batch, run.info.run_id, metrics=batch)

    def _write_files(self, run, files: Iterable[Path], texts: dict[str, str] | None = None) -> None:
        """Artifacts, when their content is not what was logged last."""
        digest = hashlib.sha256(repr(texts).encode())
        for path in files:
            digest.update(path.name.encode() + path.read_bytes())
        if not (files or texts) or run.data.tags.get(_ARTIFACTS) == digest.hexdigest()[:16]:
            return
        for path in files:
            self._ask(self._client.log_artifact, run.info.run_id, str(path))
        for name, text in (texts or {}).items():
            self._ask(self._client.log_text, run.info.run_id, text, name)
        self._ask(self._client.set_tag, run.info.run_id, _ARTIFACTS, digest.hexdigest()[:16])

    def _write_report(self, run, report: StudyReport) -> None:
        """Table, figures, tags, points; the table also as the description of the run and of the experiment, so that
        their pages show it."""
        note = (
            report.table
            if len(report.table) <= _NOTE_CHARACTERS
            else report.table[:_NOTE_CHARACTERS] + "\n\n… the whole table is in table.md"
        )
        self._write_values(run, {}, {**report.tags, "mlflow.note.content": note})
        self._ask(self._client.set_experiment_tag, run.info.experiment_id, "mlflow.note.content", note)
        self._write_points(run, report.points)
        with tempfile.TemporaryDirectory() as folder:
            files = [
                Path(folder) / f"{index}-{path.name}" for index, path in enumerate(report.figures)
            ]  # first in the list of artifacts
            for path, copy in zip(report.figures, files, strict=True):
                shutil.copyfile(path, copy)
            self._write_files(run, files, {"table.md": report.table})

    def _write_dataset(self, run_id: str, study: StudyInfo, content: TrialContent) -> None:
        from mlflow.entities import Dataset, DatasetInput, InputTag

        name = study.settings.get("data", "games")
        dataset = Dataset(name=name, digest=content.view, source_type="local", source="{}")
        self._ask(
            self._client.log_inputs, run_id, [DatasetInput(dataset, [InputTag("mlflow.data.context", "training")])]
        )

    def _write_status(self, run, status: str, ended: int | None) -> None:
        if run.info.status == status:
            return
        if status == "RUNNING":
            self._ask(self._client.update_run, run.info.run_id, status)
        else:
            self._ask(self._client.set_terminated, run.info.run_id, status, ended)
