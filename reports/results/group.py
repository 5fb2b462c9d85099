"""All finished runs of a base under the same conditions, whichever studies asked for them: rows of one model."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ablations.data.schema import PREFIX
from ablations.designs import COMPRESSIBLE
from ablations.study import Arm, Contrast, EvaluationRef, Study
from gonn_core.config import TrialConfig, config_paths, get_path
from gonn_core.errors import UserError
from gonn_core.metrics import METRICS
from reports.results.study_results import StudyResults, SummedEvaluation, TrialResult, curve_value
from reports.stats.estimates import Effect
from reports.stats.mixed import DesignMatrix, one_thread
from reports.stats.model import Model
from reports.stats.verdicts import Thresholds, with_q

MAIN = 0
"""The first evaluation of a study fills its table."""
VIEW = "data.view"
"""Where filters of the games are in a configuration."""


Side = Sequence[tuple]
"""Of each arm on a side of a contrast, its levels (component, values) of what the contrast changes."""
JOINED = 3
"""Most components that a contrast of two arms joins: two values of each are seven levels and the base."""


class Run(NamedTuple):
    """A finished trial, the first study that it was read for, and its evaluations, of all its studies."""

    results: StudyResults
    arm: Arm
    trial: TrialResult
    evaluations: dict[EvaluationRef, SummedEvaluation]


@dataclass(frozen=True)
class Pair:
    """The effect of two cards together beyond the sum of both, over all others: predicted, and as a fixed effect.

    effect: the latter, its q over all pairs of the group; cells: (with one, with other) -> mean.
    """

    one: str
    other: str
    predicted: float
    predicted_se: float
    effect: Effect
    cells: Mapping[tuple[bool, bool], float]


def conditions(study: Study) -> tuple:
    """What a group has in common but for its configurations."""
    samples = study.samples or study.arms[0].config.training.samples
    about = study.base, study.budget_label, study.data, study.games, samples, study.first_look
    return *about, study.evaluations[:1]


@lru_cache(maxsize=4096)
def _settings(config: TrialConfig) -> dict[str, str]:
    """Path -> value of a configuration, which is of an arm: its seeds are placeholders."""
    return {path: repr(get_path(config, path)) for path in config_paths()}


def _alike(configs: Iterable[TrialConfig]) -> dict[str, str]:
    """Path -> value of what configurations have in common."""
    return dict(set.intersection(*(set(_settings(config).items()) for config in configs)))


def _changed(study: Study, contrast: Contrast) -> frozenset[str]:
    """Paths that have one value on either side of a contrast, and another one on the other."""
    with_it, without = (_alike(study.arm(arm).config for arm in side) for side in (contrast.with_it, contrast.without))
    return frozenset(path for path in with_it.keys() & without.keys() if with_it[path] != without[path])


@lru_cache(maxsize=4096)
def of_any_length(config: TrialConfig) -> TrialConfig:
    """A configuration without its number of samples. Schedules that end with the samples are the same one; one that
    would need more samples to end is another."""
    training, schedule = config.training, config.training.schedule
    if schedule.kind in COMPRESSIBLE:
        compression = float(f"{schedule.compression * training.samples:.3g}")
        schedule = schedule.model_copy(update={"compression": compression})
    return config.model_copy(update={"training": training.model_copy(update={"samples": 0, "schedule": schedule})})


def comparison_key(study: Study, contrast: Contrast) -> tuple:
    """Identifies a comparison whatever its number of samples; a mean over others, whatever these others are."""
    sides = contrast.with_it, contrast.without
    with_it, without = (_alike(of_any_length(study.arm(arm).config) for arm in side) for side in sides)
    rest = _base_settings(study) | dict(with_it.items() & without.items())
    changed = {path: value for path, value in with_it.items() if without.get(path, value) != value}
    settings = frozenset((path, value, without[path]) for path, value in changed.items())
    kept = frozenset(item for item in rest.items() if item[0] not in changed)
    main, is_mean = study.evaluations[MAIN], max(map(len, sides)) > 1
    return contrast.card, is_mean, settings, kept, study.pairing, study.budget_label, main.subset, main.history


def _base_settings(study: Study) -> dict[str, str]:
    """Path -> value where an arm leaves it as the base has it."""
    found: dict[str, str] = {}
    for arm in study.arms:
        own = {VIEW if path.startswith(PREFIX) else path for path in arm.values}
        settings = _settings(of_any_length(arm.config))
        found = {path: value for path, value in settings.items() if path not in own} | found
    return found


class Group:
    """Runs whose configurations differ in nothing but what the contrasts of some studies change."""

    def __init__(self, members: Sequence[StudyResults], rests: frozenset, varied: frozenset[str]):
        """members: studies with the same `conditions`; rests: what their configurations are outside of the `varied`
        paths."""
        found: dict[str, Run] = {}
        for results in members:
            arms = {arm.id: arm for arm in results.study.arms if _rest(arm, varied) in rests}
            for trial in results.trials:
                if trial.result is not None and trial.arm in arms:
                    run = found.setdefault(trial.id, Run(results, arms[trial.arm], trial, {}))
                    pairs = zip(results.study.evaluations, trial.evaluations, strict=True)
                    run.evaluations.update((reference, each) for reference, each in pairs if each is not None)
        self.runs, self._members = tuple(found.values()), tuple(members)
        values: dict[str, set[str]] = {}
        for arm in {id(run.arm): run.arm for run in self.runs}.values():
            for path, value in _settings(arm.config).items():
                values.setdefault(path, set()).add(value)
        several = {path for path, found in values.items() if len(found) > 1} | varied
        self._components, self._composites, self._combined = _joined([each.study for each in members], several)
        self._read: dict[tuple[str, EvaluationRef], set[int]] = {}
        self._sides: dict[tuple[str, str], tuple[Side, Side]] = {}
        self.model, self.pairs = cache(self._model), cache(self._interactions)

    @property
    def studies(self) -> tuple[str, ...]:
        """Those that its runs were read for."""
        return tuple(dict.fromkeys(run.results.study.id for run in self.runs))

    @cached_property
    def _base(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Component -> its values in the base: what arms that do not change it have, else what most have."""
        found = {}
        for paths in (*self._components, *self._composites):
            unchanged: Counter[tuple[str, ...]] = Counter()
            every: Counter[tuple[str, ...]] = Counter()
            for results in self._members:
                for arm in results.study.arms:
                    own = {VIEW if path.startswith(PREFIX) else path for path in arm.values}
                    (every if own & set(paths) else unchanged)[_at(arm, paths)] += 1
            found[paths] = (unchanged or every).most_common(1)[0][0]
        return found

    def _model(self, metric: str, evaluation: EvaluationRef) -> tuple[Model | None, Mapping[tuple, int]]:
        """The runs that have a metric in an evaluation, None without any; level (component, values) -> its number."""
        read = [(run, each) for run in self.runs if (each := run_sums(run, metric, evaluation)) is not None]
        self._read[metric, evaluation] = {id(run.arm) for run, _ in read}
        if not read:
            return None, {}
        of_runs = [
            [level for level in self._levels[id(run.arm)].items() if level[1] != self._base[level[0]]]
            for run, _ in read
        ]
        levels = {level: number for number, level in enumerate(dict.fromkeys(each for own in of_runs for each in own))}
        changes = np.zeros((len(read), len(levels)))
        for row, own in zip(changes, of_runs, strict=True):
            row[[levels[level] for level in own]] = 1.0
        # Runs of one seed have something in common where they see the same positions.
        seen = [(run.trial.seed, _settings(run.arm.config)[VIEW]) for run, _ in read]
        numbers = {each: number for number, each in enumerate(dict.fromkeys(seen))}
        design = DesignMatrix(changes, [", ".join(paths) for paths, _ in levels], [numbers[each] for each in seen])
        sums, counts = np.stack([sums for _, (sums, _) in read]), read[0][1][1]
        return Model(design, sums, counts), levels

    @cached_property
    def _levels(self) -> dict[int, dict[tuple[str, ...], tuple[str, ...]]]:
        """id of a run's arm -> component -> its values."""
        arms = {id(run.arm): run.arm for run in self.runs}
        return {key: self._of_arm(arm) for key, arm in arms.items()}

    def _of_arm(self, arm: Arm) -> dict[tuple[str, ...], tuple[str, ...]]:
        """Component -> its values. What a composite card changes is one level, which tells nothing of its parts."""
        own: dict[tuple[str, ...], tuple[str, ...]] = {}
        for paths, found in self._composites.items():
            apart = not any(set(paths) & set(each) for each in own) and arm.config not in self._combined
            if apart and (values := _at(arm, paths)) in found - {self._base[paths]}:
                own[paths] = values
        whole = {path for paths in own for path in paths}
        return own | {paths: _at(arm, paths) for paths in self._components if not whole & set(paths)}

    def _of_contrast(self, study: Study, contrast: Contrast) -> tuple[Side, Side]:
        """With the enhancement, and without it."""
        key = study.id, contrast.card
        if key not in self._sides:
            changed = _changed(study, contrast)
            with_it, without = (
                [
                    tuple(level for level in self._of_arm(study.arm(arm)).items() if changed & set(level[0]))
                    for arm in side
                ]
                for side in (contrast.with_it, contrast.without)
            )
            self._sides[key] = with_it, without
        return self._sides[key]

    def contrast(self, study: Study, contrast: Contrast, levels: Mapping[tuple, int]) -> np.ndarray:
        """(levels,) with an enhancement minus without it."""
        found = np.zeros(len(levels))
        for side, sign in zip(self._of_contrast(study, contrast), (1.0, -1.0), strict=True):
            for level, count in Counter(level for arm in side for level in arm if level in levels).items():
                found[levels[level]] += sign * (count / len(side))  # 1 where all arms have it
        return found

    @one_thread
    def effect(
        self, study: Study, contrast: Contrast, metric: str, evaluation: EvaluationRef
    ) -> tuple[Effect, Effect | None] | str:
        """The effect, and where it is a mean over the others that at the base; or why the runs do not tell it."""
        model, levels = self.model(metric, evaluation)
        if model is None:
            return "no finished run"
        read = self._read[metric, evaluation]
        for side, word in zip(self._of_contrast(study, contrast), ("with it", "without it"), strict=True):
            arms = [frozenset(arm) for arm in side if arm]
            finished = (id_ for id_, own in self._levels.items() if any(own.items() >= arm for arm in arms))
            first = next(finished, None)
            if first not in read and read.isdisjoint(finished):
                return f"no finished run {word}" + " has this number" * (first is not None)
        wanted = self.contrast(study, contrast, levels)
        if not wanted.any() or not model.design.separates(wanted):
            return "its runs cannot be separated from those of other changes, or of a seed"
        return model.effect(contrast.card, wanted), model.at_base(contrast.card, wanted)

    @one_thread
    def _interactions(self, evaluation: EvaluationRef, thresholds: Thresholds) -> tuple[Pair, ...]:
        """Interactions on the loss of every two cards that the runs tell anything of, the largest prediction first:
        the same for every study of the group."""
        model, levels = self.model("nats", evaluation)
        cards, pairs = self._cards(levels), list[Pair]()
        if model is None:
            return ()
        for each in model.interactions():
            if all(level in cards for level in each.levels):
                (one, first), (other, second) = (cards[level] for level in each.levels)
                effect = model.pair_effect(f"{one} × {other}", each, first * second)
                predicted = first * second * each.value
                pairs.append(Pair(one, other, predicted, each.se, effect, model.cells(each, (first, second))))
        effects = with_q(dict(enumerate(pair.effect for pair in pairs)), thresholds)
        return tuple(replace(pair, effect=effects[number]) for number, pair in enumerate(pairs))

    def _cards(self, levels: Mapping[tuple, int]) -> dict[int, tuple[str, int]]:
        """Number of a level -> the card that it is the effect of, and 1, or -1 where the base has the card."""
        found: dict[int, tuple[str, int]] = {}
        for results in self._members:
            for contrast in results.study.contrasts:
                row = self.contrast(results.study, contrast, levels)
                (numbers,) = np.nonzero(row)
                if len(numbers) == 1:
                    found.setdefault(int(numbers[0]), (contrast.card, int(np.sign(row[numbers[0]]))))
        return found


def _rest(arm: Arm, varied: frozenset[str]) -> frozenset:
    return frozenset(item for item in _settings(arm.config).items() if item[0] not in varied)


def _at(arm: Arm, paths: Sequence[str]) -> tuple[str, ...]:
    settings = _settings(arm.config)
    return tuple(settings.get(path, "") for path in paths)


def _joined(
    studies: Sequence[Study], several: Iterable[str]
) -> tuple[list[tuple[str, ...]], dict[tuple[str, ...], set[tuple[str, ...]]], set[TrialConfig]]:
    """Components: paths that a contrast changes together, and each of `several` by itself. Composites, the largest
    first: the paths, with their values, of two arms whose contrast changes more than `JOINED` of them. Configurations
    of means over other cards, in which every component counts for itself."""
    contrasts, combined = [], set[TrialConfig]()
    for study in studies:
        for contrast in study.contrasts:
            arms = [study.arm(arm) for arm in (*contrast.with_it, *contrast.without)]
            contrasts.append((len(arms) == 2, _changed(study, contrast), arms))
            combined.update(arm.config for arm in arms if len(arms) > 2)
    components: list[set[str]] = []
    composites: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    contrasts.sort(key=lambda each: (each[0], len(each[1]), sorted(each[1])))
    for of_two, paths, arms in (*contrasts, *((False, {path}, []) for path in several)):
        touching = [each for each in components if each & paths]
        if of_two and len(touching) > JOINED:
            whole = tuple(sorted(paths))
            composites.setdefault(whole, set()).update(_at(arm, whole) for arm in arms)
        else:
            components = [each for each in components if not each & paths] + [set(paths).union(*touching)]
    return sorted(tuple(sorted(each)) for each in components if each), dict(reversed(composites.items())), combined


def run_sums(run: Run, metric: str, evaluation: EvaluationRef) -> tuple[np.ndarray, np.ndarray] | None:
    """(games,) sums of a metric and positions; None where the trial has none. Behind what the last progress line says
    are no games: every "game" is equal and adds no noise."""
    source, trial = METRICS[metric].source, run.trial
    if source == "curve":
        value = curve_value(trial.curve[-1], metric) if trial.curve else None
        return None if value is None else (np.full(2, float(value)), np.ones(2))
    found = run.evaluations.get(evaluation)
    if found is None:
        return None
    if source == "gap":
        return _error_gap(run, evaluation)
    sums = found.sums.of(metric)
    return None if sums is None else (sums.sums, sums.counts)


def _error_gap(run: Run, evaluation: EvaluationRef) -> tuple[np.ndarray, np.ndarray] | None:
    """Squared error over all output planes on an evaluation, less that in training since the last progress line but
    one; None for nets that minimise anything else. Games stand behind the former alone."""
    training, several = run.arm.config.training, run.arm.config.net.residual.output_planes > 1
    alone = training.loss_from == 0 and not any(training.auxiliary.model_dump().values())
    if training.loss != "squared_error" or training.plane_weights != "mean" or not alone:
        return None
    tested = run_sums(run, "squared_error_planes" if several else "squared_error", evaluation)
    trained = run_sums(run, "train_loss", evaluation)
    return None if tested is None or trained is None else (tested[0] - trained[0][0] * tested[1], tested[1])


class Groups:
    """The groups of a workspace's studies, each made and fitted once."""

    def __init__(self, studies: Sequence[Study], load: Callable[[Study], StudyResults]):
        """`load`: the results of a study; one whose files cannot be read adds nothing."""
        self._load, self._alike = load, defaultdict[tuple, list[Study]](list)
        for study in studies:
            if study.evaluations and study.arms:
                self._alike[conditions(study)].append(study)
        self._members: dict[tuple, tuple[list[StudyResults], frozenset[str]]] = {}
        self._groups: dict[tuple, Group] = {}

    def of(self, study: Study) -> Group:
        """The group of a study, which need not be one of these: then it has no run of its own."""
        key = conditions(study)
        if key not in self._members:
            known = list(self._loaded(self._alike[key]))
            self._members[key] = known, _varied([each.study for each in known])
        members, varied = self._members[key]
        varied |= _varied([study])
        rests = frozenset(_rest(arm, varied) for arm in study.arms)
        if (key, varied, rests) not in self._groups:
            self._groups[key, varied, rests] = Group(members, rests, varied)
        return self._groups[key, varied, rests]

    def _loaded(self, studies: Iterable[Study]) -> Iterator[StudyResults]:
        for study in studies:
            with suppress(UserError):  # the study's own report says what is wrong with its files
                yield self._load(study)


def own_group(results: StudyResults) -> Group:
    """Of one study's runs alone."""
    varied = _varied([results.study])
    return Group([results], frozenset(_rest(arm, varied) for arm in results.study.arms), varied)


def _varied(studies: Iterable[Study]) -> frozenset[str]:
    """Paths that any contrast changes."""
    return frozenset(path for each in studies for contrast in each.contrasts for path in _changed(each, contrast))
