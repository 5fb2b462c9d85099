"""`searches/<id>/`: search.json, written before the first trial, and journal.log, in which Optuna keeps the rates that
were asked for and their results. The only module that imports Optuna.

Ask and tell on a journal file that optuna-dashboard opens; training and pruning are elsewhere. The first rates are
spread over the range, the others proposed by the tree-structured Parzen estimator (TPE), from the journal and the
search's seed alone.
"""

import hashlib
import json
import math
import os
import warnings
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ablations.search import SPREAD, Search, Tried, TriedState, rates_left
from gonn_core.config import trial_id
from gonn_core.errors import Damaged
from gonn_core.files.json_files import tell
from gonn_core.files.seals import KEY
from gonn_core.files.whole import locked
from orchestration.experiment.folder import SEARCHES
from reports.workspace import Workspace

METRIC = "validation_nats"
"""What Optuna calls the number that is lowered: of a finished trial, on the validation positions of the search."""
_OPTUNA_STATES = {"done": "COMPLETE", "pruned": "PRUNED", "diverged": "PRUNED", "failed": "FAIL"}
"""Optuna's name of a state. A diverged trial is a pruned one, lest Optuna ask for such a rate again: it ignores failed
ones."""
_STATES: dict[str, TriedState] = {"COMPLETE": "done", "PRUNED": "pruned", "FAIL": "failed"}
_AGAIN = "the same `gonn search run` resumes from there"
_RATE, _TRIAL, _DIVERGED, _PLACE = "learning_rate", "trial", "diverged", "place"

search_folder = SEARCHES.folder
keep_search = SEARCHES.keep
all_searches = SEARCHES.whole
find_search = SEARCHES.find


def open_journal(workspace: Workspace, search: Search) -> "RateOptimiser":
    """The search's journal, to ask for rates and report to."""
    return RateOptimiser(search_folder(workspace, search.id) / "journal.log", search)


def tried_rates(workspace: Workspace, search: Search) -> list[Tried]:
    """The rates asked for so far; none before the first, and where the journal is missing, which is reported."""
    folder = search_folder(workspace, search.id)
    if not (folder / "journal.log").exists():
        if (folder / SEARCHES.file).exists():
            again = "no rates are known; the same `gonn search run` asks for them again and finds their trials"
            tell(Damaged(folder / "journal.log", "it is missing"), again)
        return []
    return open_journal(workspace, search).tried()


@contextmanager
def alone(workspace: Workspace, search: Search) -> Iterator[None]:
    """While this is entered no other command of this machine runs the search; waits for one that does."""
    folder = search_folder(workspace, search.id)
    with locked(folder / ".lock"):
        cut_damaged(folder / "journal.log", search)
        yield


class RateOptimiser:
    """The journal of one search."""

    def __init__(self, journal: Path, search: Search):
        """Opens the journal, or begins it."""
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
        self._optuna, self._search = optuna, search
        self._trials: dict[float, str] = {}
        journal.parent.mkdir(parents=True, exist_ok=True)

        class CheckedJournal(JournalFileBackend):
            """The file, each line with a checksum."""

            def append_logs(self, logs: list[dict[str, Any]]) -> None:
                super().append_logs([{**log, KEY: _checksum(log, search)} for log in logs])

            def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
                read = log_number_from
                try:
                    for log in super().read_logs(log_number_from):
                        content = checked(log, search)
                        if content is None:
                            raise ValueError("its checksum is wrong")
                        read += 1
                        yield content
                except ValueError as error:
                    raise Damaged(journal, f"damaged after line {read} ({error}); {_AGAIN}") from None

        self._storage = JournalStorage(CheckedJournal(str(journal)))
        self._study = optuna.create_study(
            storage=self._storage, study_name=search.id, direction="minimize", load_if_exists=True
        )
        self._study_key = self._storage.get_study_id_from_name(search.id)
        failed = self._optuna.trial.TrialState.FAIL
        self._failed = {each.number for each in self._study.get_trials(deepcopy=False) if each.state == failed}
        """Of earlier commands: their rates are asked for again."""

    def ask(self) -> Tried:
        """The next rate to try; from now on it is in the journal."""
        if self._study.metric_names is None:
            self._study.set_metric_names([METRIC])
        low, high = rates_left(self._search, self.tried())
        trials = self._study.get_trials(deepcopy=False)
        states = self._optuna.trial.TrialState
        first = [self._search.own_rate, *(low * (high / low) ** share for share in SPREAD)]
        known = {each.user_attrs.get(_PLACE) for each in trials if each.number not in self._failed}
        place = next((place for place in range(len(first)) if place not in known), None)
        if place is not None and not any(trial.state == states.WAITING for trial in trials):
            self._study.enqueue_trial({_RATE: min(max(first[place], low), high)})
        # Another seed for each question: after a kill, nothing is asked twice.
        self._study.sampler = self._optuna.samplers.TPESampler(
            n_startup_trials=len(first), seed=self._search.seed + len(trials)
        )
        trial = self._study.ask({_RATE: self._optuna.distributions.FloatDistribution(low, high, log=True)})
        rate = trial.params[_RATE]
        trial.set_user_attr(_TRIAL, self._trial(rate))
        trial.set_user_attr(_PLACE, place)
        return Tried(trial.number, rate, "running", self._trial(rate))

    def report(self, number: int, samples: int, nats: float) -> None:
        """Keep a point of a running trial's curve."""
        self._storage.set_trial_intermediate_value(self._key(number), samples, nats)

    def tell(self, number: int, state: TriedState, nats: float | None = None) -> None:
        """Keep how a trial ended. Raises ValueError for a finished one whose nats are not finite."""
        if state == "done" and not (nats is not None and math.isfinite(nats)):
            raise ValueError(f"nats of a finished trial are {nats}")
        if state == "diverged":
            self._storage.set_trial_user_attr(self._key(number), _DIVERGED, True)
        self._study.tell(number, nats, self._optuna.trial.TrialState[_OPTUNA_STATES[state]])

    def tried(self) -> list[Tried]:
        """All rates asked for so far, in the order of asking."""
        tried = []
        for trial in self._study.get_trials(deepcopy=False):
            if trial.state != self._optuna.trial.TrialState.WAITING:
                state = "diverged" if _DIVERGED in trial.user_attrs else _STATES.get(trial.state.name, "running")
                nats = trial.value if state == "done" else None
                rate, points = trial.params[_RATE], dict(trial.intermediate_values)
                tried.append(Tried(trial.number, rate, state, self._trial(rate), nats, points))
        return tried

    def _trial(self, rate: float) -> str:
        if rate not in self._trials:
            self._trials[rate] = trial_id(self._search.at(rate))
        return self._trials[rate]

    def _key(self, number: int) -> int:
        return self._storage.get_trial_id_from_study_id_trial_number(self._study_key, number)


def checked(log: object, search: Search) -> dict | None:
    """A line of the journal without its checksum, which Optuna ignores; None if that is wrong. Lines of Optuna's own
    tools have none."""
    if not isinstance(log, dict):
        return None
    content = {name: value for name, value in log.items() if name != KEY}
    return content if log.get(KEY, digest := _checksum(content, search)) == digest else None


def _checksum(content: Mapping, search: Search) -> str:
    text = search.id + json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cut_damaged(journal: Path, search: Search) -> None:
    """Cut an unfinished last line, which Optuna could not read past, and everything from the first damaged line: the
    same rates are asked for again, and those that were trained are found."""
    content = journal.read_bytes() if journal.exists() else b""
    whole = 0
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            break
        try:
            is_whole = checked(json.loads(line), search) is not None
        except (ValueError, RecursionError):
            is_whole = False
        if not is_whole:
            tell(Damaged(journal, f"damaged: line {number} is not what was written"), _AGAIN)
            break
        whole += len(line)
    if whole < len(content):
        os.truncate(journal, whole)
