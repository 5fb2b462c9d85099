"""A trial's directory, `runs/<id>/`, the record of a trial; its state follows from the files in it.

    config.json                   format, id, canonical and full configuration, numerics versions, settings, sessions
    checkpoint.safetensors        weights, momentum and counters: everything needed to resume
    snapshots/<samples>.safetensors   weights alone; the one at the last sample is the trained net
    metrics.jsonl                 one line per progress point
    eval/<id>.json, eval/<id>.npz an evaluation: means, and metrics of every position (eval/<id>.sums: by game)
    eval/<id>.<history>.<first>.part   scores of some of its positions, until it is complete
    probes/<id>.json, probes/<id>.npz   answers to a suite of test positions, from `gonn probe`
    result.json                   written last: the trial is done
    failure.json                  the traceback of the last attempt, when it failed
    lease.json, lease.lock        the process that writes (gonn_core.trial.lease)

Every file is written under a temporary name, flushed to disk and renamed while the lease is held: a reader never sees
half a file. Each has a checksum that is compared where it is read; that of an evaluation's arrays is in its JSON file.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import sub
from pathlib import Path
from typing import Literal

from gonn_core.config import Strict, TrialConfig, numerics_of, parse_config, parse_model
from gonn_core.errors import Damaged, InputError, printable, printable_tree
from gonn_core.files.json_files import read_record
from gonn_core.files.seals import checked_lines, sealed_json, sealed_lines
from gonn_core.files.whole import sync_folder, write_whole
from gonn_core.trial.lease import Lease, live_holder

FORMAT = 1
State = Literal["new", "running", "paused", "failed", "done", "damaged"]

_CONFIG = ("id", "config", "numerics", "run", "labels", "sessions")
_RESULT = ("id", "samples", "weights", "parameters", "samples_per_s")
_FAILURE = ("error", "traceback", "unix_time")
_LINE = {"samples", "train_nats", "wall_seconds", "training_seconds", "looks"}
"""What each file must hold to be read at all."""


class TrialDirectory:
    """The directory of one trial; it need not exist yet."""

    def __init__(self, path: Path | str):
        self.path = Path(path)

    def create(self) -> None:
        """Make the directory. Raises InputError when that cannot be done."""
        try:
            for folder in (self.path, self.path / "snapshots", self.path / "eval"):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(self.path, f"cannot make the trial's directory ({error.strerror})") from None

    def state(self) -> State:
        """done, running (a live process holds the lease), failed, paused (can resume, or start), new (no files), or
        damaged (result.json is)."""
        try:
            if self.result() is not None:
                return "done"
        except Damaged:
            return "running" if live_holder(self.path) else "damaged"
        except InputError:  # of another version, and whole
            return "done"
        if live_holder(self.path):
            return "running"
        if (self.path / "failure.json").exists():
            return "failed"
        return "paused" if (self.path / "config.json").exists() else "new"

    def config(self) -> dict | None:
        """config.json as a tree, None when there is none. Raises InputError for one of another format."""
        return read_record(self.path / "config.json", FORMAT, _CONFIG)

    def result(self) -> dict | None:
        """result.json, None unless the trial is done."""
        return read_record(self.path / "result.json", FORMAT, _RESULT)

    def finished(self) -> dict:
        """result.json. Raises InputError when the trial is not done."""
        result = self.result()
        if result is None:
            raise InputError(self.path, f"not trained to the end yet ({self.state()})")
        return result

    def failure(self) -> dict | None:
        """failure.json, its texts printable, None unless the last attempt failed."""
        return printable_tree(read_record(self.path / "failure.json", FORMAT, _FAILURE))

    def metrics(self) -> list[dict]:
        """Lines of metrics.jsonl, by rising samples. Raises Damaged."""
        path = self.path / "metrics.jsonl"
        try:
            data = path.read_bytes()
            lines = [json.loads(line) for line in checked_lines(path, data.splitlines())]
        except FileNotFoundError:
            return []
        except (ValueError, RecursionError) as error:
            raise Damaged(path, f"not lines of JSON ({error})") from None
        if not all(isinstance(line, dict) and line.keys() >= _LINE for line in lines):
            raise Damaged(path, f"damaged: a line lacks {', '.join(sorted(_LINE))}")
        if not lines:  # it is written with its first one
            raise Damaged(path, "damaged: it is empty")
        return lines

    def check_course(self, lines: Sequence[Mapping], result: Mapping) -> None:
        """Raises Damaged where the lines of a trial that is done do not go up to its last sample: a file may have been
        cut at the end of a line."""
        if not lines or lines[-1]["samples"] != result["samples"]:
            raise Damaged(self.path / "metrics.jsonl", f"damaged: it does not go up to {result['samples']:,} samples")

    def snapshots(self) -> dict[int, Path]:
        """Sample count -> file of weights, by rising samples."""
        paths = (self.path / "snapshots").glob("*.safetensors")  # a copied folder may hold other files
        return dict(sorted((int(path.stem), path) for path in paths if path.stem.isdecimal()))

    @property
    def checkpoint(self) -> Path:
        """Where the checkpoint is, once there is one."""
        return self.path / "checkpoint.safetensors"

    def write(self, name: str, data: bytes, lease: Lease) -> None:
        """Write a file atomically. Raises LeaseLost when another process has taken the trial over."""
        path = self.path / name
        write_whole(path, data, renaming=lease.guard())
        sync_folder(path.parent)

    def write_json(self, name: str, tree: dict, lease: Lease) -> None:
        """`write` a tree as JSON with the format number."""
        self.write(name, sealed_json({"format": FORMAT, **tree}, allow_nan=False), lease)

    def write_failure(self, error: str, trace: str, lease: Lease) -> None:
        """Write failure.json: the last attempt failed. trace: the traceback, empty where there is none."""
        tree = {"id": self.path.name, "error": printable(error, 500), "traceback": trace, "unix_time": time.time()}
        self.write_json("failure.json", tree, lease)

    def write_metrics(self, lines: list[dict], lease: Lease) -> None:
        """Replace metrics.jsonl."""
        self.write("metrics.jsonl", b"".join(sealed_lines(json.dumps(line, allow_nan=False) for line in lines)), lease)

    def remove(self, name: str, lease: Lease) -> None:
        """Remove a file if it is there."""
        with lease.guard():
            (self.path / name).unlink(missing_ok=True)

    def sweep(self, lease: Lease) -> None:
        """Remove temporary files of processes that were killed."""
        with lease.guard():
            for folder in (self.path, self.path / "snapshots", self.path / "eval", self.path / "probes"):
                for path in folder.glob(".*.tmp"):
                    path.unlink(missing_ok=True)


_TOLERANCE = 5e-5
"""Of the spread of a net's outputs: other kernels of a processor change 2e-6 of it at most (all cards and bases), cards
that exchange a part for one with as many parameters 1.4e-3 at least."""


class NetFingerprint(Strict):
    """`net` in config.json: the sources of nets (`net_code`), and what they made (`gonn_core.nets.cost`)."""

    code: str
    parameters: int
    numbers: tuple[float, float, float, float, float]


@cache
def net_code() -> str:
    """A hash of the sources of all nets, 16 hex digits."""
    sources = sorted((Path(__file__).parents[1] / "nets").rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]


def net_now(config: TrialConfig) -> NetFingerprint:
    """What this code makes of a configuration."""
    from gonn_core.nets.cost import fingerprint  # with torch

    parameters, numbers = fingerprint(config.net, config.features, config.training.auxiliary)
    return NetFingerprint.model_validate({"code": net_code(), "parameters": parameters, "numbers": numbers})


def other_net(tree: dict, result: dict | None, now: Callable[[TrialConfig], NetFingerprint] = net_now) -> str | None:
    """The difference between the net that a trial was trained with and the one that this code makes of its settings;
    None where there is none, and for a trial of other numerics versions. Raises SettingError.

    tree: config.json; result: result.json, which has the parameters of a trial without a fingerprint.
    """
    then = parse_model(NetFingerprint, tree["net"], "config.json.net") if "net" in tree else None
    if then.code == net_code() if then else result is None:
        return None
    config = parse_config(tree["config"])
    if tree["numerics"] != numerics_of(config):
        return None
    made, parameters = now(config), then.parameters if then else result["parameters"]  # type: ignore[index]
    what = f"{parameters:,} parameters, now {made.parameters:,}"
    if parameters == made.parameters:
        if then is None or max(map(abs, map(sub, then.numbers, made.numbers))) <= _TOLERANCE * then.numbers[0]:
            return None
        what = "other initial weights or other outputs from the same"
    return (
        f"trained with another net than this code makes of the same settings ({what}); remove the folder to train it "
        "again, or raise NETS in gonn_core/numerics.py"
    )
