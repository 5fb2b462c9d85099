"""What lies beside study.json: how fast each arm runs alone, and how often test results were looked at.

speed.json    {"control": {"samples_per_s": 1234.5, "samples_per_cpu_s": 1230.1, "turns": [1230.2, …], "device": "cpu",
               "torch": "2.13.0", "load": 0.1, …}, …}; all of an entry: `orchestration.experiment.speeds`
looks.json    {"<digest of the finished trials>": "<command that showed their test results>", …}
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import Damaged, InputError, printable
from gonn_core.files.json_files import read_mapping, tell

SPEED_FILE = "speed.json"
LOOKS_FILE = "looks.json"
MEASURE_AGAIN = "speeds are left out; `gonn ablate` measures them again"


@dataclass(frozen=True)
class ArmSpeed:
    """Training speed of an arm alone: median samples per second; `load`: the machine's load average just after.

    turns: the same of each turn in which it was measured, none where these were not kept; nets of one `session` took
    turns. of_cpu_time: on a CPU, of the process's own time; else of wall time.
    """

    samples_per_s: float
    device: str
    load: float | None = None
    turns: tuple[float, ...] = ()
    session: str | None = None
    of_cpu_time: bool = False
    compile: str = "none"


def read_speeds(study_folder: Path) -> dict[str, ArmSpeed]:
    """Arm -> speed; empty when it was not measured, and where the file is damaged, which is told. Raises InputError for
    a file that is none."""
    path = study_folder / SPEED_FILE
    speeds = {}
    for arm, entry in known_speeds(path).items():
        try:
            rate, load = float(entry["samples_per_s"]), entry.get("load")
            turns, session = tuple(float(turn) for turn in entry.get("turns", ())), entry.get("session")
            device, load = str(entry["device"]), None if load is None else float(load)
            of_cpu_time, compiled = device == "cpu" and bool(turns), str(entry.get("compile", "none"))
            speeds[arm] = ArmSpeed(rate, device, load, turns, session, of_cpu_time, compiled)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError(path, f"no speed of arm {printable(arm, 60)}; remove the file to measure again") from None
        if not (math.isfinite(rate) and rate > 0):
            raise InputError(path, f"{rate} samples/s of arm {printable(arm, 60)}; remove the file to measure again")
    return speeds


def speed_range(one: ArmSpeed, other: ArmSpeed) -> tuple[float, float] | None:
    """Lowest and highest of the factor between two speeds, `one` over `other`, over the turns in which both were
    measured; over all pairs of turns where they were not measured together. None where turns were not kept."""
    if not one.turns or not other.turns:
        return None
    if one.session == other.session and len(one.turns) == len(other.turns):
        factors = [rate / beside for rate, beside in zip(one.turns, other.turns, strict=True)]
    else:
        factors = [rate / beside for rate in one.turns for beside in other.turns]
    factor = one.samples_per_s / other.samples_per_s
    return min(factor, *factors), max(factor, *factors)


def known_speeds(path: Path) -> dict:
    """What the file holds; nothing where there is none, or a damaged one."""
    try:
        return read_mapping(path)
    except Damaged as damage:
        tell(damage, MEASURE_AGAIN)
        return {}


def read_look_counts(study_folder: Path) -> dict[str, int]:
    """Command -> how many different states of test results it was the first to show. Raises InputError for a file that
    is none."""
    commands = [str(command) for command in read_mapping(study_folder / LOOKS_FILE).values()]
    return dict(sorted(Counter(commands).items()))


def look_counts_text(look_counts: Mapping[str, int]) -> str:
    """One sentence for a table's footer; `look_counts`: how often test results were shown, by table or command.

    No alpha is spent on them: each look at unfinished results that may decide whether more seeds are run raises the
    chance of a false helps or hurts above alpha, and the reader has to weigh that.
    """
    total = sum(look_counts.values())
    if total <= 1:
        return f"Looks at the test results: {total}."
    parts = ", ".join(f"{name} {count}" for name, count in look_counts.items() if count)
    return (
        f"Looks at the test results: {total} ({parts}); intervals and p values are not corrected for having looked "
        "before."
    )
