"""Trials in processes of their own, to be killed. They are forked from a process that has imported what a trial needs,
so that none of them imports torch anew."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing import get_context
from pathlib import Path

import gonn_core.trial.run  # noqa: F401  for the process that they are forked from
from gonn_core.trial.__main__ import main
from gonn_core.trial.job import Job
from tests import waiting

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


class TrialProcess:
    """`python -m gonn_core.trial job.json` under way."""

    def __init__(self, job: Job, folder: Path):
        path = folder / "job.json"
        path.write_text(job.model_dump_json())
        self._outputs = [folder / f"{os.urandom(4).hex()}.{name}" for name in ("out", "err")]
        self._process = _CONTEXT.Process(target=_run, args=(str(path), *map(str, self._outputs)))
        self._process.start()
        self.pid = self._process.pid

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Waits until something is true that it brings about; it must not end before."""
        waiting.wait_until(lambda: condition() or not self._process.is_alive(), pause=0.005)
        assert condition(), self.ended()

    def send(self, number: int) -> None:
        """Sends it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL, and its end."""
        self.send(signal.SIGKILL)
        self.ended()

    def ended(self) -> tuple[int, str, str]:
        """Waits for its end: exit code, stdout and stderr."""
        self._process.join(waiting.PATIENCE)
        return self._process.exitcode, *(path.read_text() if path.exists() else "" for path in self._outputs)


def _run(job: str, out: str, err: str) -> None:
    with open(out, "w") as stdout, open(err, "w") as stderr, redirect_stdout(stdout), redirect_stderr(stderr):
        sys.exit(main([job]))
