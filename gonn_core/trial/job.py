"""What is to be run: a configuration, which decides the numbers, and settings, which only say where and how.

The settings are recorded in the trial's directory and are no part of its id.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from gonn_core.config import Digest, Strict, TrialConfig, parse_model, trial_id
from gonn_core.errors import InputError
from gonn_core.files.json_files import read_json
from gonn_core.settings.data import HistoryMode
from gonn_core.training.compiling import Compile

Seed = Annotated[int, Field(ge=0, lt=2**31)]


class EvaluationRequest(Strict):
    """An evaluation that a finished trial is to have."""

    split: Literal["train", "validation", "test"]
    view: Digest
    minimum_positions: Annotated[int, Field(ge=1)]
    """The subset is whole games, just enough for this many positions, or the whole view."""
    subset_seed: Seed = 0
    history: HistoryMode = "full"
    symmetry_averaging: bool = False
    """This and the next: read the policy so even when the trial's configuration does not (`TrialConfig.evaluation`)."""
    legal_only: bool = False
    samples: Annotated[int, Field(ge=1)] | None = None
    """Which snapshot: the weights after this many samples (rounded up to whole batches); None: the final ones."""


class RunSettings(Strict):
    """Where and how a trial runs."""

    runs: str = "runs"
    """Folder of trial directories."""
    store: str
    """Folder of the position store, <stores>/<digest>; its views are in <stores>/views."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Threads of one operation on the CPU. A trial resumed under another number would differ in rounding, so a resumed
    trial keeps its first."""
    loader_threads: Annotated[int, Field(ge=1, le=256)] | None = None
    """Threads that make batches; None: decided where the trial runs (`gonn_core.training.host`)."""
    memory_format: Literal["channels_last", "contiguous"] = "channels_last"
    """Like `threads`, kept on resuming."""
    compile: Compile = "none"
    """What PyTorch's compiler makes of the net while it trains (`gonn_core.training.compiling`); kept on resuming."""
    checkpoint_seconds: Annotated[float, Field(ge=0)] = 20.0
    progress_points: Annotated[int, Field(ge=1, le=10_000)] = 12
    """Lines of metrics, evenly spaced over the samples."""
    progress_view: Digest | None = None
    """Validation view that every progress point looks at; None: the lines hold training figures only."""
    progress_positions: Annotated[int, Field(ge=1)] = 2048
    progress_seed: Seed = 0
    look_every: Annotated[int, Field(ge=1)] = 1
    """Of the lines of metrics, counted from the last one, so many make one that looks at the view; the others hold
    training figures only."""
    evaluations: tuple[EvaluationRequest, ...] = ()
    snapshots: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """Sample counts at which weights are kept, in addition to a 1-2-5 grid from 10,000 on and the end."""
    commit: str = "unknown"
    dirty: bool = False

    @property
    def looks(self) -> int:
        """How many times a trial of at least so many batches looks at its validation view."""
        return -(-self.progress_points // self.look_every) if self.progress_view else 0


class Job(Strict):
    """A trial to be run."""

    config: TrialConfig
    run: RunSettings
    labels: dict[str, str] = {}

    @property
    def id(self) -> str:
        """The trial's id: by the configuration and the numerics versions of this code alone."""
        return trial_id(self.config)


def read_job(path: Path) -> Job:
    """The job in a job file, or in the config.json of a trial's directory. Raises UserError for anything else.

    A trial directory of other numerics versions is refused: resuming would mix two methods.
    """
    tree = read_json(path)
    if not isinstance(tree, dict):
        raise InputError(path, "not a job: a mapping with config and run is expected")
    job = parse_model(Job, {key: tree[key] for key in ("config", "run", "labels") if key in tree}, Path(path).name)
    if tree.get("id", job.id) != job.id:
        problem = f"trial {tree['id']} was made with numerics {tree.get('numerics')}"
        raise InputError(path, f"{problem}; this version would train trial {job.id}")
    return job


def last_look(lines: Sequence[Mapping]) -> float | None:
    """Validation nats of the last of a trial's lines of metrics that looked, None before the first."""
    return next((line["nats"] for line in reversed(lines) if "nats" in line), None)


KEPT_ON_RESUMING = (
    "threads",
    "memory_format",
    "compile",
    "progress_points",
    "progress_view",
    "progress_positions",
    "progress_seed",
    "look_every",
)
"""Settings of a trial's first session that later ones keep: they decide rounding, or what a line of metrics means."""


def resumed_settings(run: RunSettings, recorded: dict | None) -> RunSettings:
    """`run` with the settings of the trial's first session where they must not change; `recorded` is the trial's
    config.json, if any."""
    if recorded is None:
        return run
    kept, fields = recorded["run"], RunSettings.model_fields
    # a setting that the record lacks had its default
    return run.model_copy(update={name: kept.get(name, fields[name].default) for name in KEPT_ON_RESUMING})


def whole_batches(samples: int, batch_size: int) -> int:
    """`samples` rounded up to a multiple of the batch size."""
    return -(-samples // batch_size) * batch_size


def progress_points(samples: int, batch_size: int, points: int) -> list[int]:
    """Sample counts of the progress points, evenly spaced, whole batches, the end included."""
    return sorted({whole_batches(-(-samples * i // points), batch_size) for i in range(1, points + 1)})


def snapshot_points(samples: int, batch_size: int, wanted) -> list[int]:
    """Sample counts of the weight snapshots: 1, 2, 5 times powers of ten from 10,000 on, `wanted` and the end, in whole
    batches."""
    grid = [m * 10**e for e in range(4, len(str(samples))) for m in (1, 2, 5)]
    return sorted({whole_batches(count, batch_size) for count in (*grid, *wanted, samples) if count <= samples})
