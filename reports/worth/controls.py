"""The control's loss over samples, from all studies of a workspace that trained it on some number of them."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property

from ablations.designs import COMPRESSIBLE
from ablations.study import Arm, Contrast, Study
from gonn_core.config import TrialConfig
from gonn_core.errors import UserError
from reports.cache import digest
from reports.results.group import MAIN
from reports.results.study_results import StudyResults
from reports.worth.curve import ControlCurve, CurvePoint

Key = tuple[str, str, str]
"""Digest of a configuration without its samples, test games, history mode."""


@cache
def net_key(config: TrialConfig) -> str:
    """Digest of a configuration without its number of samples. Schedules that end with the samples are the same one;
    one that would need more samples to end is another."""
    tree = config.model_dump(mode="json")
    training = tree["training"]
    if training["schedule"]["kind"] in COMPRESSIBLE:
        training["schedule"]["compression"] = f"{training['schedule']['compression'] * training['samples']:.3g}"
    del training["samples"]
    return digest(tree)


def samples_of(arm: Arm) -> int:
    """Samples of each of its trials."""
    return arm.config.training.samples


class Controls:
    """Curves of the controls of some studies; every arm of every study that is the same net adds points to them."""

    def __init__(self, studies: Sequence[Study], load: Callable[[Study], StudyResults]):
        """`load`: the results of a study. First looks are left out: they are judged on fewer games."""
        self._studies, self._load = studies, load
        self._curves: dict[Key, ControlCurve] = {}

    @cached_property
    def _arms(self) -> dict[Key, list[tuple[Study, Arm]]]:
        arms: dict[Key, list[tuple[Study, Arm]]] = {}
        for study in self._studies:
            if study.evaluations and not study.first_look:
                for arm in study.arms:
                    arms.setdefault(_key(study, arm), []).append((study, arm))
        return arms

    def of(self, study: Study) -> ControlCurve:
        """The curve of the study's control, with a point for each number of samples of which a trial is done."""
        control = study.arms[0]
        key = _key(study, control)
        if key not in self._curves:
            name = f"{study.base} {control.label}" if control.values else study.base
            label = f"{name} ({study.budget_label}, {study.data})"
            self._curves[key] = ControlCurve(label, self._points(self._arms.get(key, [])))
        return self._curves[key]

    def _points(self, arms: Sequence[tuple[Study, Arm]]) -> tuple[CurvePoint, ...]:
        if len({samples_of(arm) for _, arm in arms}) < 2:
            return ()  # a single number: its trials need not be read
        by_samples: dict[int, dict[int, tuple[str, float, float]]] = {}
        for study, arm in arms:
            try:
                seeds = _measured(self._load(study), arm)
            except UserError:
                continue  # the study's own report says what is wrong with its files
            if seeds:
                by_samples.setdefault(samples_of(arm), {}).update(seeds)
        points = []
        for samples, values in sorted(by_samples.items()):
            seeds = dict(sorted(values.items()))
            nats = {seed: loss for seed, (_, loss, _) in seeds.items()}
            top1 = {seed: share for seed, (_, _, share) in seeds.items()}
            points.append(CurvePoint(samples, nats, tuple(trial for trial, *_ in seeds.values()), top1))
        return tuple(points)


def _key(study: Study, arm: Arm) -> Key:
    return net_key(arm.config), study.evaluations[MAIN].subset, study.evaluations[MAIN].history


def _measured(results: StudyResults, arm: Arm) -> dict[int, tuple[str, float, float]]:
    """Seed -> trial, nats, top-1 on the main evaluation."""
    nats, top1 = (results.arm_result(arm.id, MAIN, metric) for metric in ("nats", "top1"))
    if nats is None or top1 is None:
        return {}
    trials = results.evaluated(arm.id, MAIN)
    values = zip(nats.seeds, nats.means.tolist(), top1.means.tolist(), strict=True)
    return {seed: (trials[seed].id, loss, share) for seed, loss, share in values}


def comparison_key(study: Study, contrast: Contrast) -> tuple:
    """Identifies a comparison whatever its number of samples."""
    sides = tuple(
        tuple(sorted(net_key(study.arm(arm).config) for arm in side)) for side in (contrast.with_it, contrast.without)
    )
    main = study.evaluations[MAIN]
    return contrast.card, sides, study.pairing, study.budget_label, main.subset, main.history
