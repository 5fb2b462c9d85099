"""Files of a trial that are damaged: named in one line, made again, and the trial is what it was, bit for bit."""

import shutil
from pathlib import Path

import pytest

from gonn_core.errors import Damaged
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.events import Mended, Point, Started
from gonn_core.trial.run import run_trial
from tests.files.damages import damaged, flipped
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job

WAYS = ("flipped", "cut", "empty")
DONE = {
    "config.json": "resumes from the checkpoint at 160 samples",
    "result.json": "resumes from the checkpoint at 160 samples",
    "metrics.jsonl": "trained again from the beginning",
    "eval/*.json": "make it again",
    "eval/*.npz": "make it again",
}
"""File of a trial that is done -> what its line says."""
PAUSED = ("config.json", "metrics.jsonl", "checkpoint.safetensors")


def short_job(runs: Path):
    return tiny_job(runs, tiny_config(training__samples=160))


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A trial that is done."""
    job = short_job(tmp_path_factory.mktemp("trained"))
    run_trial(job)
    return Path(job.run.runs) / job.id


@pytest.fixture(scope="module")
def paused(tmp_path_factory) -> Path:
    """The same trial at half of its samples."""
    job = short_job(tmp_path_factory.mktemp("paused"))
    run_trial(job, lambda event: not (isinstance(event, Point) and event.samples >= 80))
    return Path(job.run.runs) / job.id


def again(tmp_path, source: Path, name: str, change) -> tuple[Path, list]:
    """A copy of a trial in which a file was changed, brought to its end; events that were told."""
    folder = shutil.copytree(source, tmp_path / "runs" / source.name)
    (path,) = folder.glob(name)
    path.write_bytes(change(path.read_bytes()))
    events = []
    result = run_trial(short_job(tmp_path / "runs"), events.append)
    assert result["state"] == "done" and TrialDirectory(folder).state() == "done"
    return path, events


def way(number: int):
    return lambda data: list(damaged(data))[number]


@pytest.mark.parametrize("name", DONE)
@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.system), 2], ids=WAYS)
def test_a_trial_that_was_done(tmp_path, trained, name, number):
    path, events = again(tmp_path, trained, name, way(number))
    (line,) = [event.message for event in events if isinstance(event, Mended)]
    assert path.name in line and DONE[name] in line and "\n" not in line
    assert_same_trial(trained, path.parent if path.parent.name == trained.name else path.parent.parent)
    started = [event.resumed for event in events if isinstance(event, Started)]
    assert started == {"160": [160], "the": [0]}.get(DONE[name].split()[-2], [])


@pytest.mark.parametrize("name", PAUSED)
@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.system), 2], ids=WAYS)
def test_a_trial_that_was_paused_begins_again(tmp_path, trained, paused, name, number):
    path, events = again(tmp_path, paused, name, way(number))
    (line,) = [event.message for event in events if isinstance(event, Mended)]
    assert path.name in line and "trained again from the beginning" in line
    assert_same_trial(trained, path.parent)


def test_a_curve_cut_at_the_end_of_a_line(tmp_path, trained, paused):
    """What is left are whole lines with whole seals: it does not go as far as the checkpoint, or the result, do."""

    def cut(data: bytes) -> bytes:
        return b"".join(data.splitlines(keepends=True)[:-1])

    for source, problem in ((trained, "does not go up to 160 samples"), (paused, "no line at 80 samples")):
        path, events = again(tmp_path / source.parent.name, source, "metrics.jsonl", cut)
        (line,) = [event.message for event in events if isinstance(event, Mended)]
        assert problem in line
        assert_same_trial(trained, path.parent)


def test_a_snapshot_is_made_again_where_an_evaluation_needs_it(tmp_path, trained):
    folder = shutil.copytree(trained, tmp_path / "runs" / trained.name)
    shutil.rmtree(folder / "eval")
    path = folder / "snapshots" / "160.safetensors"
    path.write_bytes(flipped(path.read_bytes()))
    lines = []
    run_trial(
        short_job(tmp_path / "runs"), lambda event: lines.append(event.message) if isinstance(event, Mended) else None
    )
    assert len(lines) == 1 and "160.safetensors: damaged" in lines[0] and "from the checkpoint" in lines[0]
    assert_same_trial(trained, folder)


@pytest.mark.parametrize("place", [0.2, 0.5, 0.9])
def test_every_bit_of_a_checkpoint_counts(tmp_path, paused, place):
    from gonn_core.trial.weights import unpack

    path = tmp_path / "checkpoint.safetensors"
    data = (paused / path.name).read_bytes()
    path.write_bytes(flipped(data, int(place * len(data))))
    with pytest.raises(Damaged, match="its seal does not fit"):
        unpack(path, paused.name)
