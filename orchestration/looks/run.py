"""Runs a study that plans looks: hands out the trials up to the next look, takes it when all of them are done, and goes
on with the arms that it leaves."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ablations.study import Study, TrialRef
from gonn_core.files.locks import locked
from gonn_core.trial.events import Event, Failed, Finished, Paused
from gonn_core.trial.job import Job
from gonn_core.trial.twins import plainest_first
from orchestration.experiment.pipeline import is_complete
from orchestration.study.folder import keep_noise
from reports.results.compare import at_next_look
from reports.results.decisions import (
    CardLook,
    Decision,
    Look,
    due_trials,
    load_results,
    next_look,
    read_decisions,
    write_decisions,
)
from reports.results.seed_pool import pool_from_studies
from reports.stats.estimates import Effect
from reports.tables.formats import p_value
from reports.workspace import Workspace

_SAID: dict[Decision, str] = {
    "shown": "shown, its arm stops",
    "futile": "small, its arm stops",
    "goes on": "goes on",
    "last look": "not shown",
}


class LookedAt:
    """One command's part in a study with looks: an iterator of jobs, and a listener to their events."""

    def __init__(self, workspace: Workspace, study: Study, jobs: Sequence[Job], say: Callable[[str], object]):
        """jobs: of all the study's trials; say: is told what each look decided."""
        self._workspace, self._study, self._say = workspace, study, say
        self._folder = workspace.studies / study.id
        self._jobs = {job.id: job for job in jobs}
        self._at_work: set[str] = set()

    def due(self) -> tuple[TrialRef, ...]:
        """The study's trials up to its next look."""
        return due_trials(self._study, read_decisions(self._study, self._folder))

    def missing(self) -> list[Job]:
        """Jobs of those that are not done; takes every look that needs no more training."""
        while True:
            missing = [job for trial in self.due() if not is_complete(job := self._jobs[trial.trial])]
            if missing or not self._take():
                return plainest_first(missing)

    def jobs(self, on_begin: Callable[[Sequence[Job]], object]) -> Iterator[Job | None]:
        """Trials look by look, None while those of a look are at work; ends early where one failed. on_begin: told the
        jobs of each look before the first of them."""
        tried: set[str] = set()
        while missing := self.missing():
            if any(job.id in tried for job in missing):
                return
            on_begin(missing)
            self._at_work = {job.id for job in missing}
            tried |= self._at_work
            yield from missing
            while self._at_work:
                yield None

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        if isinstance(event, Finished | Failed | Paused):
            self._at_work.discard(event.trial)

    def _take(self) -> bool:
        """Take the next look, whose trials are all done; whether there was one to take. Two commands that run the same
        study take it once."""
        with locked(self._folder / ".decisions.lock"):
            looks = read_decisions(self._study, self._folder)
            number = next_look(self._study, looks)
            if number is None:
                return False
            due = due_trials(self._study, looks)
            if not all(is_complete(self._jobs[trial.trial]) for trial in due):
                return True  # another command took it just now
            look = take_look(self._workspace, self._study, looks, number)
            write_decisions(self._folder, [*looks, look])
        cards = "; ".join(
            f"{card} {_SAID[each.decision]} (p {p_value(each.p_adjusted)})" for card, each in look.cards.items()
        )
        self._say(f"look at {look.seeds} seeds, at an adjusted p of {look.level:g}: {cards}")
        return True


def take_look(workspace: Workspace, study: Study, looks: Sequence[Look], number: int) -> Look:
    """The look of that number of a study that has taken `looks`: what its trials, all done, say of each card that is
    not decided."""
    assert study.looks is not None
    seeds, level = study.looks.seeds[number], study.looks.levels[number]
    folder: Path = workspace.studies / study.id
    results = load_results(study, workspace.runs, folder, workspace.report_cache)
    today = pool_from_studies(workspace.studies, workspace.runs, study, cache=workspace.report_cache)
    prior = keep_noise(workspace, study, today, complete=True)  # what the first look was judged with, all are
    analysis = at_next_look(results, seeds, level, prior.differences)
    ended = {card for look in looks for card, each in look.cards.items() if each.ends}
    cards = {}
    for contrast in study.contrasts:
        if contrast.card not in ended:
            effect = analysis.effect(contrast.card)
            assert effect is not None, "all trials of the look are done"
            is_last = number + 1 == len(study.looks.seeds)
            decision = decide(effect, study.looks.futility, is_last)
            cards[contrast.card] = CardLook(decision, effect.delta, effect.p_adjusted)
    return Look(seeds, level, cards)


def decide(effect: Effect, futility: float | None, is_last: bool) -> Decision:
    """What a look makes of an effect: shown where its adjusted p is below the look's level, futile where its 90 %
    interval lies within ±futility."""
    assert effect.level is not None
    if effect.p_adjusted is not None and effect.p_adjusted < effect.level and effect.delta != 0:
        return "shown"
    if is_last:
        return "last look"
    if futility is not None and effect.interval90 is not None and effect.interval90.within(futility):
        return "futile"
    return "goes on"
