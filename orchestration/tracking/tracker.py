"""Keeps MLflow's records up to date while studies and trials run, and says where they are.

The records mirror the trial directories. They may be late, unavailable or deleted; `sync` completes them. One process
writes at a time: each round of writing holds a lock.
"""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import filelock

from gonn_core.errors import SettingError, UserError, printable
from orchestration.tracking.client import DATABASE, Writer, set_up
from orchestration.tracking.records import StudyInfo, StudyReport, TrackedTrial, stamp

_POLL_SECONDS, _LONGEST_PAUSE = 5.0, 60.0
SILENCE_SECONDS = 15.0
"""How long a command waits at its end for a server that does not answer."""
_SCHEMES = ("sqlite", "postgresql", "mysql", "mssql", "http", "https")
_DRIVERS = (
    "a tracking server's http://…, or, after pip install, postgresql+psycopg2://… (psycopg2-binary) "
    "or mysql+pymysql://… (pymysql)"
)
_SECRET = r"[\w.-]*(?:passw|pwd|token|secret|key|auth|credential|signature|sig)[\w.-]*"


def tracking_uri(root: Path) -> str:
    """`MLFLOW_TRACKING_URI`, or the database of the workspace at `root`. Raises SettingError (MLFLOW_TRACKING_URI) for
    one that MLflow cannot use, and for a database whose Python driver is not installed, with the name of its
    package."""
    uri = os.environ.get("MLFLOW_TRACKING_URI")
    if not uri:
        return f"sqlite:///{root / DATABASE}"
    if uri.split(":")[0].split("+")[0] not in _SCHEMES or "://" not in uri:
        raise _refused(uri, "not a tracking server or data base")
    if uri.startswith(("http:", "https:", "sqlite:")):
        return uri
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        make_url(uri).get_dialect().import_dbapi()
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        raise _refused(uri, "not a data base that can be used") from None
    except ImportError as error:
        raise _refused(uri, f"its driver {error.name} is not installed", _DRIVERS) from None
    return uri


def _refused(uri: str, problem: str, valid: str = f"a URI that starts with {', '.join(_SCHEMES)}") -> SettingError:
    return SettingError("MLFLOW_TRACKING_URI", redacted(uri), problem, valid)


def redacted(text: str) -> str:
    """`text`, printable, with user names and passwords in URIs replaced by ***, and what follows `password=`, `token=`
    or a like word in one."""
    text = re.sub(r"://[^/\s]*@", "://***@", text)
    return printable(re.sub(rf"(?i)([?&; ]{_SECRET}=)[^&;#\s]+", r"\1***", text))


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
        self._root, self._runs, self._say = root, runs, say
        self._studies: dict[str, StudyInfo] = {}
        self._begun: set[str] = set()
        self._written: dict[tuple[str, TrackedTrial], tuple] = {}
        """Stamps of the trial directories when this process last wrote them."""
        self._own = not os.environ.get("MLFLOW_TRACKING_URI")
        self._writer: Writer | None = None
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
                stamps = {trial: stamp(self._runs / trial.id) for trial in study.trials}
                changed = [trial for trial in study.trials if self._written.get((study.id, trial)) != stamps[trial]]
                if changed or study.id not in self._begun:
                    writer.write_trials(study, changed, {}, running=True)
                    self._begun.add(study.id)
                    self._written |= {(study.id, trial): stamps[trial] for trial in changed}

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

    def finish(self, study: StudyInfo, report: StudyReport) -> bool:
        """Write what is missing, the report, and the end of the study. False when MLflow could not be written."""
        self._studies.pop(study.id, None)
        done: list[bool] = []
        if not self._wait(self._start(lambda: done.append(self.sync([(study, report)])))):
            self._warn(f"{redacted(self.uri)} does not answer")
        return done == [True]

    def sync(self, studies: Sequence[tuple[StudyInfo, StudyReport | None]]) -> bool:
        """Rebuild all records of `studies` from files; runs that a killed command left RUNNING end. False when MLflow
        could not be written."""

        def write(writer: Writer) -> None:
            for study, report in studies:
                writer.write_all(study, report)

        return self._round(write, patience=60)

    def experiments(self, studies: Sequence[StudyInfo]) -> list[str | None] | None:
        """Ids of the experiments of studies, None for each that was never logged; None when MLflow cannot be asked.
        Makes a new database."""
        ids: list[str | None] = []
        return ids if self._round(lambda writer: ids.extend(map(writer.experiment, studies)), patience=60) else None

    def _start(self, work: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=work, name="tracking", daemon=True)
        thread.start()
        return thread

    def _wait(self, thread: threading.Thread) -> bool:
        """Wait for a thread that writes, unless a server is silent for too long. Returns whether the thread ended."""
        set_up()  # while the thread imports MLflow, no server is silent
        began = time.monotonic()
        while thread.is_alive():
            heard = max(began, self._writer.answered if self._writer else began)
            if not self._own and time.monotonic() - heard > SILENCE_SECONDS:
                return False
            thread.join(0.05)
        return True

    def _round(self, write: Callable[[Writer], object], patience: float) -> bool:
        """Write under the lock; False when it failed. patience: seconds to wait for the lock."""
        with self._turn:
            try:
                with filelock.FileLock(self._root / f"{DATABASE}.lock", timeout=patience):
                    self._writer = self._writer or Writer(self.uri, self._root, self._runs, self._own)
                    write(self._writer)
            except filelock.Timeout:
                if patience:
                    self._warn("another command is writing to it")
                return False
            except UserError as error:  # a trial directory that cannot be read
                self._warn(str(error))
                return False
            except Exception as error:  # a server's answer or a database driver can make the client raise anything
                self._failures += 1
                reason = f"{type(error).__name__}: {error}".split("\n")[0]
                self._warn(f"cannot use {redacted(self.uri)} ({redacted(reason)})")
                return False
            if self._failures and self._warned:
                self._warned = False
                self._say("MLflow: its records are written again, nothing is missing")
            self._failures = 0
            return True

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            self._say(f"MLflow: {why}; `gonn sync` completes the records")
