"""Which precision trains faster on this machine: measured by `gonn doctor`, kept, and asked by plans and warnings.

speeds/0a1b2c3d-precision.json    {"format": 1, "machine": "…", "device": "cpu", "torch": "…", "version": 1,
                                   "measured": "2026-03-…", "load": 0.1, "fp32": [samples/s, …], "bf16": […]}

version: `gonn_core.numerics.BF16`. The latest comparison on this machine's device; a number for each round, in which
both nets had a window.
"""

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from ablations.expected.table import load_expected
from ablations.registry import load_registry
from ablations.schema import PRECISION
from gonn_core import numerics
from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import Damaged, printable
from gonn_core.files.json_files import read_record, write_json
from gonn_core.files.locks import locked
from gonn_core.files.told import tell
from orchestration.progress import Bar, display
from orchestration.runners.gpus import device_title
from orchestration.speeds.bfloat16 import refuse_impossible, support_of
from orchestration.speeds.kept import FORMAT, machine, place
from orchestration.speeds.measure import Say
from orchestration.speeds.reference import reference_config
from reports.workspace import Workspace

FP32, BF16 = "fp32", "bf16"
ROUNDS, WINDOW_SECONDS = 7, 0.6
"""Of each precision in a round: of the process's CPU time, in which other work on the machine does not count; on a GPU
of wall time."""
FORMAT_OF_TENSORS = "channels_last"
GAIN = 1.05
"""Factor between speeds from which one is called faster, if it is so in every round."""
_KEYS = ("torch", "version", "measured", "load", FP32, BF16)


@dataclass(frozen=True)
class Compared:
    """Samples/s of the reference net's training steps in either precision, by round, on a device (its name)."""

    device: str
    torch: str
    version: int
    """Of what trials in bf16 compute (`gonn_core.numerics.BF16`)."""
    measured: str
    load: float
    fp32: tuple[float, ...]
    bf16: tuple[float, ...]

    @property
    def factors(self) -> tuple[float, ...]:
        """Speed in bf16 over speed in fp32, of each round."""
        return tuple(bf16 / fp32 for fp32, bf16 in zip(self.fp32, self.bf16, strict=True))

    @property
    def factor(self) -> float:
        """Their median."""
        return median(self.factors)

    @property
    def range(self) -> str:
        """`1.71 to 1.85`."""
        return f"{min(self.factors):.2f} to {max(self.factors):.2f}"

    @property
    def faster(self) -> str | None:
        """The precision that is faster beyond doubt; None: about as fast."""
        if min(self.factors) > 1 and self.factor >= GAIN:
            return BF16
        return FP32 if max(self.factors) < 1 and self.factor <= 1 / GAIN else None


def compare(workspace: Workspace, device: str, say: Say) -> Compared:
    """Measure both precisions in turns, some ten seconds, and keep what was found. Raises SettingError (DEVICE,
    PRECISION)."""
    import torch

    from gonn_core.training.environment import choose_device

    name, chosen = device_title(device), choose_device(device)
    refuse_impossible(support_of(chosen.type))
    path = _file(workspace, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.parent / ".lock"):  # another command that measures waits, for neither would measure alone
        say("measuring which precision trains faster here; about ten seconds of an idle core")
        rates = in_turns(reference_config(load_registry(), load_expected()), chosen)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        each = (tuple(rates[precision]) for precision in (FP32, BF16))
        found = Compared(name, torch.__version__, numerics.BF16, now, os.getloadavg()[0], *each)
        write_json(path, {"format": FORMAT, "machine": machine(), **asdict(found)})
    return found


def kept_comparison(workspace: Workspace, device: str) -> Compared | None:
    """The latest on this machine's `device` (its name) by these versions; None without one, and for a damaged
    file, which is told. Raises InputError for a file that is none of ours."""
    import torch

    try:
        tree = read_record(_file(workspace, device), FORMAT, _KEYS)
        if tree is None or (tree["torch"], tree["version"]) != (torch.__version__, numerics.BF16):
            return None
        rates = [tuple(float(rate) for rate in tree[each]) for each in (FP32, BF16)]
        if (
            not rates[0]
            or len(rates[0]) != len(rates[1])
            or not all(0 < rate < float("inf") for rate in sum(rates, ()))
        ):
            raise ValueError("no speeds of rounds")
        measured, load = printable(str(tree["measured"]), 40), float(tree["load"])
        return Compared(device, torch.__version__, numerics.BF16, measured, load, *rates)
    except Damaged as damage:
        tell(damage, "`gonn doctor` measures again")
    except (TypeError, ValueError):
        tell(Damaged(_file(workspace, device), "holds no speeds of two precisions"), "`gonn doctor` measures again")
    return None


def _file(workspace: Workspace, device: str) -> Path:
    return workspace.root / "speeds" / f"{place(device)}-precision.json"


def in_turns(config: TrialConfig, device) -> dict[str, list[float]]:
    """Samples/s of training steps in each round."""
    from gonn_core.training.environment import reset_torch
    from gonn_core.training.loop import Trainer
    from gonn_core.training.speed import random_batches

    reset_torch(1, device)
    nets = {}
    for precision in (FP32, BF16):
        net = with_values(config, {PRECISION: precision})
        nets[precision] = (
            Trainer(net, 1, device, memory_format=FORMAT_OF_TENSORS),
            random_batches(net, device, FORMAT_OF_TENSORS),
        )
        _rate(*nets[precision], device, 0.0)  # kernels are made and chosen
    shown, rates = _Measuring(), {precision: [] for precision in nets}  # type: tuple[_Measuring, dict[str, list[float]]]
    with display(shown, transient=True) as bars:
        for number in range(ROUNDS):
            for precision in nets if number % 2 == 0 else reversed(nets):
                rates[precision].append(_rate(*nets[precision], device, WINDOW_SECONDS))
            shown.done += 1
            bars.refresh()
    return rates


def _rate(trainer, batches, device, seconds: float) -> float:
    """Samples/s of a window, of three steps at least."""
    from gonn_core.training.speed import timed_steps

    of_cpu_time = device.type == "cpu"
    wall, cpu = timed_steps(trainer, batches, device, seconds, of_cpu_time, least=3).rates
    return cpu if of_cpu_time else wall


class _Measuring:
    """What a display shows of a comparison."""

    def __init__(self):
        self.done = 0

    def line(self) -> str:
        """See `Work`."""
        return f"measuring precisions: round {self.done} of {ROUNDS}"

    def bars(self) -> list[Bar]:
        """See `Work`."""
        return [Bar("measuring precisions", self.done, ROUNDS, f"{self.done} of {ROUNDS} rounds")]


def gain(workspace: Workspace, device: str, say: Say) -> float:
    """Speed in bf16 over speed in fp32 of the reference net on this machine, measured where it is not known."""
    found = kept_comparison(workspace, device_title(device))
    return (found or compare(workspace, device, say)).factor
