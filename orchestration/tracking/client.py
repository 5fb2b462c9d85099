"""One client of MLflow: runs, values, points and files, each written where it is missing or differs. The only module
that imports MLflow, beside the server's own `pages`.

What is there already is asked of MLflow each time, not remembered: writing twice changes nothing, whoever wrote first.
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
    "PGCONNECT_TIMEOUT": "10",  # seconds; PostgreSQL's own library waits for ever
    "MLFLOW_LOGGING_LEVEL": "ERROR",
}
_PARAMS_A_BATCH, _METRICS_A_BATCH = 100, 1000
_ARTIFACTS = "mlflow.gonn.artifacts"  # digest of what was logged last; names with this prefix stay off the pages

P = ParamSpec("P")
T = TypeVar("T")


def mlflow_errors() -> tuple[type[Exception], ...]:
    """What MLflow, its server and its data base raise when they can; their texts need no type beside them."""
    set_up()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError


def set_up() -> None:
    """Import MLflow, after what it reads from the environment then: seconds on a busy machine."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    import mlflow

    logging.getLogger(mlflow.__name__).setLevel(logging.ERROR)


def make_tables(path: Path) -> None:
    """Make a new data base of MLflow with all its tables."""
    set_up()
    from mlflow import MlflowClient

    MlflowClient(f"sqlite:///{path}").search_experiments(max_results=1)


def newest_schema() -> str:
    """Version of the tables that this MLflow makes."""
    import mlflow.store.db_migrations
    from alembic.script import ScriptDirectory

    head = ScriptDirectory(str(Path(mlflow.store.db_migrations.__path__[0]))).get_current_head()
    assert head is not None, "MLflow has migrations"
    return head


class Client:
    """Writes to MLflow. Raises what its client raises."""

    def __init__(self, uri: str):
        """Makes the schema of a new data base: one process at a time."""
        set_up()
        from mlflow import MlflowClient

        self.mlflow = MlflowClient(uri)
        self.heard = time.monotonic()
        """When MLflow last gave an answer, or refused."""

    def ask(self, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """An answer of the client."""
        try:
            return call(*arguments, **options)
        finally:
            self.heard = time.monotonic()

    def experiment(self, *names: str) -> "Experiment | None":
        """The first experiment that is there by one of these names; in the bin too."""
        for name in names:
            if found := self.ask(self.mlflow.get_experiment_by_name, name):
                return found
        return None

    def experiments(self) -> list[str]:
        """Ids of all experiments that are in use."""
        ids: list[str] = []
        token = None
        while True:
            page = self.ask(self.mlflow.search_experiments, max_results=1000, page_token=token)
            ids += [each.experiment_id for each in page]
            if not (token := page.token):
                return ids

    def runs(self, experiments: list[str], filtered: str = "") -> list["Run"]:
        """Runs that are in use, in the order in which they began."""
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
        """A run that is in use, None for one that is not, or is nowhere."""
        from mlflow.exceptions import MlflowException

        try:
            run = self.ask(self.mlflow.get_run, run_id)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            return None
        return run if run.info.lifecycle_stage == "active" else None

    def write_experiment(self, experiment: "Experiment", tags: Mapping[str, str]) -> None:
        """Tags of an experiment that differ."""
        for name, value in tags.items():
            if experiment.tags.get(name) != value:
                self.ask(self.mlflow.set_experiment_tag, experiment.experiment_id, name, value)

    def write_values(self, run: "Run", params: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Params that are missing (they cannot change) and tags that differ."""
        from mlflow.entities import Param, RunTag

        new = [Param(name, str(value)) for name, value in params.items() if name not in run.data.params]
        changed = [RunTag(name, str(value)) for name, value in tags.items() if run.data.tags.get(name) != str(value)]
        for start in range(0, len(new), _PARAMS_A_BATCH):
            self.ask(self.mlflow.log_batch, run.info.run_id, params=new[start : start + _PARAMS_A_BATCH])
        if changed:
            self.ask(self.mlflow.log_batch, run.info.run_id, tags=changed)

    def write_numbers(self, run: "Run", numbers: Mapping[str, float], step: int = 0) -> None:
        """Metrics of one point whose values differ: the latest is the one that is shown."""
        from mlflow.entities import Metric

        now = round(1000 * time.time())
        changed = [
            Metric(name, value, now, step) for name, value in numbers.items() if run.data.metrics.get(name) != value
        ]
        for start in range(0, len(changed), _METRICS_A_BATCH):
            self.ask(self.mlflow.log_batch, run.info.run_id, metrics=changed[start : start + _METRICS_A_BATCH])

    def write_points(self, run: "Run", points: Iterable[tuple[int, int, Mapping[str, float]]]) -> None:
        """Points that are missing; a point's metrics are written together, so one of them tells whether it is there."""
        from mlflow.entities import Metric

        steps: dict[str, set[int]] = {}
        batch: list[Metric] = []
        for samples, moment, metrics in points:
            first = next(iter(metrics))
            if first not in steps:
                known = first in run.data.metrics
                steps[first] = (
                    {metric.step for metric in self.ask(self.mlflow.get_metric_history, run.info.run_id, first)}
                    if known
                    else set()
                )
            if samples in steps[first]:
                continue
            if len(batch) + len(metrics) > _METRICS_A_BATCH:
                self.ask(self.mlflow.log_batch, run.info.run_id, metrics=batch)
                batch = []
            batch += [Metric(name, value, moment, samples) for name, value in metrics.items()]
        if batch:
            self.ask(self.mlflow.log_batch, run.info.run_id, metrics=batch)

    def write_files(self, run: "Run", files: Mapping[str, Path]) -> None:
        """Artifacts by their path in the run, when their content is not what was logged last."""
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
        """The data that a run trained on."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        dataset = Dataset(name=name, digest=digest, source_type="local", source="{}")
        tags = [InputTag("mlflow.data.context", "training")]
        self.ask(self.mlflow.log_inputs, run.info.run_id, [DatasetInput(dataset, tags)])

    def write_status(self, run: "Run", status: str, ended: int | None) -> None:
        """RUNNING, FINISHED, FAILED or KILLED, with the moment in unix milliseconds."""
        if run.info.status == status:
            return
        if status == "RUNNING":
            self.ask(self.mlflow.update_run, run.info.run_id, status)
        else:
            self.ask(self.mlflow.set_terminated, run.info.run_id, status, ended)
