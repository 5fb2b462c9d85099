"""What a trial directory from elsewhere must be before it is taken over: everything that can be recomputed from its
files agrees.

Read is a copy of our own (`import_files`), whose contents nobody vouches for.
"""

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gonn_core import numerics
from gonn_core.config import Digest, Strict, TrialConfig, canonical, parse_model
from gonn_core.errors import UserError, printable, printable_tree
from gonn_core.evaluation import stored
from gonn_core.evaluation.identity import evaluation_id, weights_digest
from gonn_core.evaluation.metrics import METRIC_SET
from gonn_core.nets import trainable_parameters, trial_net
from gonn_core.trial import checkpoint
from gonn_core.trial.directory import FORMAT, TrialDirectory
from gonn_core.trial.job import Job, whole_batches
from orchestration.transfer.files import Refused, strict_json

_ID = re.compile(r"[0-9a-f]{16}")
_SESSION = {"started": str, "from_samples": int, "device": str, "commit": str, "dirty": bool, "versions": dict}
_TOLERANCE = 1e-9
"""Of a mean that was written down: the same arithmetic on the same arrays."""


@dataclass(frozen=True)
class Checked:
    """A copied directory that agrees with itself."""

    folder: Path
    job: Job
    evaluations: tuple[stored.Evaluation, ...]

    @property
    def config(self) -> TrialConfig:
        """What was trained."""
        return self.job.config


class _Request(Strict):
    """An evaluation's request as it is stored beside its answer."""

    split: str
    view: Digest
    minimum_positions: int
    subset_seed: int
    history: str
    symmetry_averaging: bool
    legal_only: bool = False
    samples: int


def trial_in(config_json: str) -> Job:
    """The job in the text of a config.json, its id computed anew. Raises Refused for a trial of another version, or of
    none."""
    tree = strict_json(config_json, "config.json")
    if (
        not isinstance(tree, dict)
        or tree.get("format") != FORMAT
        or not {"id", "config", "canonical", "numerics", "run", "labels", "sessions"} <= tree.keys()
    ):
        raise Refused(f"config.json is none of format {FORMAT}")
    if tree["numerics"] != numerics.versions():
        raise Refused(
            f"made with numerics {printable(str(tree['numerics']), 100)}; this version has {numerics.versions()}"
        )
    if printable_tree(tree) != tree:
        raise Refused("config.json holds control characters")
    try:
        job = parse_model(Job, {name: tree[name] for name in ("config", "run", "labels")}, "config.json")
    except UserError as error:
        raise Refused(str(error)) from None
    if tree["id"] != job.id or tree["canonical"] != canonical(job.config):
        raise Refused(f"its configuration is trial {job.id}, not {printable(str(tree['id']), 40)}")
    sessions = tree["sessions"]
    if not isinstance(sessions, list) or not sessions or not all(_is(_SESSION, session) for session in sessions):
        raise Refused("config.json: its sessions are not told as a trial tells them")
    return job


def check_trial(folder: Path) -> Checked:
    """Check a copied trial directory. Raises Refused with the first thing that does not agree."""
    try:
        job = trial_in((folder / "config.json").read_text(encoding="utf-8"))
        directory = TrialDirectory(folder)
        result = _result(directory, job)
        _curve(directory, job)
        digests = _weights(directory, job, result)
        if directory.checkpoint.exists():
            checkpoint.unpack(directory.checkpoint, job.id)
        evaluations = tuple(_evaluation(folder, path, digests) for path in sorted((folder / "eval").glob("*.json")))
        for path in (folder / "eval").glob("*.npz"):
            if path.stem not in {evaluation.summary["id"] for evaluation in evaluations}:
                raise Refused(f"eval/{path.name} has no summary beside it")
        return Checked(folder, job, evaluations)
    except Refused:
        raise
    except UserError as error:  # of a reader: about a file of the copy, whose name is not for eyes
        raise Refused(str(error).replace(f"{folder}/", "")) from None
    except RecursionError:
        raise Refused("one of its files is nested too deeply") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(
            f"{Path(getattr(error, 'filename', None) or 'a file').name} cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})"
        ) from None


def _result(directory: TrialDirectory, job: Job) -> dict:
    path = directory.path / "result.json"
    if not path.exists():
        raise Refused("not trained to the end; go on with it where it was begun")
    result = strict_json(path.read_text(encoding="utf-8"), "result.json")
    directory.result()  # format and keys
    training = job.config.training
    if result["id"] != job.id or result["samples"] != whole_batches(training.samples, training.batch_size):
        raise Refused(f"result.json is not of {training.samples:,} samples of trial {job.id}")
    if (
        printable_tree(result) != result
        or not _number(result["samples_per_s"])
        or not _ID.fullmatch(str(result.get("trained_as", job.id)))
    ):
        raise Refused("result.json is not what a trial writes")
    return result


def _curve(directory: TrialDirectory, job: Job) -> None:
    text = (directory.path / "metrics.jsonl").read_text(encoding="utf-8")
    lines = [strict_json(line, "metrics.jsonl") for line in text.splitlines()]
    directory.metrics()  # what each line must hold
    if not all(_number(value) for line in lines for value in line.values()):
        raise Refused("metrics.jsonl holds more than numbers")
    samples = [line["samples"] for line in lines]
    total = whole_batches(job.config.training.samples, job.config.training.batch_size)
    if not samples or samples != sorted(set(samples)) or samples[-1] != total:
        raise Refused(f"metrics.jsonl does not go up to {total:,} samples")


def _weights(directory: TrialDirectory, job: Job, result: dict) -> dict[int, str]:
    """Samples -> digest of the weights in each snapshot, all of the configured net. Raises Refused, UserError."""
    digests, net = {}, trial_net(job.config)
    if result["parameters"] != trainable_parameters(net):
        raise Refused(f"result.json tells {result['parameters']} parameters; its net has {trainable_parameters(net):,}")
    for samples, path in directory.snapshots().items():
        tensors, notes = checkpoint.unpack(path, job.id)
        try:
            net.load_state_dict(tensors)
        except RuntimeError:
            raise Refused(f"snapshots/{path.name} holds another net than the configured one") from None
        digests[samples] = weights_digest(tensors)
        if not isinstance(notes, dict) or notes.get("weights") != digests[samples] or notes.get("samples") != samples:
            raise Refused(f"snapshots/{path.name}: its weights are not those that it was written with")
    if digests.get(result["samples"]) != result["weights"]:
        raise Refused(f"weights {printable(str(result['weights']), 40)} of result.json are not in the last snapshot")
    return digests


def _evaluation(folder: Path, path: Path, digests: dict[int, str]) -> stored.Evaluation:
    name = f"eval/{path.name}"
    summary = strict_json(path.read_text(encoding="utf-8"), name)
    if not path.with_suffix(".npz").exists():
        raise Refused(f"{name} has no arrays beside it")
    _plain_arrays(path.with_suffix(".npz"))
    evaluation = next(each for each in stored.load_evaluations(folder) if each.path.stem == path.stem)
    if (
        summary["metric_set"] != METRIC_SET
        or printable_tree(summary) != summary
        or not isinstance(summary["requests"], list)
    ):
        raise Refused(
            f"{name} is of metric set {printable(str(summary['metric_set']), 20)}; this version has {METRIC_SET}"
        )
    for request in summary["requests"]:
        parse_model(_Request, request, name)
    if digests.get(summary["samples"]) != summary["weights"]:
        raise Refused(f"{name}: its weights are in no snapshot")
    expected = evaluation_id(summary["weights"], str(summary["subset"]), str(summary["history"]), evaluation.reading)
    if not summary["id"] == path.stem == expected:
        raise Refused(f"{name}: its identity is {expected}")
    scores, rows = evaluation.scores, evaluation.rows
    lengths = {
        len(array) for array in (*scores, rows, evaluation.games, evaluation.ply, evaluation.ko) if array is not None
    }
    finite = all(np.isfinite(array).all() for array in scores if array is not None)
    if (
        not len(rows)
        or lengths != {summary["positions"]}
        or len(np.unique(evaluation.games)) != summary["games"]
        or not finite
    ):
        raise Refused(f"{name}: its arrays are not of {summary['positions']} positions of {summary['games']} games")
    if len(np.unique(rows)) < len(rows):
        raise Refused(f"{name}: a position counts twice")
    for metric, mean in scores.means().items():
        if not _number(summary[metric]) or abs(summary[metric] - mean) > _TOLERANCE:
            raise Refused(
                f"{name}: {metric} {printable(str(summary[metric]), 30)} is not the mean of its positions, {mean:.6f}"
            )
    return evaluation


def _plain_arrays(path: Path) -> None:
    """Whether a .npz file holds what its size says, uncompressed: nothing in it can unfold into more memory than it
    takes on disk."""
    try:
        with zipfile.ZipFile(path) as file:
            for member in file.infolist():
                if member.compress_type != zipfile.ZIP_STORED:
                    raise Refused(f"eval/{path.name} is compressed, which no evaluation is")
                with file.open(member) as array:
                    if np.lib.format.read_magic(array) != (1, 0):
                        raise ValueError("another version of arrays")
                    shape, _, dtype = np.lib.format.read_array_header_1_0(array)
                    if (
                        dtype.kind not in "biuf"
                        or len(shape) != 1
                        or shape[0] * dtype.itemsize != member.file_size - array.tell()
                    ):
                        raise ValueError(f"an array of {printable(str(shape), 40)} {printable(str(dtype), 40)}")
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
        raise Refused(f"eval/{path.name} does not hold plain arrays ({printable(str(error), 100)})") from None


def _number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is(kinds: dict[str, type], tree) -> bool:
    """Whether a mapping has these keys with values of these kinds."""
    return isinstance(tree, dict) and all(isinstance(tree.get(name), kind) for name, kind in kinds.items())
