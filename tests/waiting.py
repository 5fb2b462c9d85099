"""One way to wait for what another process or thread does, however much else the machine has to do.

Nothing is measured by the clock: a wait gives up once nothing has got on for `PATIENCE` seconds, which is long beside
everything that a test waits for. `GONN_TEST_PATIENCE=0.1` fails sooner when something hangs,
`=5` is for a very slow machine.
"""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

PATIENCE = 900 * float(os.environ.get("GONN_TEST_PATIENCE", "1"))
"""Seconds without progress after which something hangs; the time-out of a process that a test waits for."""

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T],
    process: subprocess.Popen | None = None,
    progress: Callable[[], object] = lambda: None,
    pause: float = 0.01,
) -> T:
    """Wait until `condition` is true of something; what it was then.

    `process`: who brings it about, and must not end before (AssertionError with what it said). `progress`: patience
    starts anew whenever this value changes. AssertionError when nothing changes for `PATIENCE` seconds.
    """
    state, deadline = progress(), time.monotonic() + PATIENCE
    while not (result := condition()):
        ended = process is not None and process.poll() is not None
        if ended and not (result := condition()):  # asked once more: it may have brought it about and gone
            raise AssertionError(f"it ended with {process.returncode}: {process.communicate()}")
        if result:
            break
        if progress() != state:
            state, deadline = progress(), time.monotonic() + PATIENCE
        assert time.monotonic() < deadline, f"nothing got on for {PATIENCE:.0f} seconds"
        time.sleep(pause)
    return result


def alive(pid: int) -> bool:
    """Whether there is such a process, and it is no zombie that its parent has not heard of (Linux alone)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
