"""Keeps MLflow's records up to date while studies and trials run.

The records mirror the trial directories. They may be late, unavailable or deleted; `sync` completes them. One process
writes at a time: each round of writing holds a lock.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import filelock

from gonn_core.errors import UserError
from orchestration.tracking.client import mlflow_errors, set_up
from orchestration.tracking.records import StudyInfo, StudyReport, TrackedTrial, stamp
from orchestration.tracking.uri import check_driver, redacted, tracking_uri
from orchestration.tracking.writer import DATABASE, Writer

_POLL_SECONDS, _LONGEST_PAUSE = 5.0, 60.0
SILENCE_SECONDS = 15.0
"""How long a command waits at its end for a server that does not answer."""
_THEN = "training goes on, `gonn sync` completes the records"
_THEN_SYNC = "`gonn sync` again completes the records"


class Tracker:
    """Writes studies to MLflow. No error there is raised, stops training or makes it wait; it is reported once, through
    `say`.

    While trials run, a background thread writes, with growing pauses after failures. A server may refuse, die, hang or
    come back at any time: what it missed is written by the next round that it answers, or by `gonn sync`.
    """

    def __init__(self, root: Path, runs: Path, say: Callable[[str], object]):
        """root: workspace folder, for the database, artifacts and lock; runs: trial directories.

        Raises SettingError for an invalid URI, or one of a database whose driver is not installed.
        """
        self.uri = tracking_uri(root)
        check_driver(self.uri)
        self._root, self._runs, self._say = root, runs, say
        self._studies: dict[str, StudyInfo] = {}
        self._begun: set[str] = set()
        self._written: dict[tuple[str, TrackedTrial], tuple] = {}
        """Stamps of the trial directories when this process last wrote them."""
        self._own = not os.environ.get("MLFLOW_TRACKING_URI")
        self._writer: Writer | None = None
        self._ready: float | None = None
        """When MLflow could first have answered: after its import, and after its own database was made."""
        self._failures = 0
        """Rounds in a row that failed."""
        self._warned = False
        self._turn = threading.Lock()

    def follow(self, study: StudyInfo) -> None:
        """Have `poll` write this study with the trials that it has now. The first poll makes its experiment and run."""
        self._studies[study.id] = study

    def poll(self) -> None:
        """Write what is new in the trial directories. While another process writes, this round is skipped; nothing is
        lost."""

        def write(writer: Writer) -> None:
            for study in list(self._studies.values()):
                self._write_changed(writer, study)

        self._round(write, patience=0)

    @contextmanager
    def following(self, seconds: float = _POLL_SECONDS) -> Iterator[None]:
        """Poll in the background while trials run; a round in progress at the end is waited for while the server
        answers."""
        stop = threading.Event()

        def follow() -> None:
            pause = 0.0
            while not stop.wait(pause):
                self.poll()
                pause = min(seconds * 2**self._failures, max(seconds, _LONGEST_PAUSE))

        thread = self._start(follow)
        try:
            yield
        finally:
            stop.set()
            self._wait(thread)

    def finish(self, study: StudyInfo, report: StudyReport | None) -> bool:
        """Write what is missing, the report, and the end of the study. False when MLflow could not be written."""
        self._studies.pop(study.id, None)
        done = threading.Event()

        def write() -> None:
            if self._round(lambda writer: writer.write_all(study, report), patience=60):
                done.set()

        if not self._wait(self._start(write)):
            self._warn(f"{redacted(self.uri)} does not answer")
        return done.is_set()

    def sync(self, studies: Sequence[tuple[StudyInfo, StudyReport | None]]) -> bool:
        """Rebuild all records of `studies` from files; runs that a killed command left RUNNING end. False when MLflow
        could not be written."""

        def write(writer: Writer) -> None:
            for study, report in studies:
                writer.write_all(study, report)

        return self._round(write, patience=60, then=_THEN_SYNC)

    def experiments(self, studies: Sequence[StudyInfo]) -> list[str | None] | None:
        """Ids of the experiments of studies, None for each that was never logged; None when MLflow cannot be asked.
        Makes a new database."""
        ids: list[str | None] = []
        asked = self._round(lambda writer: ids.extend(map(writer.experiment, studies)), patience=60, then=_THEN_SYNC)
        return ids if asked else None

    def _write_changed(self, writer: Writer, study: StudyInfo) -> None:
        """Write the trials whose directories changed since this process last wrote them."""
        if study.id not in self._begun:
            writer.write_study(study, "RUNNING")
            self._begun.add(study.id)
        stamps = {trial: stamp(self._runs / trial.id) for trial in study.trials}
        changed = [trial for trial in study.trials if self._written.get((study.id, trial)) != stamps[trial]]
        if changed:
            writer.write_trials(study, changed)
            self._written |= {(study.id, trial): stamps[trial] for trial in changed}

    def _start(self, work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=work, name="tracking", daemon=True)
        thread.start()
        return thread

    def _wait(self, thread: threading.Thread) -> bool:
        """Wait for a thread that writes, unless the server is silent for too long; whether the thread ended."""
        began = time.monotonic()
        while thread.is_alive():
            heard = max(began, self._ready or time.monotonic(), self._writer.answered if self._writer else began)
            if time.monotonic() - heard > SILENCE_SECONDS:
                return False
            thread.join(0.05)
        return True

    def _round(self, write: Callable[[Writer], object], patience: float, then: str = _THEN) -> bool:
        """Write under the lock; False when it failed. patience: seconds to wait for the lock; then: what the warning
        says will complete the records."""
        with self._turn:
            try:
                set_up()
                if not self._own and self._ready is None:
                    self._ready = time.monotonic()
                with filelock.FileLock(self._root / f"{DATABASE}.lock", timeout=patience):
                    if self._writer is None:
                        self._writer = Writer(self.uri, self._root, self._runs, self._own)
                        self._ready = self._ready or time.monotonic()
                    write(self._writer)
            except filelock.Timeout:
                if patience:
                    self._warn("another command is writing to it", then)
                return False
            except UserError as error:  # a trial directory that cannot be read
                self._warn(str(error), then)
                return False
            except Exception as error:  # a server's answer or a database driver can make the client raise anything
                self._failures += 1
                self._warn(f"cannot use {redacted(self.uri)} ({redacted(_why(error))})", then)
                return False
            if self._failures and self._warned:
                self._warned = False
                self._say("MLflow: its records are written again, nothing is missing")
            self._failures = 0
            return True

    def _warn(self, why: str, then: str = _THEN) -> None:
        if not self._warned:
            self._warned = True
            self._say(f"MLflow: {why}; {then}")


def _why(error: Exception) -> str:
    """An error in one line, with its type unless it is an expected one."""
    text = str(error).split("\n")[0]
    return text if isinstance(error, mlflow_errors()) else f"{type(error).__name__}: {text or 'no message'}"
