"""Trial directories that were damaged, or brought from elsewhere: one line that names the file, never a traceback."""

import json
import re

import pytest

from gonn_core.errors import InputError
from gonn_core.evaluation.stored import load_evaluations, whole_evaluations
from gonn_core.trial.directory import TrialDirectory

SUMMARY = {
    "format": 1, "id": "e1", "metric_set": 1, "weights": "w", "samples": 20, "split": "test", "subset": "s",
    "history": "full", "symmetry_averaging": False,
    "positions": 9, "games": 2, "nats": 2.0, "top1": 0.5, "top4": 0.7, "requests": [],
}  # fmt: skip
READERS = {
    "config.json": TrialDirectory.config,
    "result.json": TrialDirectory.result,
    "failure.json": TrialDirectory.failure,
    "metrics.jsonl": TrialDirectory.metrics,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe", b"null", b'"\x1b[31mtext"', b"[1]", b'{"format": 1}', b"[" * 100_000, b'{"format": "\\u001b[31m"}'],
)
def test_a_file_that_is_none(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name) as caught:
        READERS[name](TrialDirectory(tmp_path))
    assert "\x1b" not in str(caught.value)


def test_what_is_missing_is_named(tmp_path):
    (tmp_path / "failure.json").write_text('{"format": 1, "error": "E"}')
    with pytest.raises(InputError) as caught:
        TrialDirectory(tmp_path).failure()
    assert str(caught.value) == f"{tmp_path / 'failure.json'}: damaged: it lacks traceback, unix_time"


def test_a_failure_that_was_brought_here_cannot_steer_a_terminal(tmp_path):
    tree = {"format": 1, "error": "\x1b[2Jgone", "traceback": "line 1\n\x1b]0;title\x07line 2\n", "unix_time": 1.5}
    (tmp_path / "failure.json").write_text(json.dumps(tree))
    expected = {
        "format": 1,
        "error": "\\x1b[2Jgone",
        "traceback": "line 1\n\\x1b]0;title\\x07line 2\n",
        "unix_time": 1.5,
    }
    assert TrialDirectory(tmp_path).failure() == expected
    assert TrialDirectory(tmp_path / "none").failure() is None


def test_files_that_are_no_snapshots_are_passed_over(tmp_path):
    (tmp_path / "snapshots").mkdir()
    for name in ("200.safetensors", "._200.safetensors", "200 (copy).safetensors", "-1.safetensors"):
        (tmp_path / "snapshots" / name).touch()
    assert list(TrialDirectory(tmp_path).snapshots()) == [200]


@pytest.mark.parametrize("content", ["null", "[]", "{}", '{"format": 1}'])
def test_an_evaluation_that_is_none(tmp_path, content):
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "e1.json").write_text(content)
    with pytest.raises(InputError, match="e1.json"):
        load_evaluations(tmp_path)


@pytest.mark.parametrize("arrays", [b"", None])
def test_an_evaluation_without_its_arrays_is_named_and_left_out(tmp_path, arrays):
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "e1.json").write_text(json.dumps(SUMMARY))
    if arrays is not None:
        (tmp_path / "eval" / "e1.npz").write_bytes(arrays)
    whole, (damage,) = whole_evaluations(tmp_path)
    assert whole == [] and re.search("e1.npz: not a readable evaluation .*make it again$", str(damage))
    with pytest.raises(InputError, match="e1.npz"):
        load_evaluations(tmp_path)
