"""Tiny jobs on the bundled games, for tests of everything that runs trials."""

import atexit
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from ablations.data.datasets import PreparedData, load_dataset, prepare
from gonn_core.config import TrialConfig, with_values
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import EvaluationRequest, Job, RunSettings
from tests.go.oracles import first_games

TINY = {
    "net.trunk.width": 8,
    "net.trunk.blocks": 1,
    "training.samples": 800,
    "training.batch_size": 8,
    "training.schedule.kind": "linear",
}
"""A net of one block of eight channels, 100 steps."""


@cache
def starter_data() -> PreparedData:
    """Store and views of the bundled games, built once per test process in a temporary folder."""
    folder = tempfile.mkdtemp(prefix="gonn-starter-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return prepare(load_dataset("starter"), Path(folder))


@cache
def first_starter_data() -> PreparedData:
    """As `starter_data`, of the games that were bundled first and split as then: for golden values, and for what is
    known of these games."""
    folder = Path(tempfile.mkdtemp(prefix="gonn-first-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    bundled = load_dataset("starter")
    splits = {"train": {"hashed": (0.32, 1.0)}, "validation": {"hashed": (0.22, 0.32)}, "test": {"hashed": (0.0, 0.22)}}
    declaration = type(bundled.declaration).model_validate(bundled.declaration.model_dump() | {"splits": splits})
    return prepare(
        replace(bundled, declaration=declaration, sources=(replace(bundled.sources[0], path=first_games(folder)),)),
        folder / "stores",
    )


def tiny_config(**values) -> TrialConfig:
    """The tiny configuration on the bundled training view; keywords are config paths with `__` for dots."""
    data = {"data.view": starter_data().views["train"].digest}
    return with_values(
        TrialConfig(), {**TINY, **data, **{path.replace("__", "."): value for path, value in values.items()}}
    )


def tiny_job(runs: Path, config: TrialConfig | None = None, **settings) -> Job:
    """A job of the tiny configuration (or `config`) with one evaluation; keywords are RunSettings."""
    data = starter_data()
    request = EvaluationRequest(split="validation", view=data.views["validation"].digest, minimum_positions=200)
    usual = {
        "runs": str(runs),
        "store": str(data.store.folder),
        "device": "cpu",
        "checkpoint_seconds": 1000.0,
        "progress_points": 4,
        "progress_view": data.views["validation"].digest,
        "progress_positions": 60,
        "evaluations": (request,),
    }
    return Job(config=config or tiny_config(), run=RunSettings(**{**usual, **settings}))


def elsewhere(job: Job, runs: Path, **settings) -> Job:
    """The job with other trial directories and other settings."""
    return job.model_copy(update={"run": job.run.model_copy(update={"runs": str(runs), **settings})})


TIMES = ("samples_per_s", "wall_seconds", "cpu_seconds", "training_seconds")


def assert_same_trial(one: Path, other: Path) -> None:
    """Two directories of one trial hold the same, bit for bit: weights, momentum, counters, metrics, times aside; every
    evaluation of `other`."""
    from safetensors.torch import load_file

    for name in [
        "checkpoint.safetensors",
        *(f"snapshots/{path.name}" for path in (one / "snapshots").glob("*.safetensors")),
    ]:
        first, second = load_file(one / name), load_file(other / name)
        assert first.keys() == second.keys()
        for key in first:
            assert (
                first[key].dtype == second[key].dtype and first[key].numpy().tobytes() == second[key].numpy().tobytes()
            ), (name, key)
    first, second = (TrialDirectory(folder) for folder in (one, other))
    assert _timeless(first.metrics()) == _timeless(second.metrics())
    assert first.result()["weights"] == second.result()["weights"]
    arrays = sorted((other / "eval").glob("*.npz"))
    assert arrays
    for path in arrays:
        assert path.read_bytes() == (one / "eval" / path.name).read_bytes()


def _timeless(lines: list[dict]) -> list[dict]:
    return [{name: value for name, value in line.items() if name not in TIMES} for line in lines]
