"""Brings MLflow's records of studies and trials up to date.

A study is an experiment with a run for the study, below it a run for each arm, and below that a run for each trial.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from orchestration.tracking.client import Client, make_database
from orchestration.tracking.records import (
    CHECKPOINT,
    ArmReport,
    StudyInfo,
    StudyReport,
    TrackedTrial,
    TrialContent,
    trial_content,
)
from orchestration.tracking.ui import VIEW

if TYPE_CHECKING:
    from orchestration.tracking.client import Run

DATABASE = "mlflow.db"
_NOTE = "mlflow.note.content"
_NOTE_CHARACTERS = 4900  # a tag of an experiment holds 5,000
_CHECKPOINT = "checkpoint"
"""Tag of a trial's run: URI of its checkpoint. Of a control's runs in several studies one stores it."""
_COLOUR = "mlflow.runColor"
_KIND = {"mlflow.experimentKind": "custom_model_development"}


class Writer:
    """Writes studies through one client of MLflow. Raises what that raises, and UserError for trial directories that
    cannot be read."""

    def __init__(self, uri: str, root: Path, runs: Path, own: bool):
        """Makes a new database: one process at a time. root, runs: the workspace's folders; own: whether the database
        is the workspace's."""
        if own and not (root / DATABASE).exists():
            make_database(root / DATABASE)
        self._uri, self._root, self._runs, self._own = uri, root, runs, own
        self._client = Client(uri)

    @property
    def answered(self) -> float:
        """When MLflow last gave an answer or an error."""
        return self._client.answered

    def experiment(self, study: StudyInfo) -> str | None:
        """Id of a study's experiment; None for one that was never logged or is deleted."""
        experiment = self._client.ask(self._client.mlflow.get_experiment_by_name, study.name)
        return experiment.experiment_id if experiment and experiment.lifecycle_stage == "active" else None

    def write_all(self, study: StudyInfo, report: StudyReport | None) -> None:
        """Everything that is missing of a study, its arms and trials, its report and its status."""
        written = self.write_trials(study, study.trials, report.trials if report else {})
        statuses = {trial: "FINISHED" if trial.id in study.optional else status for trial, status in written.items()}
        parent = self.write_study(study, _status(statuses.values()))
        runs = self._runs_of(parent.info.experiment_id)
        for arm in study.arms:
            of_arm = [status for trial, status in statuses.items() if trial.arm == arm]
            if of_arm:
                run = runs.get(("arm", arm)) or self._make_arm(study, arm, parent)
                content = report.arms.get(arm, ArmReport({})) if report else ArmReport({})
                self._client.write_values(run, {}, content.tags)
                self._client.write_metrics(run, content.metrics)
                self._client.write_status(run, _status(of_arm))
        if report is not None:
            self._write_report(parent, report)

    def _experiment(self, study: StudyInfo) -> str:
        """Id of the study's experiment, which is made or restored where necessary."""
        client, ask = self._client.mlflow, self._client.ask
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
            return experiment.experiment_id
        tags = {**_KIND, _NOTE: study.title, "verdict": "none yet", **study.tags, **VIEW}
        return ask(client.create_experiment, study.name, location, tags=tags)

    def write_study(self, study: StudyInfo, status: str) -> "Run":
        """The study's run, made when it is not there, in the given status."""
        experiment = self._experiment(study)
        run = self._runs_of(experiment).get(("study", study.id))
        if run is None:
            run = self._make_run(experiment, study.title, {"study": study.id, "role": "study"}, None)
        commit = {"commit": study.commit, "dirty": str(study.dirty).lower(), "mlflow.source.git.commit": study.commit}
        self._client.write_values(run, study.settings, {**commit, **study.tags})
        self._client.write_status(run, status)
        return run

    def _runs_of(self, experiment: str) -> dict[tuple[str, str], "Run"]:
        """(role, study, arm or trial) -> run. A request to make a run that was carried out but not answered in time is
        sent again: the second of two runs is deleted."""
        runs: dict[tuple[str, str], Run] = {}
        for run in self._client.runs([experiment]):
            role = run.data.tags.get("role", "")
            if role not in ("study", "arm", "trial"):  # a user's own run
                continue
            if runs.setdefault((role, run.data.tags.get(role, "")), run) is not run:
                self._client.ask(self._client.mlflow.delete_run, run.info.run_id)
        return runs

    def _make_run(
        self, experiment: str, name: str, tags: Mapping[str, str], parent: "Run | None", started: int | None = None
    ) -> "Run":
        tags = {**tags, "mlflow.source.name": "gonn"}
        if parent is not None:
            tags["mlflow.parentRunId"] = parent.info.run_id
        return self._client.ask(self._client.mlflow.create_run, experiment, started, tags, name)

    def _make_arm(self, study: StudyInfo, arm: str, parent: "Run") -> "Run":
        tags = {"study": study.id, "role": "arm", "arm": arm, _COLOUR: study.colour(arm)}
        return self._make_run(parent.info.experiment_id, arm, tags, parent)

    def write_trials(
        self, study: StudyInfo, trials: Iterable[TrackedTrial], metrics: Mapping[str, Mapping[str, float]] | None = None
    ) -> dict[TrackedTrial, str | None]:
        """Bring the runs of `trials` up to date; their statuses, None for a trial that has not begun. metrics: trial
        id -> those that its directory does not have."""
        experiment = self._experiment(study)
        runs = self._runs_of(experiment)
        parent = runs.get(("study", study.id)) or self.write_study(study, "RUNNING")
        statuses: dict[TrackedTrial, str | None] = {}
        for trial in trials:
            content = trial_content(self._runs / trial.id)
            run = runs.get(("trial", trial.id))
            statuses[trial] = None if content is None else content.status
            if content is None:
                if run is not None:
                    self._client.write_status(run, "KILLED")
                continue
            if run is None:
                above = parent
                if trial.arm in study.arms:
                    key = "arm", trial.arm
                    above = runs[key] = runs.get(key) or self._make_arm(study, trial.arm, parent)
                tags = {"study": study.id, "trial": trial.id, "role": "trial", _COLOUR: study.colour(trial.arm)}
                run = self._make_run(experiment, trial.name, tags, above, content.started)
                self._client.write_dataset(run, study.settings.get("data", "games"), content.view)
            self._write_trial(run, trial, content, (metrics or {}).get(trial.id, {}))
        return statuses

    def _write_trial(
        self, run: "Run", trial: TrackedTrial, content: TrialContent, metrics: Mapping[str, float]
    ) -> None:
        tags = {
            **content.tags,
            "arm": trial.arm,
            "seed": str(trial.seed),
            "control": str(trial.control).lower(),
            "mlflow.source.git.commit": content.tags["commit"],
        }
        files = {path.name: path for path in content.files}
        if CHECKPOINT in files:
            home = self._home(run, trial.id)
            tags[_CHECKPOINT] = f"runs:/{home}/{CHECKPOINT}"
            if home != run.info.run_id:
                del files[CHECKPOINT]
        self._client.write_values(run, content.params, tags)
        self._client.write_points(run, content.points)
        self._client.write_metrics(run, metrics, content.samples)
        self._client.write_files(run, files)
        self._client.write_status(run, content.status, content.ended)

    def _home(self, run: "Run", trial: str) -> str:
        """Id of the run that stores a trial's checkpoint: this one, unless another study's active run does."""
        tagged = run.data.tags.get(_CHECKPOINT, "").removeprefix("runs:/").partition("/")[0]
        if tagged == run.info.run_id or (tagged and _stores(self._client.run(tagged))):
            return tagged
        for other in self._client.runs(self._client.experiments(), f"tags.trial = '{trial}'"):
            if other.info.run_id != run.info.run_id and _stores(other):
                return other.info.run_id
        return run.info.run_id

    def _write_report(self, run: "Run", report: StudyReport) -> None:
        """Descriptions, tags, metrics and files of the study's run, and the tags of its experiment."""
        note = report.note if len(report.note) <= _NOTE_CHARACTERS else report.note[:_NOTE_CHARACTERS] + "\n\n…"
        shown = {_NOTE: note, **({"verdict": report.verdict} if report.verdict else {})}
        self._client.write_values(run, {}, {**report.tags, **shown})
        experiment = self._client.ask(self._client.mlflow.get_experiment, run.info.experiment_id)
        self._client.write_experiment(experiment, shown | VIEW)
        self._client.write_metrics(run, report.metrics)
        self._client.write_points(run, report.points)
        self._client.write_files(run, report.files)


def _stores(run: "Run | None") -> bool:
    return run is not None and run.data.tags.get(_CHECKPOINT, "").startswith(f"runs:/{run.info.run_id}/")


def _status(trials: Iterable[str | None]) -> str:
    """Status of a study or an arm with trials of these statuses."""
    statuses = set(trials)
    for status in ("RUNNING", "FAILED"):
        if status in statuses:
            return status
    return "FINISHED" if statuses == {"FINISHED"} else "KILLED"
