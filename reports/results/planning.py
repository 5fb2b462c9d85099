"""The noise that finished runs tell, to plan what a number of seeds can show."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ablations.study import Study, read_study
from gonn_core.errors import UserError
from reports.results.decisions import load_results
from reports.results.group import MAIN, Groups
from reports.stats.model import RunNoise
from reports.stats.power import smallest_effect
from reports.stats.verdicts import Thresholds


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
