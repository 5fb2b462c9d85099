"""One client of MLflow: runs, params, tags, metrics and files, each written where it is missing or differs. The only
module that imports MLflow.

MLflow is asked for what it has each time; nothing is remembered. Writing twice therefore changes nothing, whichever
process wrote first.
"""

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ParamSpec, TypeVar

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
_PARAMS_A_BATCH, _METRICS_A_BATCH = 100, 1000
_ARTIFACTS = "mlflow.gonn.artifacts"
"""Tag of a run: digest of the artifacts that were logged last. MLflow's pages hide tags that begin with `mlflow.`."""

P = ParamSpec("P")
T = TypeVar("T")


def mlflow_errors() -> tuple[type[Exception], ...]:
    """What MLflow, its server and its database raise in normal operation; their messages need no type name."""
    set_up()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError


def set_up() -> None:
    """Import MLflow with our environment variables, which it reads then; takes seconds on a busy machine."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import mlflow

    logging.getLogger(mlflow.__name__).setLevel(logging.ERROR)


def make_database(path: Path) -> None:
    """Create an SQLite database with all of MLflow's tables, atomically: MLflow makes them by some sixty migrations in
    the file itself, and cannot repair a file that a kill or a full disk left in between."""
    set_up()
    from mlflow import MlflowClient

    making = path.with_name(f"{path.name}.making")
    leftovers = [making, making.with_name(f"{making.name}-journal")]
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    try:
        MlflowClient(f"sqlite:///{making}").search_experiments(max_results=1)
        os.replace(making, path)
    finally:
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)


class Client:
    """Writes to MLflow. Raises what MLflow's client raises."""

    def __init__(self, uri: str):
        """Makes the tables of a new database: one process at a time."""
        set_up()
        from mlflow import MlflowClient

        self.mlflow = MlflowClient(uri)
        self.answered = time.monotonic()
        """When MLflow last gave an answer or an error."""

    def ask(self, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call a method of MLflow's client."""
        try:
            return call(*arguments, **options)
        finally:
            self.answered = time.monotonic()

    def experiments(self) -> list[str]:
        """Ids of all active experiments."""
        ids: list[str] = []
        token = None
        while True:
            page = self.ask(self.mlflow.search_experiments, max_results=1000, page_token=token)
            ids += [experiment.experiment_id for experiment in page]
            if not (token := page.token):
                return ids

    def runs(self, experiments: list[str], filtered: str = "") -> list["Run"]:
        """Active runs, in the order of their start times."""
        runs: list[Run] = []
        token = None
        while True:
            page = self.ask(
                self.mlflow.search_runs,
                experiments,
                filtered,
                max_results=1000,
                order_by=["attributes.start_time ASC"],
                page_token=token,
            )
            runs += page
            if not (token := page.token):
                return runs

    def run(self, run_id: str) -> "Run | None":
        """An active run; None for one that is deleted or does not exist."""
        from mlflow.exceptions import MlflowException

        try:
            run = self.ask(self.mlflow.get_run, run_id)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return None
        return run if run.info.lifecycle_stage == "active" else None

    def write_experiment(self, experiment: "Experiment", tags: Mapping[str, str]) -> None:
        """Set the tags of an experiment that differ."""
        for name, value in tags.items():
            if experiment.tags.get(name) != value:
                self.ask(self.mlflow.set_experiment_tag, experiment.experiment_id, name, value)

    def write_values(self, run: "Run", params: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Log params that are missing (MLflow's cannot change) and tags that differ."""
        from mlflow.entities import Param, RunTag

        new = [Param(name, value) for name, value in params.items() if name not in run.data.params]
        changed = [RunTag(name, value) for name, value in tags.items() if run.data.tags.get(name) != value]
        for start in range(0, len(new), _PARAMS_A_BATCH):
            self.ask(self.mlflow.log_batch, run.info.run_id, params=new[start : start + _PARAMS_A_BATCH])
        if changed:
            self.ask(self.mlflow.log_batch, run.info.run_id, tags=changed)

    def write_metrics(self, run: "Run", metrics: Mapping[str, float], step: int = 0) -> None:
        """Log the metrics of one point whose values differ: MLflow shows the latest."""
        from mlflow.entities import Metric

        now = round(1000 * time.time())
        changed = [
            Metric(name, value, now, step) for name, value in metrics.items() if run.data.metrics.get(name) != value
        ]
        self._log(run, changed)

    def write_points(self, run: "Run", points: Iterable[tuple[int, int, Mapping[str, float]]]) -> None:
        """Log the points (step, unix milliseconds, metrics) that are missing. The metrics of a point are written
        together, so the first of them shows whether it is there."""
        from mlflow.entities import Metric

        steps: dict[str, set[int]] = {}
        new: list[Metric] = []
        for step, moment, metrics in points:
            first = next(iter(metrics))
            if first not in steps:
                steps[first] = self._steps(run, first)
            if step not in steps[first]:
                if len(new) + len(metrics) > _METRICS_A_BATCH:
                    self._log(run, new)
                    new = []
                new += [Metric(name, value, moment, step) for name, value in metrics.items()]
        self._log(run, new)

    def _steps(self, run: "Run", metric: str) -> set[int]:
        if metric not in run.data.metrics:
            return set()
        return {point.step for point in self.ask(self.mlflow.get_metric_history, run.info.run_id, metric)}

    def _log(self, run: "Run", metrics: list) -> None:
        for start in range(0, len(metrics), _METRICS_A_BATCH):
            self.ask(self.mlflow.log_batch, run.info.run_id, metrics=metrics[start : start + _METRICS_A_BATCH])

    def write_files(self, run: "Run", files: Mapping[str, Path]) -> None:
        """Log artifacts, path in the run -> file, when their contents differ from those logged last."""
        digest = hashlib.sha256()
        contents = {name: path.read_bytes() for name, path in files.items()}
        for name, content in contents.items():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        if not files or run.data.tags.get(_ARTIFACTS) == digest.hexdigest()[:16]:
            return
        with TemporaryDirectory() as folder:
            for name, content in contents.items():
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            self.ask(self.mlflow.log_artifacts, run.info.run_id, folder)
        self.ask(self.mlflow.set_tag, run.info.run_id, _ARTIFACTS, digest.hexdigest()[:16])

    def write_dataset(self, run: "Run", name: str, digest: str) -> None:
        """Log the data that a run was trained on."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        dataset = Dataset(name=name, digest=digest, source_type="local", source="{}")
        tags = [InputTag("mlflow.data.context", "training")]
        self.ask(self.mlflow.log_inputs, run.info.run_id, [DatasetInput(dataset, tags)])

    def write_status(self, run: "Run", status: str, ended: int | None = None) -> None:
        """Set RUNNING, FINISHED, FAILED or KILLED; ended: unix milliseconds, None: now."""
        if run.info.status == status:
            return
        if status == "RUNNING":
            self.ask(self.mlflow.update_run, run.info.run_id, status)
        else:
            self.ask(self.mlflow.set_terminated, run.info.run_id, status, ended)
