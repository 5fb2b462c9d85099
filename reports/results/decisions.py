"""Looks of a study at a growing number of seeds, and what each decides: computed from the study's own trials, so that
the same trials always decide the same. Then the noise of finished runs, to plan what a number of seeds can show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ablations.study import EvaluationRef, Study, TrialRef, read_study
from gonn_core.errors import UserError
from reports.results.group import MAIN, Groups, own_group
from reports.results.study_results import CardLook, Decision, Look, StudyResults, read_results
from reports.stats.estimates import Effect
from reports.stats.looks import repeated_p
from reports.stats.model import RunNoise, smallest_effect
from reports.stats.verdicts import Thresholds, with_q


def load_results(
    study: Study, runs_folder: Path | str, study_folder: Path | str | None = None, cache: Path | None = None
) -> StudyResults:
    """As `read_results`, with the looks that the trials allow; of arms that these stopped only the trials before."""
    results = read_results(study, runs_folder, study_folder, cache)
    looks = taken_looks(results)
    due = set(due_trials(study, looks))
    return replace(results, looks=looks, trials=tuple(each for each in results.trials if each.ref in due))


def trials_due(study: Study, runs_folder: Path | str, cache: Path | None = None) -> tuple[TrialRef, ...]:
    """`due_trials` by what lies below a folder of runs."""
    if not is_sequential(study):
        return study.trials
    return tuple(each.ref for each in load_results(study, runs_folder, cache=cache).trials)


def taken_looks(results: StudyResults) -> tuple[Look, ...]:
    """Every look whose trials are all evaluated. It is by those alone: what other studies train of an arm that stopped
    changes nothing."""
    study, looks = results.study, list[Look]()
    while is_sequential(study) and (number := next_look(study, looks)) is not None:
        due = set(due_trials(study, looks))
        trials = tuple(each for each in results.trials if each.ref in due)
        if any(each.evaluations[MAIN] is None for each in trials):
            break
        looks.append(_look(replace(results, trials=trials, looks=tuple(looks)), number))
    return tuple(looks)


def _look(results: StudyResults, number: int) -> Look:
    """The look of that number at the trials that are due for it: what they say of each card that is not decided."""
    study, thresholds = results.study, results.study.thresholds
    assert study.looks is not None
    group, reference = own_group(results), study.evaluations[MAIN]
    found = {each.card: group.effect(study, each, "nats", reference) for each in study.contrasts}
    effects = {card: each[0] for card, each in found.items() if not isinstance(each, str)}
    (effects,) = repeated(results, [effects], "nats", reference)
    effects, ended, cards = with_q(effects, thresholds), _ended(results.looks), {}
    for card, effect in effects.items():
        if card in ended:
            continue
        decision: Decision = "continues"
        if effect.q is not None and effect.q <= thresholds.alpha and effect.delta != 0:
            decision = "shown"
        elif number + 1 == len(study.looks.seeds):
            decision = "not shown"
        elif study.looks.futility and effect.interval90 and effect.interval90.within(study.looks.futility):
            decision = "futile"
        cards[card] = CardLook(decision, effect.delta, effect.q)
    return Look(study.looks.seeds[number], cards)


def repeated(
    results: StudyResults, several: Sequence[Mapping[str, Effect]], metric: str, reference: EvaluationRef
) -> list[dict[str, Effect]]:
    """Effects of a study with looks by card, one or more kinds of them, their p that of all looks together: the
    ordinary ones of earlier looks, from the study's own trials, and the one that they have now."""
    looks = results.study.looks
    assert looks is not None
    earlier: dict[str, list[float]] = {contrast.card: [] for contrast in results.study.contrasts}
    for seeds in [*looks.seeds[: looks.spent], *(look.seeds for look in results.looks)]:
        group = own_group(results.first(seeds))
        for contrast in results.study.contrasts:
            each = group.effect(results.study, contrast, metric, reference)
            if not isinstance(each, str) and each[0].p is not None and each[0].n >= seeds:
                earlier[contrast.card].append(each[0].p)
    return [
        {
            card: each if each.p is None else replace(each, p=repeated_p(looks.seeds, [each.p, *earlier[card]]))
            for card, each in effects.items()
        }
        for effects in several
    ]


def _ended(looks: Sequence[Look]) -> dict[str, int]:
    """Card -> seeds at the look that decided it."""
    return {card: look.seeds for look in looks for card, each in look.cards.items() if each.ends}


def next_look(study: Study, looks: Sequence[Look]) -> int | None:
    """The number of the study's next look among all that it plans, None when it has taken all that it needs."""
    if study.looks is None or len(looks) == len(study.looks.to_come) or len(_ended(looks)) == len(study.contrasts):
        return None
    return study.looks.spent + len(looks)


def is_sequential(study: Study) -> bool:
    """Whether the study has looks at which an arm may stop."""
    return study.looks is not None and len(study.looks.to_come) > 1


def due_trials(study: Study, looks: Sequence[Look]) -> tuple[TrialRef, ...]:
    """Trials that the study needs until its next look, or needed until its end: of arms that are decided those up to
    their look. All of them in a study whose arms cannot stop."""
    if not is_sequential(study) or study.looks is None:
        return study.trials
    number, ended = next_look(study, looks), _ended(looks)
    now = len(study.seeds) if number is None else study.looks.seeds[number]
    most = dict.fromkeys((arm.id for arm in study.arms), 0)
    for contrast in study.contrasts:
        for arm in (*contrast.with_it, *contrast.without):
            most[arm] = max(most[arm], ended.get(contrast.card, now))
    index = {seed: place for place, seed in enumerate(study.seeds)}
    return tuple(trial for trial in study.trials if index[trial.seed] < most[trial.arm])


@dataclass(frozen=True)
class KnownNoise:
    """Of the loss of runs like those of a study. evaluation_variance: of an effect, by the test games, median over the
    effects (a large one varies more between games, and says little about the small ones that are planned for); runs,
    studies: that tell it."""

    run: RunNoise
    evaluation_variance: float
    runs: int
    studies: tuple[str, ...]

    def smallest_effect(self, seeds: int, thresholds: Thresholds) -> float | None:
        """The smallest |Δ nats| that so many seeds an arm show; None with one seed."""
        return smallest_effect(self.run, self.evaluation_variance, seeds, thresholds) if seeds > 1 else None


def known_noise(
    studies_folder: Path | str, runs_folder: Path | str, study: Study, cache: Path | None = None
) -> KnownNoise | None:
    """What the workspace's runs of the study's base under its conditions tell; None while they tell nothing."""
    studies = []
    for path in sorted(Path(studies_folder).glob("*/study.json")):
        try:
            studies.append(read_study(path))
        except UserError:
            continue  # `gonn status` names it
    group = Groups(studies, lambda each: load_results(each, runs_folder, cache=cache)).of(study)
    model, _ = group.model("nats", study.evaluations[MAIN])
    contrasts = {(each.id, contrast.card): (each, contrast) for each in studies for contrast in each.contrasts}
    known = [contrasts[key] for key in contrasts if key[0] in group.studies]
    found = [group.effect(*each, "nats", study.evaluations[MAIN]) for each in known]
    variances = [each[0].se_eval ** 2 for each in found if not isinstance(each, str)]
    if model is None or model.noise is None or not variances:
        return None
    return KnownNoise(model.noise, float(np.median(variances)), len(group.runs), group.studies)


def planned_effect(study: Study, known: KnownNoise | None) -> float | None:
    """The smallest |Δ nats| that the study's seeds can show with the power in its thresholds; None when nothing was
    measured yet."""
    return None if known is None else known.smallest_effect(len(study.seeds), study.thresholds)
