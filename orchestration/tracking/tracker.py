"""MLflow is told of studies and trials while they run.

A mirror, never the truth: whatever it shows is read from trial directories, so it can be late, down or deleted, and
`sync` makes it whole again. One process writes at a time: a lock is held for each round of writing.
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
from orchestration.tracking.writer import Writer

_POLL_SECONDS, _LONGEST_PAUSE = 5.0, 60.0
SILENCE_SECONDS = 15.0
"""So long a command waits at its end for a server that does not answer."""
_THEN = "training goes on, `gonn sync` completes the records"
_THEN_SYNC = "`gonn sync` again completes the records"


class Tracker:
    """Has studies written to MLflow. Nothing that goes wrong there raises, stops training or makes it wait: it is said
    once, through `say`.

    While trials run, all writing is done by a thread in the background, with longer and longer pauses when it fails. A
    server may refuse, die, hang or come back at any moment: what it missed is written as soon as it answers, by the
    next round or by `gonn sync`.
    """

    def __init__(self, root: Path, runs: Path, say: Callable[[str], object]):
        """`root`: workspace folder, for the data base, artifacts and lock; `runs`: trial directories.

        Raises SettingError for a bad URI, or one of a data base whose driver is not installed.
        """
        self.uri = tracking_uri(root)
        check_driver(self.uri)
        self._root, self._runs, self._say = root, runs, say
        self._studies: dict[str, StudyInfo] = {}
        self._begun: set[str] = set()
        self._written: dict[tuple[str, TrackedTrial], tuple] = {}
        """What trial directories were like when this process last wrote them."""
        self._own = not os.environ.get("MLFLOW_TRACKING_URI")
        self._writer: Writer | None = None
        self._ready: float | None = None
        """Since when MLflow could have answered: not while it is imported, nor while its own data base is made."""
        self._failures = 0
        """Rounds in a row that could not be written."""
        self._warned = False
        self._turn = threading.Lock()

    def follow(self, study: StudyInfo) -> None:
        """From now on `poll` follows this study, with the trials that it has now: the first one makes its experiment
        and parent run."""
        self._studies[study.id] = study

    def poll(self) -> None:
        """Log what is new in the trial directories. When another process is writing, this round is left out: nothing is
        lost."""

        def write(writer: Writer) -> None:
            for study in list(self._studies.values()):
                self._write_changed(writer, study)

        self._round(write, patience=0)

    @contextmanager
    def following(self, seconds: float = _POLL_SECONDS) -> Iterator[None]:
        """Poll in the background while trials run; a round that is being written at the end is waited for while the
        server answers."""
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
        """Log what is still missing, the report, and the end of the study. Returns False when MLflow could not be
        written."""
        self._studies.pop(study.id, None)
        done = threading.Event()

        def write() -> None:
            if self._round(lambda writer: writer.write_all(study, report), patience=60):
                done.set()

        if not self._wait(self._start(write)):
            self._warn(f"{redacted(self.uri)} does not answer")
        return done.is_set()

    def sync(self, studies: Sequence[tuple[StudyInfo, StudyReport | None]]) -> bool:
        """Rebuild everything about `studies` from files, and end runs that a killed command left RUNNING. False when
        MLflow could not be written."""

        def write(writer: Writer) -> None:
            for study, report in studies:
                writer.write_all(study, report)

        return self._round(write, patience=60, then=_THEN_SYNC)

    def experiments(self, studies: Sequence[StudyInfo]) -> list[str | None] | None:
        """Ids of the experiments of studies, None for each that was never logged, or by an older version; None of all
        when MLflow could not be asked. Makes a new data base."""
        found: list[str | None] = []
        asked = self._round(lambda writer: found.extend(map(writer.experiment, studies)), patience=60, then=_THEN_SYNC)
        return found if asked else None

    def _write_changed(self, writer: Writer, study: StudyInfo) -> None:
        """Bring the runs of trials up to date whose directories changed since this process last wrote them."""
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
        """Wait for a thread that writes, unless the server says nothing for too long. Whether the thread came to its
        end."""
        began = time.monotonic()
        while thread.is_alive():
            heard = max(began, self._ready or time.monotonic(), self._writer.heard if self._writer else began)
            if time.monotonic() - heard > SILENCE_SECONDS:
                return False
            thread.join(0.05)
        return True

    def _round(self, write: Callable[[Writer], object], patience: float, then: str = _THEN) -> bool:
        """One round of writing: by this process alone. False when it could not be done; `then`: what is said to come of
        that."""
        with self._turn:
            try:
                set_up()
                if not self._own and self._ready is None:
                    self._ready = time.monotonic()
                with filelock.FileLock(self._root / "mlflow.db.lock", timeout=patience):
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
            except Exception as error:  # a server's answer or a data base's driver may make the client raise anything
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
    """An error in one line, with its type unless it is one of those that are expected."""
    text = str(error).split("\n")[0]
    return text if isinstance(error, mlflow_errors()) else f"{type(error).__name__}: {text or 'no word why'}"
