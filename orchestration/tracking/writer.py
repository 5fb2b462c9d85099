"""What MLflow holds of studies and trials, brought up to date; knows MLflow by its `client` alone.

A study is an experiment with a parent run and a run per trial. What an earlier version recorded under other names is
recorded anew: runs cannot lose metrics, so the old run goes to MLflow's bin when the new one stands.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from orchestration.tracking import view
from orchestration.tracking.client import Client, make_tables, newest_schema
from orchestration.tracking.database import NAME, make_whole
from orchestration.tracking.records import CHECKPOINT, StudyInfo, StudyReport, TrackedTrial, TrialContent, trial_content

FORMAT = 3
"""Of what is recorded; runs and experiments of an older one are made again."""
_FORMAT = "mlflow.gonn.format"
_NOTE = "mlflow.note.content"
_NOTE_CHARACTERS = 4900  # an experiment's tag holds 5,000
_CHECKPOINT = "checkpoint"
"""Tag of a trial's run: where its checkpoint is, as MLflow addresses artifacts; a control's is stored by one study."""
_VERDICT = "verdict"
_KIND = {"mlflow.experimentKind": "custom_model_development"}
_OURS = re.compile(r"mlflow\.|(delta_nats|interval95|q|verdict|claim|version|numerics)\.|best_")
"""Tags of older formats that we wrote; others are somebody's own."""

Run = Any
"""A run, as MLflow gives it."""


class Writer:
    """Writes studies through one client of MLflow. Raises what that raises, and UserError for trial directories that
    cannot be read."""

    def __init__(self, uri: str, root: Path, runs: Path, own: bool):
        """Makes a new data base: one process at a time. root, runs: of the workspace; own: whether the data base is the
        workspace's own, which moves with it."""
        if own:
            make_whole(root / NAME, make_tables, newest_schema)
        self._uri, self._root, self._runs, self._own = uri, root, runs, own
        self._client = Client(uri)
        self._losses: dict[str, dict[TrackedTrial, tuple[dict[str, float], dict[str, float]]]] = {}
        """Study -> trial -> the lowest and highest of its losses, for the axes of charts."""

    @property
    def heard(self) -> float:
        """When MLflow last gave an answer, or refused."""
        return self._client.heard

    def experiment(self, study: StudyInfo) -> str | None:
        """The id of a study's experiment, None for one that was never logged, or by an older version."""
        experiment = self._client.experiment(study.name)
        if experiment is None or experiment.lifecycle_stage == "deleted" or _older(experiment.tags):
            return None
        return experiment.experiment_id

    def write_all(self, study: StudyInfo, report: StudyReport | None) -> None:
        """All that is missing of a study and its trials, its report, and how it stands."""
        statuses = self.write_trials(study, study.trials, report.trials if report else {})
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
        _, older = self._runs_of(parent.info.experiment_id)
        for run in older.values():
            self._bin(run)

    def _experiment(self, study: StudyInfo) -> str:
        """Id of the study's experiment, which is made, brought back or given its present name where need be."""
        client, ask = self._client.mlflow, self._client.ask
        remote = urlsplit(self._uri).scheme in ("http", "https")
        location = None if remote else (self._root / "mlartifacts" / study.id).resolve().as_uri()
        experiment = self._client.experiment(study.name, study.id)
        if experiment is not None and experiment.lifecycle_stage == "deleted":
            ask(client.restore_experiment, experiment.experiment_id)
        if experiment is not None and self._own and experiment.artifact_location != location:
            # The workspace was moved or copied. An experiment keeps its place for artifacts for ever: this one would go
            # on writing into the folder that the workspace came from. It goes to MLflow's bin, and is made anew from
            # the trial directories.
            name = f"{study.id} (of a folder before, {experiment.experiment_id})"
            ask(client.rename_experiment, experiment.experiment_id, name)
            ask(client.delete_experiment, experiment.experiment_id)
            experiment = None
        if experiment is None:
            tags = {**_KIND, _NOTE: study.title, _FORMAT: str(FORMAT), view.TAG: view.view_state()}
            return ask(client.create_experiment, study.name, location, tags=tags)
        if experiment.name != study.name:
            ask(client.rename_experiment, experiment.experiment_id, study.name)
        return experiment.experiment_id

    def write_study(self, study: StudyInfo, status: str) -> Run:
        """The study's parent run, made when it is not there, in the given status; and what its experiment's pages
        show."""
        experiment = self._experiment(study)
        runs, older = self._runs_of(experiment)
        tags = {"study": study.id, "role": "study", "mlflow.source.name": "gonn"}
        run = runs.get("study") or self._make_run(experiment, study.title, tags, None, older.get("study"))
        commit = {"commit": study.commit, "dirty": str(study.dirty).lower(), "mlflow.source.git.commit": study.commit}
        self._client.write_values(run, study.settings, {**commit, **study.told})
        self._client.write_status(run, status, None)
        self._write_view(study, experiment)
        return run

    def _write_view(self, study: StudyInfo, experiment: str) -> None:
        """What the pages of an experiment need: its view, colours, and tags for lists."""
        extremes = [each for pair in self._losses.get(study.id, {}).values() for each in pair]
        tags = {
            **_KIND,
            view.TAG: view.view_state(view.ranges(extremes), study.grouped),
            view.COLOURS_TAG: view.colours_tag(study.colours),
            _FORMAT: str(FORMAT),
            **study.told,
        }
        there = self._client.ask(self._client.mlflow.get_experiment, experiment)
        if _VERDICT not in there.tags:  # the first of them stands in lists, the others behind it
            tags = {_VERDICT: "none yet", **tags}
        self._client.write_experiment(there, tags)

    def _runs_of(self, experiment: str) -> tuple[dict[str | None, Run], dict[str | None, Run]]:
        """Runs of an experiment by trial id, the parent under `study`: those of this format, and those of an older one.

        A request to make a run that was carried out but not answered in time is sent again: of two runs of one trial,
        one goes to the bin.
        """
        runs: dict[str | None, Run] = {}
        older: dict[str | None, Run] = {}
        for run in self._client.runs([experiment]):
            same = older if _older(run.data.tags) else runs
            if same.setdefault(run.data.tags.get("trial", run.data.tags.get("role")), run) is not run:
                self._bin(run)
        older.pop(None, None)  # neither trial nor study: somebody's own
        return runs, older

    def _make_run(
        self, experiment: str, name: str, tags: Mapping[str, str], started: int | None, before: Run | None
    ) -> Run:
        """A new run; before: the one of an older format, which goes to the bin and whose own tags it takes over."""
        kept = {key: value for key, value in before.data.tags.items() if not _OURS.match(key)} if before else {}
        if before and "trial" in tags and _NOTE in before.data.tags:
            kept[_NOTE] = before.data.tags[_NOTE]
        tags = {**kept, **tags, _FORMAT: str(FORMAT)}
        run = self._client.ask(self._client.mlflow.create_run, experiment, started, tags, name)
        if before:
            self._bin(before)
        return run

    def _bin(self, run: Run) -> None:
        """Put a run into MLflow's bin, without its copy of a checkpoint that a trial directory has."""
        self._client.ask(self._client.mlflow.delete_run, run.info.run_id)
        folder = (self._root / "mlartifacts").resolve()
        copy = Path(url2pathname(urlsplit(run.info.artifact_uri or "").path)) / CHECKPOINT
        kept = self._runs / run.data.tags.get("trial", "") / CHECKPOINT
        if self._own and copy.is_relative_to(folder) and kept.is_file():
            copy.unlink(missing_ok=True)

    def write_trials(
        self, study: StudyInfo, trials: Iterable[TrackedTrial], numbers: Mapping[str, Mapping[str, float]] | None = None
    ) -> list[str | None]:
        """Bring the runs of `trials` up to date; their statuses, None for a trial that has not begun. numbers: trial ->
        metrics that its directory does not tell."""
        experiment = self._experiment(study)
        runs, older = self._runs_of(experiment)
        parent = runs.get("study") or self.write_study(study, "RUNNING")
        statuses: list[str | None] = []
        for trial in trials:
            content = trial_content(self._runs / trial.id)
            run = runs.get(trial.id)
            if content is None:
                if run is not None:
                    self._client.write_status(run, "KILLED", None)
                statuses.append(None)
                continue
            if run is None:
                tags = {"study": study.id, "trial": trial.id, "role": "trial", "mlflow.source.name": "gonn"}
                tags["mlflow.runColor"] = study.colours.get(trial.arm, "")
                run = self._make_run(experiment, trial.name, tags, content.started, older.get(trial.id))
                self._client.write_dataset(run, study.settings.get("data", "games"), content.view)
            self._write_trial(run, trial, content, parent.info.run_id, (numbers or {}).get(trial.id, {}))
            self._losses.setdefault(study.id, {})[trial] = view.extremes(metrics for _, _, metrics in content.points)
            statuses.append(content.state)
        self._write_view(study, experiment)
        return statuses

    def _write_trial(
        self, run: Run, trial: TrackedTrial, content: TrialContent, parent: str, numbers: Mapping[str, float]
    ) -> None:
        tags = {
            **content.tags,
            "arm": trial.arm,
            "seed": str(trial.seed),
            "control": str(trial.control).lower(),
            "mlflow.source.git.commit": content.tags["commit"],
            "mlflow.parentRunId": parent,
        }
        files = {path.name: path for path in content.files}
        if CHECKPOINT in files:
            home = self._home(run, trial.id)
            tags[_CHECKPOINT] = f"runs:/{home}/{CHECKPOINT}"
            if home != run.info.run_id:
                del files[CHECKPOINT]
        self._client.write_values(run, content.params, tags)
        self._client.write_points(run, content.points)
        self._client.write_numbers(run, numbers, max((samples for samples, _, _ in content.points), default=0))
        self._client.write_files(run, files)
        self._client.write_status(run, content.state, content.ended)

    def _home(self, run: Run, trial: str) -> str:
        """Id of the run that stores a trial's checkpoint: this one, unless another study's does. One that was thrown
        away since is replaced."""
        told = run.data.tags.get(_CHECKPOINT, "").removeprefix("runs:/").partition("/")[0]
        if told == run.info.run_id or told and self._stores(self._client.run(told)):
            return told
        for other in self._client.runs(self._client.experiments(), f"tags.trial = '{trial}'"):
            if other.info.run_id != run.info.run_id and self._stores(other):
                return other.info.run_id
        return run.info.run_id

    def _stores(self, run: Run | None) -> bool:
        return run is not None and run.data.tags.get(_CHECKPOINT, "").startswith(f"runs:/{run.info.run_id}/")

    def _write_report(self, run: Run, report: StudyReport) -> None:
        """What was found: as the description of the run and of the experiment, so that their pages show it, as tags,
        numbers and files."""
        note = report.note if len(report.note) <= _NOTE_CHARACTERS else report.note[:_NOTE_CHARACTERS] + "\n\n…"
        self._client.write_values(run, {}, {**report.tags, **report.told, _NOTE: note})
        experiment = self._client.ask(self._client.mlflow.get_experiment, run.info.experiment_id)
        self._client.write_experiment(experiment, {**report.told, _NOTE: note})
        self._client.write_numbers(run, report.numbers)
        self._client.write_points(run, report.points)
        self._client.write_files(run, report.files)


def _older(tags: Mapping[str, str]) -> bool:
    """Whether a run or an experiment was recorded in an older format."""
    return int(tags.get(_FORMAT, "1")) < FORMAT
