"""Effects as one page over several studies shows them: p adjusted over all its effects of one kind, whatever commands
made them.

A reader of such a page picks from all of its rows. One kind: a metric, on test games read with one history; whatever
the base, for a family of each of five bases keeps to 5 % and the page over them has something false in 20 % of cases
(`tests/error_rates/pages.py`).
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ablations.study import Study
from gonn_core.metrics import METRICS
from reports.results.compare import StudyAnalysis, study_thresholds
from reports.stats.estimates import Effect
from reports.stats.family import adjust
from reports.stats.verdicts import EffectVerdict, judge_effect

Analysed = tuple[Study, Mapping[tuple[int, str], StudyAnalysis]]
"""A study and its statistics by evaluation and metric."""


PAGE_NOTE = (
    "p (page) is adjusted over all effects of this page on the metric, of all bases, whatever commands made them, and "
    "the verdict is that of it; an interval is that of one effect by itself and may leave 0 out beside “not shown”."
)
"""Below a table of such effects."""


class EffectKey(NamedTuple):
    """An effect of a page: a row shows it."""

    study: str
    evaluation: int
    metric: str
    card: str


@dataclass(frozen=True)
class OnPage:
    """What a page says of an effect. p: adjusted over the `family` effects of its kind that the page shows, None with
    too few seeds to be judged."""

    p: float | None
    verdict: EffectVerdict
    family: int


class _Member(NamedTuple):
    key: EffectKey
    study: Study
    effect: Effect

    @property
    def what(self) -> frozenset:
        """The same for an effect of the same arms, whichever study made it."""
        return frozenset(self.effect.weights.items())

    @property
    def judged(self) -> bool:
        """Whether it has a p, of enough seeds."""
        return self.effect.p is not None and self.effect.n >= study_thresholds(self.study).min_seeds

    @property
    def rank(self) -> tuple:
        """The first of these stands for an effect that several studies made: it has the most seeds."""
        return -self.effect.n, self.effect.p, self.key


def judge_page(
    analysed: Iterable[Analysed], shown: Collection[tuple[int, str]] | None = None
) -> dict[EffectKey, OnPage]:
    """Every effect of these studies that has results, judged as one of a page that shows them all.

    shown: the evaluations and metrics of which the page shows effects, None: of all that there are. An effect of the
    same arms that two studies made is judged twice and counted once. Of one study alone its own p and verdicts stand.
    """
    families: dict[tuple, list[_Member]] = {}
    tables = {}
    for study, analyses in analysed:
        for (number, metric), analysis in analyses.items():
            if analysis.table is None or (shown is not None and (number, metric) not in shown):
                continue
            for card, effect in analysis.table.effects.items():
                key = EffectKey(study.id, number, metric, card)
                tables[key] = analysis.table
                families.setdefault((metric, *_kind(study, number)), []).append(_Member(key, study, effect))
    found: dict[EffectKey, OnPage] = {}
    for members in families.values():
        judged = [each for each in members if each.judged]
        size = len({each.what for each in judged})
        if len({member.study.id for member in members}) == 1:
            found |= {key: OnPage(each.p_adjusted, tables[key].verdicts[key.card], size) for key, _, each in members}
            continue
        adjusted = _adjusted(judged)
        for key, study, effect in members:
            better, p = METRICS[key.metric].better, adjusted.get(key)
            assert better is not None, f"{key.metric} is not judged"
            if p is not None and effect.p_adjusted is not None:  # of a study with looks: as it was at its look
                p = max(p, effect.p_adjusted)
            margin = tables[key].margins[key.card]
            judged_here = judge_effect(replace(effect, p_adjusted=p), better, margin, study_thresholds(study))
            found[key] = OnPage(p, tables[key].verdicts[key.card] if p is None else judged_here, size)
    return found


def _kind(study: Study, number: int) -> tuple:
    evaluation = study.evaluations[number]
    return evaluation.split, evaluation.history, study.first_look


def _adjusted(judged: list[_Member]) -> dict[EffectKey, float]:
    """p of each, beside one for every other effect."""
    first: dict[frozenset, _Member] = {}
    for member in sorted(judged, key=lambda each: each.rank):
        first.setdefault(member.what, member)
    standing = {each.key: each for each in first.values()}
    adjusted = _adjust(standing)
    for member in judged:
        if member.key not in standing:
            others = {key: each for key, each in standing.items() if each.what != member.what}
            adjusted[member.key] = _adjust({**others, member.key: member})[member.key]
    return adjusted


def _adjust(members: Mapping[EffectKey, _Member]) -> dict[EffectKey, float]:
    effects = {str(number): _of_its_seeds(member) for number, member in enumerate(members.values())}
    found = adjust(effects)
    return {key: found[str(number)] for number, key in enumerate(members)}


def _of_its_seeds(member: _Member) -> Effect:
    """Effects of one control with other seeds have nothing in common: those runs are others."""
    seeds = " ".join(map(str, sorted(member.study.seeds)))
    weights = {f"{arm} {seeds}": weight for arm, weight in member.effect.weights.items()}
    return replace(member.effect, weights=weights)
