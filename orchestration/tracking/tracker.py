"""MLflow's picture of studies and trials. The only module that imports MLflow.

A mirror, never the truth: whatever it shows is read from trial directories, so it can be late, down or deleted, and
`sync` makes it whole again. What is there already is asked of MLflow each time, not remembered: writing twice changes
nothing, whoever wrote first. One process writes at a time (a lock held for each round of writing); a study is an
experiment with a parent run and a run per trial.
"""

import hashlib
import logging
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import filelock

from gonn_core.errors import UserError
from orchestration.tracking import view as mlflow_view
from orchestration.tracking.records import StudyInfo, StudyReport, TrackedTrial, TrialContent, stamp, trial_content
from orchestration.tracking.uri import check_driver, redacted, tracking_uri

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
_POLL_SECONDS, _LONGEST_PAUSE = 5.0, 60.0
SILENCE_SECONDS = 15.0
"""So long a command waits at its end for a server that does not answer."""
_THEN = "training goes on, `gonn sync` completes the records"
_ARTIFACTS = "mlflow.gonn.artifacts"  # digest of what was logged last; names with this prefix stay off the pages


def _mlflow_exceptions():
    """MLflow's module of exceptions; the first import sets up what MLflow reads from the environment."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from mlflow import exceptions

    logging.getLogger("mlflow").setLevel(logging.ERROR)
    return exceptions


def _new_client(uri: str):
    from mlflow import MlflowClient

    return MlflowClient(uri)


class _Heard:
    """A client that knows when it last got an answer, or a refusal."""

    def __init__(self, client):
        self._client, self.moment = client, time.monotonic()

    def __getattr__(self, name: str):
        method = getattr(self._client, name)

        def call(*arguments, **options):
            try:
                return method(*arguments, **options)
            finally:
                self.moment = time.monotonic()

        return call


class Tracker:
    """Writes studies to MLflow. Nothing that goes wrong there raises, stops training or makes it wait: it is said once,
    through `say`.

    While trials run, all writing is done by a thread in the background, with longer and longer pauses when it fails. A
    server may refuse, die, hang or come back at any moment: what it missed is written as soon as it answers, by the
    next round or by `gonn sync`.
    """

    def __init__(self, root: Path, runs: Path, say: Callable[[str], None]):
        """`root`: workspace folder, for the data base, artifacts and lock; `runs`: trial directories.

        Raises SettingError for a bad URI, or one of a data base whose driver is not installed.
        """
        self.uri = tracking_uri(root)
        check_driver(self.uri)
        self._own = not os.environ.get("MLFLOW_TRACKING_URI")  # the data base inside the workspace, which moves with it
        self._root, self._runs, self._say = root, runs, say
        self._studies: dict[str, StudyInfo] = {}
        self._begun: set[str] = set()
        self._written: dict[tuple[str, TrackedTrial], tuple] = {}
        self._client: _Heard | None = None
        self._failures = 0
        """Rounds in a row that could not be written."""
        self._said = False
        self._turn = threading.Lock()

    def follow(self, study: StudyInfo) -> None:
        """From now on `poll` follows this study, with the trials that it has now: the first one makes its experiment
        and parent run."""
        self._studies[study.id] = study

    def poll(self) -> None:
        """Log what is new in the trial directories. When another process is writing, this round is left out: nothing is
        lost."""
        self._round(lambda: [self._write_changed(study) for study in list(self._studies.values())], patience=0)

    @contextmanager
    def following(self, seconds: float = _POLL_SECONDS):
        """Poll in the background while trials run; a round that is being written at the end is waited for while the
        server answers."""
        stop = threading.Event()

        def follow():
            pause = 0.0
            while not stop.wait(pause):
                self.poll()
                pause = min(seconds * 2**self._failures, max(seconds, _LONGEST_PAUSE))

        thread = threading.Thread(target=follow, name="tracking", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            self._wait(thread)

    def finish(self, study: StudyInfo, report: StudyReport | None) -> bool:
        """Log what is still missing, the report, and the end of the study. Returns False when MLflow could not be
        written."""
        self._studies.pop(study.id, None)
        written = []
        write = threading.Thread(
            target=lambda: written.append(self._round(lambda: self._write_all(study, report), patience=60)),
            name="tracking",
            daemon=True,
        )
        write.start()
        if not self._wait(write):
            self._warn(f"{redacted(self.uri)} does not answer")
        return written == [True]

    def _wait(self, thread: threading.Thread) -> bool:
        """Wait for a thread that writes, unless the server says nothing for too long. Whether the thread came to its
        end."""
        began = time.monotonic()
        while thread.is_alive():
            heard = max(began, self._client.moment if self._client else began)
            if time.monotonic() - heard > SILENCE_SECONDS:
                return False
            thread.join(0.05)
        return True

    def sync(self, studies: Sequence[tuple[StudyInfo, StudyReport | None]]) -> bool:
        """Rebuild everything about `studies` from files, and end runs that a killed command left RUNNING. False when
        MLflow could not be written."""
        return self._round(
            lambda: [self._write_all(*pair) for pair in studies],
            patience=60,
            then="`gonn sync` again completes the records",
        )

    def experiment_url(self, base: str, study: str) -> str | None:
        """Address of a study's charts on the server at `base`, None for a study that was never logged."""
        found = []
        self._round(lambda: found.append(self._client.get_experiment_by_name(study)), patience=5)
        return f"{base}/#/experiments/{found[0].experiment_id}/runs?{mlflow_view.QUERY}" if found and found[0] else None

    def _round(self, write: Callable[[], object], patience: float, then: str = _THEN) -> bool:
        """One round of writing: by this process alone. False when it could not be done; `then`: what is said to come of
        that."""
        from sqlalchemy.exc import SQLAlchemyError

        exceptions = _mlflow_exceptions()
        with self._turn:
            try:
                with filelock.FileLock(self._root / "mlflow.db.lock", timeout=patience):
                    if self._client is None:
                        self._client = _Heard(
                            _new_client(self.uri)
                        )  # makes the schema of a new data base, under the lock
                    write()
                if self._failures and self._said:
                    self._said = False
                    self._say("MLflow: its records are written again, nothing is missing")
                self._failures = 0
                return True
            except filelock.Timeout:
                if patience:
                    self._warn("another command is writing to it", then)
                return False
            except UserError as error:  # a trial directory that cannot be read
                self._warn(str(error), then)
                return False
            except (exceptions.MlflowException, SQLAlchemyError, OSError) as error:
                why = str(error).split("\n")[0]
            except Exception as error:  # what else a server's answer or a data base's driver makes the client raise
                why = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no word why'}"
            self._failures += 1
            self._warn(f"cannot use {redacted(self.uri)} ({redacted(why)})", then)
        return False

    def _warn(self, why: str, then: str = _THEN) -> None:
        if not self._said:
            self._said = True
            self._say(f"MLflow: {why}; {then}")

    def _write_all(self, study: StudyInfo, report: StudyReport | None) -> None:
        statuses = self._write_trials(study, study.trials)
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
        parent = self._write_study(study, status)
        if report is not None:
            self._write_report(parent, report)

    def _experiment(self, study: StudyInfo) -> str:
        client = self._client
        remote = urlsplit(self.uri).scheme in ("http", "https")
        location = None if remote else (self._root / "mlartifacts" / study.id).resolve().as_uri()
        found = client.get_experiment_by_name(study.id)
        if found is not None and found.lifecycle_stage == "deleted":
            client.restore_experiment(found.experiment_id)
        if found is not None and self._own and found.artifact_location != location:
            # The workspace was moved or copied. An experiment keeps its place for artifacts for ever: this one would go
            # on writing into the folder that the workspace came from. It goes to MLflow's bin, and is made anew from
            # the trial directories.
            client.rename_experiment(found.experiment_id, f"{study.id} (of a folder before, {found.experiment_id})")
            client.delete_experiment(found.experiment_id)
            found = None
        if found is None:
            kind = {
                "mlflow.experimentKind": "custom_model_development",
                "mlflow.note.content": study.title,
                mlflow_view.TAG: mlflow_view.view_state(),
            }
            return client.create_experiment(study.id, location, tags=kind)
        return found.experiment_id

    def _write_study(self, study: StudyInfo, status: str):
        """The study's parent run, made when it is not there, in the given status."""
        experiment = self._experiment(study)
        run = self._runs_of(experiment).get("study")
        if run is None:
            run = self._client.create_run(
                experiment,
                tags={"study": study.id, "role": "study", "mlflow.source.name": "gonn"},
                run_name=study.title,
            )
        tags = {"commit": study.commit, "dirty": str(study.dirty).lower(), "mlflow.source.git.commit": study.commit}
        self._write_values(run, study.settings, tags)
        self._write_status(run, status, None)
        return run

    def _runs_of(self, experiment: str) -> dict:
        """Runs of an experiment by trial id; the parent under `study`.

        A request to make a run that was carried out but not answered in time is sent again: of two runs of one trial,
        one goes to the bin.
        """
        runs, token = {}, None
        while True:
            page = self._client.search_runs(
                [experiment], max_results=1000, order_by=["attributes.start_time ASC"], page_token=token
            )
            for run in page:
                if runs.setdefault(run.data.tags.get("trial", run.data.tags.get("role")), run) is not run:
                    self._client.delete_run(run.info.run_id)
            if not (token := page.token):
                return runs

    def _write_changed(self, study: StudyInfo) -> None:
        """Bring the runs of trials up to date whose directories changed since this process last wrote them."""
        if study.id not in self._begun:
            self._write_study(study, "RUNNING")
            self._begun.add(study.id)
        stamps = {trial: stamp(self._runs / trial.id) for trial in study.trials}
        changed = [trial for trial in study.trials if self._written.get((study.id, trial)) != stamps[trial]]
        if changed:
            self._write_trials(study, changed)
            self._written |= {(study.id, trial): stamps[trial] for trial in changed}

    def _write_trials(self, study: StudyInfo, trials: Iterable[TrackedTrial]) -> list[str | None]:
        """Bring the runs of `trials` up to date; their statuses, None for a trial that has not begun."""
        experiment = self._experiment(study)
        runs = self._runs_of(experiment)
        parent = runs.get("study") or self._write_study(study, "RUNNING")
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
            run = self._client.create_run(experiment, content.started, tags, trial.name)
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

    def _write_values(self, run, params: dict, tags: dict) -> None:
        """Params that are missing (they cannot change) and tags that differ."""
        from mlflow.entities import Param, RunTag

        new = [Param(name, str(value)) for name, value in params.items() if name not in run.data.params]
        changed = [RunTag(name, str(value)) for name, value in tags.items() if run.data.tags.get(name) != str(value)]
        for start in range(0, len(new), _PARAMS_A_BATCH):
            self._client.log_batch(run.info.run_id, params=new[start : start + _PARAMS_A_BATCH])
        if changed:
            self._client.log_batch(run.info.run_id, tags=changed)

    def _write_points(self, run, points: Iterable[tuple[int, int, Mapping[str, float]]]) -> None:
        """Points that are missing; a point's metrics are written together, so one of them tells whether it is there."""
        from mlflow.entities import Metric

        steps, batch = {}, []
        for samples, moment, metrics in points:
            first = next(iter(metrics))
            if first not in steps:
                known = first in run.data.metrics
                steps[first] = (
                    {metric.step for metric in self._client.get_metric_history(run.info.run_id, first)}
                    if known
                    else set()
                )
            if samples in steps[first]:
                continue
            if len(batch) + len(metrics) > _METRICS_A_BATCH:
                self._client.log_batch(run.info.run_id, metrics=batch)
                batch = []
            batch += [Metric(name, value, moment, samples) for name, value in metrics.items()]
        if batch:
            self._client.log_batch(run.info.run_id, metrics=batch)

    def _write_files(self, run, files: Iterable[Path], texts: dict[str, str] | None = None) -> None:
        """Artifacts, when their content is not what was logged last."""
        digest = hashlib.sha256(repr(texts).encode())
        for path in files:
            digest.update(path.name.encode() + path.read_bytes())
        if not (files or texts) or run.data.tags.get(_ARTIFACTS) == digest.hexdigest()[:16]:
            return
        for path in files:
            self._client.log_artifact(run.info.run_id, str(path))
        for name, text in (texts or {}).items():
            self._client.log_text(run.info.run_id, text, name)
        self._client.set_tag(run.info.run_id, _ARTIFACTS, digest.hexdigest()[:16])

    def _write_report(self, run, report: StudyReport) -> None:
        """Table, figures, tags, points; the table also as the description of the run and of the experiment, so that
        their pages show it."""
        note = (
            report.table
            if len(report.table) <= _NOTE_CHARACTERS
            else report.table[:_NOTE_CHARACTERS] + "\n\n… the whole table is in table.md"
        )
        self._write_values(run, {}, {**report.tags, "mlflow.note.content": note})
        self._client.set_experiment_tag(run.info.experiment_id, "mlflow.note.content", note)
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
        self._client.log_inputs(run_id, [DatasetInput(dataset, [InputTag("mlflow.data.context", "training")])])

    def _write_status(self, run, status: str, ended: int | None) -> None:
        if run.info.status == status:
            return
        if status == "RUNNING":
            self._client.update_run(run.info.run_id, status)
        else:
            self._client.set_terminated(run.info.run_id, status, ended)
