"""What lies next to study.json: how fast each arm runs alone, and how often test results were looked at.

speed.json    {"control": {"samples_per_s": 1234.5, "turns": [1230.2, …], "device": "cpu", "load": 0.1, …}, …}; see
              `orchestration.experiment.speeds`
looks.json    {"<digest of the finished trials>": "<command that showed their test results>", …}
"""

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import Damaged, InputError, printable
from gonn_core.files.json_files import read_mapping, tell

SPEED_FILE = "speed.json"
LOOKS_FILE = "looks.json"
MEASURE_AGAIN = "speeds are left out; `gonn ablate` measures them again"


@dataclass(frozen=True)
class ArmSpeed:
    """Training speed of an arm alone: median samples per second; `load`: the machine's load average just after;
    of_cpu_time: on a CPU, of the process's own time; else of wall time."""

    samples_per_s: float
    device: str
    load: float | None = None
    of_cpu_time: bool = False
    compile: str = "none"


def read_speeds(study_folder: Path) -> dict[str, ArmSpeed]:
    """Arm -> speed; empty when it was not measured, and where the file is damaged, which is logged. Raises InputError
    for an entry without a speed."""
    path = study_folder / SPEED_FILE
    speeds = {}
    for arm, entry in known_speeds(path).items():
        try:
            rate, device, load = float(entry["samples_per_s"]), str(entry["device"]), entry.get("load")
            of_cpu_time, compiled = device == "cpu" and bool(entry.get("turns")), str(entry.get("compile", "none"))
            speeds[arm] = ArmSpeed(rate, device, None if load is None else float(load), of_cpu_time, compiled)
            if not (math.isfinite(rate) and rate > 0):
                raise ValueError
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError(path, f"no speed of arm {printable(arm, 60)}; remove the file to measure again") from None
    return speeds


def known_speeds(path: Path) -> dict:
    """The content of the file; empty where there is none, or a damaged one."""
    try:
        return read_mapping(path)
    except Damaged as damage:
        tell(damage, MEASURE_AGAIN)
        return {}


def read_look_counts(study_folder: Path) -> dict[str, int]:
    """Command -> how many different states of test results it was the first to show. Raises InputError for a file
    without a mapping."""
    commands = [str(command) for command in read_mapping(study_folder / LOOKS_FILE).values()]
    return dict(sorted(Counter(commands).items()))
