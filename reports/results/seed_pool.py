"""Seed noise from earlier studies: for the pool of a table, and to plan what a number of seeds can show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ablations.study import Study, read_study
from gonn_core.errors import UserError
from reports.results.compare import MAIN, analyse_study, comparison, study_thresholds
from reports.results.study_results import StudyResults, load_results
from reports.stats.analysis import TableAnalysis
from reports.stats.power import smallest_effect
from reports.stats.seed_noise import Differences, SeedPool, pool_seed_noise


@dataclass(frozen=True)
class PriorNoise:
    """Paired differences of other studies on the same base, budget, data, samples and evaluation subset.

    differences: `<card> of <study>` -> differences by seed; evaluation_variance: of a difference, median over them (a
    large effect varies more between games, and says little about the small ones that are planned for), None without
    any;
    studies: those that gave some; skipped: study files that could not be used, with the reason. since: when it was
    kept, of the noise that a complete study goes on to be judged with (`reports.results.frozen_pool`); today: what it
    would be if it were gathered now.
    """

    differences: Mapping[str, Differences]
    evaluation_variance: float | None
    studies: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    since: str | None = None
    today: "PriorNoise | None" = None

    def pool(self) -> SeedPool | None:
        """Their pooled seed noise; None without any."""
        return pool_seed_noise(self.differences)


class StudyShelf:
    """The studies of a workspace, each read and analysed once, however many reports and pools ask for it."""

    def __init__(self, studies_folder: Path | str, load: Callable[[Study], StudyResults]):
        """`studies_folder`: holds `<id>/study.json`; `load`: the results of one."""
        self._studies, self._load = Path(studies_folder), load
        self._tables: dict[tuple[str, str], TableAnalysis | None] = {}

    @cached_property
    def _read(self) -> tuple[dict[Path, Study], dict[Path, str]]:
        """Studies by their files, and why the others cannot be used."""
        studies, skipped = {}, {}
        for path in sorted(self._studies.glob("*/study.json")):
            try:
                studies[path] = read_study(path)
            except UserError as error:
                skipped[path] = str(error)
        return studies, skipped

    @property
    def studies(self) -> tuple[Study, ...]:
        """All that can be read."""
        return tuple(self._read[0].values())

    def pool(self, study: Study, metric: str = "nats") -> PriorNoise:
        """What the other studies tell of the seed noise of `study`, which need not have begun.

        A comparison of the same arms as one of `study`'s own is left out, one that two studies made counts once with
        all its seeds.
        """
        own = {frozenset(comparison(study, contrast).weights.items()) for contrast in study.contrasts}
        comparisons: dict[frozenset, tuple[str, Differences]] = {}
        studies, unread = self._read
        skipped, variances, used = dict(unread), [], []
        for path, other in studies.items():
            if other.id == study.id or not other.evaluations or not other.arms or not alike(other, study):
                continue
            try:
                table = self.table(other, metric)
            except UserError as error:
                skipped[path] = str(error)
                continue
            if table is None:
                continue
            for card, differences in table.differences.items():
                key = frozenset(differences.weights.items())
                if key in own:
                    continue
                name, before = comparisons.get(key, (f"{card} of {other.id}", Differences({}, {})))
                comparisons[key] = name, Differences({**before.by_seed, **differences.by_seed}, differences.weights)
                variances.append(table.effects[card].se_eval ** 2)
                used.append(other.id)
        median = float(np.median(variances)) if variances else None
        reasons = tuple(skipped[path] for path in sorted(skipped))
        return PriorNoise(dict(comparisons.values()), median, tuple(dict.fromkeys(used)), reasons)

    def table(self, study: Study, metric: str = "nats") -> TableAnalysis | None:
        """A study's effects, with no noise of other studies in the pool; None while it has none."""
        if (study.id, metric) not in self._tables:
            self._tables[study.id, metric] = analyse_study(self._load(study), metric).table
        return self._tables[study.id, metric]


def pool_from_studies(
    studies_folder: Path | str, runs_folder: Path | str, study: Study, metric: str = "nats", cache: Path | None = None
) -> PriorNoise:
    """What the studies below `studies_folder` tell of the seed noise of one study: see `StudyShelf`."""
    return StudyShelf(studies_folder, lambda other: load_results(other, runs_folder, cache=cache)).pool(study, metric)


def alike(other: Study, study: Study) -> bool:
    """Whether seed noise of one study says something about the other's: same base, budget, data, samples, batch and
    main subset; paired."""
    return _conditions(other) == _conditions(study) and other.pairing == study.pairing == "by_position"


def _conditions(study: Study) -> tuple:
    training, main = study.arms[0].config.training, study.evaluations[MAIN]
    return study.base, study.budget_label, study.data, training.samples, training.batch_size, main.subset, main.history


def planned_effect(study: Study, prior: PriorNoise) -> float | None:
    """The smallest |Δ nats| that the study's seeds can show with the power in its thresholds; None when nothing was
    measured yet."""
    if prior.evaluation_variance is None or len(study.seeds) < 2:
        return None
    pool, thresholds = prior.pool(), study_thresholds(study)
    if study.looks is not None:  # what all seeds show, at the level of the last look
        thresholds = replace(thresholds, alpha=study.looks.levels[-1])
    return smallest_effect(pool, prior.evaluation_variance, len(study.seeds), thresholds, len(study.contrasts))
