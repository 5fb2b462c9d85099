"""What a trial directory from elsewhere must be before it is taken over: its configuration is the trial that it says,
its weights have the digests that were written with them, its numbers are finite and its means those of its positions.

Read is a copy of our own (see `files`). The seals of its files are checked too. All this guards against damage and
mistakes, not against somebody who makes numbers up and seals them: what is evaluated again here, by `gonn evaluate`, is
evaluated from the weights.
"""

import re
import zipfile
from pathlib import Path

import numpy as np

from gonn_core.config import canonical, numerics_of, parse_model
from gonn_core.errors import UserError, printable, printable_tree
from gonn_core.evaluation import stored
from gonn_core.evaluation.identity import evaluation_id, weights_digest
from gonn_core.evaluation.metrics import METRIC_SET
from gonn_core.files.seals import checked_lines
from gonn_core.trial import checkpoint
from gonn_core.trial.directory import FORMAT, TrialDirectory, other_net
from gonn_core.trial.job import Job, whole_batches
from orchestration.transfer.files import Refused, strict_json

_ID = re.compile(r"[0-9a-f]{16}")
_CONFIG_KEYS = {"id", "config", "canonical", "numerics", "run", "labels", "sessions"}
_SESSION = {"started": str, "from_samples": int, "device": str, "commit": str, "dirty": bool, "versions": dict}
_TOLERANCE = 1e-9
"""Of a mean that was written down: the same arithmetic on the same arrays."""


def trial_in(config_json: str) -> Job:
    """The job in the text of a config.json, its id computed anew. Raises Refused for a trial of another version, or of
    none."""
    tree = strict_json(config_json, "config.json")
    if not isinstance(tree, dict) or tree.get("format") != FORMAT or not tree.keys() >= _CONFIG_KEYS:
        raise Refused(f"config.json is none of format {FORMAT}")
    if printable_tree(tree) != tree:
        raise Refused("config.json holds control characters")
    try:
        job = parse_model(Job, {name: tree[name] for name in ("config", "run", "labels")}, "config.json")
    except UserError as error:
        raise Refused(str(error)) from None
    ours = numerics_of(job.config)
    if tree["numerics"] != ours:
        recorded = printable(str(tree["numerics"]), 100)
        raise Refused(f"made with numerics {recorded}; this version has {ours}")
    if tree["id"] != job.id or tree["canonical"] != canonical(job.config):
        raise Refused(f"its configuration is trial {job.id}, not {printable(str(tree['id']), 40)}")
    sessions = tree["sessions"]
    if not isinstance(sessions, list) or not sessions or not all(_is_session(session) for session in sessions):
        raise Refused("config.json: its sessions are not told as a trial tells them")
    return job


def check_trial(folder: Path) -> None:
    """Check a copied trial directory. Raises Refused with the first thing that does not agree."""
    try:
        job = trial_in((folder / "config.json").read_text(encoding="utf-8"))
        directory = TrialDirectory(folder)
        config = directory.config()  # its seal
        result = _check_result(directory, job)
        if problem := other_net(config or {}, result):
            raise Refused(problem)
        _check_curve(directory, job)
        digests = _snapshot_digests(directory, job)
        if digests.get(result["samples"]) != result["weights"]:
            raise Refused(
                f"weights {printable(str(result['weights']), 40)} of result.json are not in the last snapshot"
            )
        if directory.checkpoint.exists():
            checkpoint.unpack(directory.checkpoint, job.id)
        for path in sorted((folder / "eval").iterdir()):
            if not path.with_suffix(".json").exists() or not path.with_suffix(".npz").exists():
                raise Refused(f"eval/{path.name}: its summary or its arrays are not beside it")
            if path.suffix == ".npz":
                _check_plain_arrays(path)
        for evaluation in stored.load_evaluations(folder):
            _check_evaluation(evaluation, digests)
    except Refused:
        raise
    except UserError as error:  # of a reader: about a file of the copy, whose name is not for eyes
        raise Refused(str(error).replace(f"{folder}/", "")) from None
    except (TypeError, RecursionError):  # a list where a number should be, or ten thousand of them
        raise Refused("one of its files does not hold what a trial writes") from None
    except UnicodeDecodeError:
        raise Refused("one of its files is not UTF-8") from None
    except OSError as error:
        raise Refused(f"{Path(error.filename or 'a file').name} cannot be read ({error.strerror})") from None


def _check_result(directory: TrialDirectory, job: Job) -> dict:
    path = directory.path / "result.json"
    if not path.exists():
        raise Refused("not trained to the end; go on with it where it was begun")
    strict_json(path.read_text(encoding="utf-8"), "result.json")
    result = directory.result()  # format and keys
    assert result is not None  # the file is there
    if result["id"] != job.id or result["samples"] != _total(job):
        raise Refused(f"result.json is not of {job.config.training.samples:,} samples of trial {job.id}")
    is_plain = printable_tree(result) == result and all(
        map(_is_number, (result["samples_per_s"], result["parameters"]))
    )
    if not is_plain or not _ID.fullmatch(str(result.get("trained_as", job.id))):
        raise Refused("result.json is not what a trial writes")
    return result


def _check_curve(directory: TrialDirectory, job: Job) -> None:
    path = directory.path / "metrics.jsonl"
    samples = [line["samples"] for line in directory.metrics()]  # what each line must hold
    for line in checked_lines(path, path.read_bytes().splitlines()):
        if not all(map(_is_number, strict_json(line.decode("utf-8"), path.name).values())):
            raise Refused("metrics.jsonl holds more than numbers")
    if samples != sorted(set(samples)) or samples[-1:] != [_total(job)]:
        raise Refused(f"metrics.jsonl does not go up to {_total(job):,} samples")


def _snapshot_digests(directory: TrialDirectory, job: Job) -> dict[int, str]:
    """Samples -> digest of the weights in each snapshot. Raises Refused, UserError."""
    digests = {}
    for samples, path in directory.snapshots().items():
        tensors, notes = checkpoint.unpack(path, job.id)
        digests[samples] = weights_digest(tensors)
        if not isinstance(notes, dict) or notes.get("weights") != digests[samples] or notes.get("samples") != samples:
            raise Refused(f"snapshots/{path.name}: its weights are not those that it was written with")
    return digests


def _check_evaluation(evaluation: stored.Evaluation, digests: dict[int, str]) -> None:
    name, summary = f"eval/{evaluation.path.stem}.json", evaluation.summary
    strict_json(evaluation.path.with_suffix(".json").read_text(encoding="utf-8"), name)
    if summary["metric_set"] != METRIC_SET or printable_tree(summary) != summary:
        metric_set = printable(str(summary["metric_set"]), 20)
        raise Refused(f"{name} is of metric set {metric_set}; this version has {METRIC_SET}")
    if digests.get(summary["samples"]) != summary["weights"]:
        raise Refused(f"{name}: its weights are in no snapshot")
    expected = evaluation_id(summary["weights"], str(summary["subset"]), str(summary["history"]), evaluation.reading)
    if not summary["id"] == evaluation.path.stem == expected:
        raise Refused(f"{name}: its identity is {expected}")
    scores = [array for array in evaluation.scores if array is not None]
    indices = [
        array for array in (evaluation.rows, evaluation.games, evaluation.ply, evaluation.ko) if array is not None
    ]
    lengths = {len(array) for array in (*scores, *indices)}
    games = len(np.unique(evaluation.games))
    finite = all(np.isfinite(array).all() for array in scores)
    if lengths != {summary["positions"]} or lengths == {0} or games != summary["games"] or not finite:
        raise Refused(f"{name}: its arrays are not of {summary['positions']} positions of {summary['games']} games")
    if len(np.unique(evaluation.rows)) < len(evaluation.rows):
        raise Refused(f"{name}: a position counts twice")
    for metric, mean in evaluation.scores.means().items():
        if not _is_number(summary[metric]) or abs(summary[metric] - mean) > _TOLERANCE:
            written = printable(str(summary[metric]), 30)
            raise Refused(f"{name}: {metric} {written} is not the mean of its positions, {mean:.6f}")


def _check_plain_arrays(path: Path) -> None:
    """Refuse a .npz file in which an array is compressed or longer than the file: nothing in it may unfold into more
    memory than it takes on disk."""
    try:
        with zipfile.ZipFile(path) as file:
            for member in file.infolist():
                if member.compress_type != zipfile.ZIP_STORED:
                    raise Refused(f"eval/{path.name} is compressed, which no evaluation is")
                with file.open(member) as array:
                    np.lib.format.read_magic(array)
                    shape, _, dtype = np.lib.format.read_array_header_1_0(array)
                    if len(shape) != 1 or dtype.kind not in "biuf" or shape[0] * dtype.itemsize > member.file_size:
                        raise ValueError(f"an array of {printable(str(shape), 40)} {printable(str(dtype), 40)}")
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
        raise Refused(f"eval/{path.name} does not hold plain arrays ({printable(str(error), 100)})") from None


def _total(job: Job) -> int:
    """Samples of a trial that is trained to its end."""
    return whole_batches(job.config.training.samples, job.config.training.batch_size)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_session(tree: object) -> bool:
    return isinstance(tree, dict) and all(isinstance(tree.get(name), kind) for name, kind in _SESSION.items())
