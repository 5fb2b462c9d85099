"""Optuna's part of a learning-rate search: which rate is tried next. The only module that imports Optuna.

Ask and tell on a journal file that optuna-dashboard opens; training and pruning are elsewhere. The first rates are
spread over the range, the others proposed by the tree-structured Parzen estimator (TPE), from the journal and the
search's seed alone.
"""

import hashlib
import json
import math
import os
import warnings
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from ablations.search import Search, Tried, TriedState
from gonn_core.config import trial_id
from gonn_core.errors import Damaged
from gonn_core.files.json_files import tell
from gonn_core.files.seals import KEY

SPREAD = (0.625, 0.375, 0.875, 0.125)
"""Where in the range, on a logarithmic scale, the first rates lie after the configuration's own."""

_STATES: dict[str, TriedState] = {"COMPLETE": "done", "PRUNED": "pruned", "FAIL": "failed"}
"""By Optuna's own names; whatever else there is runs."""
_AGAIN = "the same `gonn search run` resumes from there"
METRIC = "validation_nats"
"""What Optuna calls the number that is lowered: of a finished trial, on the validation positions of the search."""
_RATE, _TRIAL, _DIVERGED = "learning_rate", "trial", "diverged"


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

        class SealedJournal(JournalFileBackend):
            """The file, each line with a checksum."""

            def append_logs(self, logs: list[dict[str, Any]]) -> None:
                super().append_logs([sealed(log, search.id) for log in logs])

            def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
                read = log_number_from
                try:
                    for log in super().read_logs(log_number_from):
                        content = opened(log, search.id)
                        if content is None:
                            raise ValueError("its checksum is wrong")
                        read += 1
                        yield content
                except ValueError as error:
                    raise Damaged(journal, f"damaged after line {read} ({error}); {_AGAIN}") from None

        self._storage = JournalStorage(SealedJournal(str(journal)))
        self._study = optuna.create_study(
            storage=self._storage, study_name=search.id, direction="minimize", load_if_exists=True
        )
        self._study_key = self._storage.get_study_id_from_name(search.id)

    def ask(self) -> Tried:
        """The next rate to try; from now on it is in the journal."""
        self._say_what_it_is()
        low, high = self._search.rates
        trials = self._study.get_trials(deepcopy=False)
        states = self._optuna.trial.TrialState
        place = sum(trial.state not in (states.WAITING, states.FAIL) for trial in trials)
        first = [self._search.own_rate, *(low * (high / low) ** share for share in SPREAD)]
        if place < len(first) and not any(trial.state == states.WAITING for trial in trials):
            self._study.enqueue_trial({_RATE: min(max(first[place], low), high)})
        # A seed of each question's own: after a kill nothing is asked that was asked before.
        self._study.sampler = self._optuna.samplers.TPESampler(
            n_startup_trials=len(first), seed=self._search.seed + len(trials)
        )
        trial = self._study.ask({_RATE: self._optuna.distributions.FloatDistribution(low, high, log=True)})
        rate = trial.params[_RATE]
        trial.set_user_attr(_TRIAL, self._trial(rate))
        return Tried(trial.number, rate, "running", self._trial(rate))

    def _say_what_it_is(self) -> None:
        """Names for those who read the journal with other tools; added when a search resumes."""
        if self._study.metric_names is None:
            self._study.set_metric_names([METRIC])
            search = self._search
            of = {"base": search.base, "budget": search.budget_label, "data": search.data, "searched": search.title}
            of["judged_by"] = f"{search.validation.minimum_positions:,} positions of validation games, at the end"
            for name, value in of.items():
                self._study.set_user_attr(name, value)

    def report(self, number: int, samples: int, nats: float) -> None:
        """A point on a running trial's way."""
        self._storage.set_trial_intermediate_value(self._key(number), samples, nats)

    def tell_done(self, number: int, nats: float) -> None:
        """The trial went to its end. Raises ValueError for nats that are no number."""
        if not math.isfinite(nats):
            raise ValueError(f"nats of a finished trial are {nats}")
        self._study.tell(number, nats)

    def tell_pruned(self, number: int) -> None:
        """The trial was given up."""
        self._study.tell(number, state=self._optuna.trial.TrialState.PRUNED)

    def tell_diverged(self, number: int) -> None:
        """The trial's loss became no number. Optuna hears of a pruned trial, lest it ask for such a rate again: it
        ignores failed ones."""
        self._storage.set_trial_user_attr(self._key(number), _DIVERGED, True)
        self.tell_pruned(number)

    def tell_failed(self, number: int) -> None:
        """The trial failed for a reason that says nothing of its rate."""
        self._study.tell(number, state=self._optuna.trial.TrialState.FAIL)

    def tried(self) -> list[Tried]:
        """All rates asked for so far, in the order of asking."""
        waiting = self._optuna.trial.TrialState.WAITING
        return [self._tried(trial) for trial in self._study.get_trials(deepcopy=False) if trial.state != waiting]

    def _tried(self, trial) -> Tried:
        rate = trial.params[_RATE]
        state = _STATES.get(trial.state.name, "running")
        if _DIVERGED in trial.user_attrs:
            state = "diverged"
        nats = trial.value if state == "done" else None
        return Tried(trial.number, rate, state, self._trial(rate), nats, dict(trial.intermediate_values))

    def _trial(self, rate: float) -> str:
        if rate not in self._trials:
            self._trials[rate] = trial_id(self._search.at(rate))
        return self._trials[rate]

    def _key(self, number: int) -> int:
        return self._storage.get_trial_id_from_study_id_trial_number(self._study_key, number)


def sealed(log: Mapping, search: str) -> dict:
    """A line of the journal with its checksum, which Optuna ignores; the id of its search is part of it."""
    return {**log, KEY: _digest(log, search)}


def opened(log: Mapping, search: str) -> dict | None:
    """A line without its checksum; None if that is wrong. Lines of Optuna's own tools have none."""
    content = {name: value for name, value in log.items() if name != KEY}
    return content if log.get(KEY, digest := _digest(content, search)) == digest else None


def is_whole(line: bytes, search: str) -> bool:
    """Whether a line of the file is what was written."""
    try:
        log = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(log, dict) and opened(log, search) is not None


def _digest(content: Mapping, search: str) -> str:
    text = search + json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cut_damaged(journal: Path, search: Search) -> None:
    """Cut an unfinished last line, which Optuna could not read past, and everything from the first damaged line: the
    same rates are asked for again, and those that were trained are found."""
    content = journal.read_bytes() if journal.exists() else b""
    whole = 0
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            break
        if not is_whole(line, search.id):
            tell(Damaged(journal, f"damaged: line {number} is not what was written"), "the search goes on from there")
            break
        whole += len(line)
    if whole < len(content):
        os.truncate(journal, whole)
