"""What the trials of a study left behind, read from their directories alone.

A trial that is missing, running or failed is carried as such: a table of an unfinished study says "3 of 4 seeds", and
a caller that needs numbers gets them from the trials that have them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from ablations.study import EvaluationRef, Study, TrialRef
from gonn_core.config import TrialConfig
from gonn_core.errors import Damaged, InputError, printable, printable_tree
from gonn_core.evaluation.metrics import METRIC_SET, Reading
from gonn_core.evaluation.stored import Evaluation, Sums, pack_sums, unpack_sums, whole_evaluations
from gonn_core.files.json_files import read_mapping, tell
from gonn_core.play.match.record import Match
from gonn_core.trial.directory import NetFingerprint, State, TrialDirectory, net_code, net_now, other_net
from reports.cache import cached, code, digest, file_stamp
from reports.stats.estimates import ArmResult
from reports.stats.verdicts import EffectVerdict

SPEED_FILE = "speed.json"
LOOKS_FILE = "looks.json"
MEASURE_AGAIN = "speeds are left out; `gonn ablate` measures them again"
Decision = Literal["shown", "futile", "continues", "not shown"]
OF_RUNS = ("factorial", "screen")
"""Designs in which every run counts for many effects."""
IN_MEMORY = 1024
"""Evaluations whose sums stay in memory: some 40 kB each for 200 games, all of a study of 1,000 trials."""
UNRECORDED = "a CPU that was not recorded"


@dataclass(frozen=True)
class SummedEvaluation(Evaluation):
    """An evaluation whose sums by game are cached in a folder (None: not cached): every report needs the same sums of
    tens of thousands of positions.

    The cache key is the checksum of the arrays, or for an evaluation without one the size and mtime of its file. The
    file is checked before (`Evaluation.checked`).
    """

    cache: Path | None = field(default=None, repr=False)

    @property
    def sums(self) -> Sums:
        """As `Evaluation.sums`."""
        stamp = None
        with suppress(OSError):  # a file that is gone is reported where it is read
            stamp = file_stamp(self.path)
        return _read_sums(self.path, stamp, self._digest, self.cache)


@dataclass(frozen=True)
class TrialResult:
    """One trial of a study as it stands now."""

    ref: TrialRef
    folder: Path
    state: State
    result: dict | None
    """result.json of a trial that is done."""
    failure: str | None
    """The error of the last attempt, in one line, of a trial that failed; what is damaged of one."""
    session: Mapping
    """How it was last run: device, threads, commit, versions; empty for a trial that never started."""
    curve: tuple[dict, ...]
    """Lines of metrics.jsonl."""
    evaluations: tuple[SummedEvaluation | None, ...]
    """For each evaluation of the study, that of the final weights; None where it is missing."""
    machines: tuple[str, ...] = ()
    """Kinds of machine that its attempts ran on (`machines_of`)."""

    @property
    def id(self) -> str:
        return self.ref.trial

    @property
    def arm(self) -> str:
        return self.ref.arm

    @property
    def seed(self) -> int:
        return self.ref.seed


@dataclass(frozen=True)
class CardLook:
    """A card at one look: its effect on the loss, and q of its repeated p over the cards of the study."""

    decision: Decision
    delta: float
    q: float | None

    @property
    def ends(self) -> bool:
        """Whether its arm is trained no further."""
        return self.decision != "continues"


@dataclass(frozen=True)
class Look:
    """One look that was taken; `cards`: those that were not decided before."""

    seeds: int
    cards: Mapping[str, CardLook]


@dataclass(frozen=True)
class ArmSpeed:
    """Training speed of an arm alone: median samples per second; `load`: the machine's load average just after;
    of_cpu_time: on a CPU, of the process's own time; else of wall time."""

    samples_per_s: float
    device: str
    load: float | None = None
    of_cpu_time: bool = False
    compile: str = "none"


@dataclass(frozen=True)
class StudyResults:
    """A study and its trials, in the order of the study file."""

    study: Study
    trials: tuple[TrialResult, ...]
    speeds: Mapping[str, ArmSpeed]
    """Arm -> its speed measured alone; empty when it was not measured."""
    look_counts: Mapping[str, int]
    """Command -> how many states of the test results it was the first to show."""
    played: tuple[Match, ...] = ()
    """Matches of the workspace; those between arms of this study are found among the others by their players."""
    cache: Path | None = None
    """Folder of what reports keep of their work (see reports.cache); None: nothing is kept."""
    looks: tuple[Look, ...] = ()
    """Looks taken as planned; `trials` are those that are due after them."""

    def of_arm(self, arm: str) -> tuple[TrialResult, ...]:
        """Trials of an arm, by the order of the study's seeds."""
        return tuple(trial for trial in self.trials if trial.arm == arm)

    def evaluated(self, arm: str, evaluation: int) -> dict[int, TrialResult]:
        """Seed -> trial of an arm that has the study's evaluation of that number."""
        return {trial.seed: trial for trial in self.of_arm(arm) if trial.evaluations[evaluation] is not None}

    @property
    def unfinished(self) -> tuple[TrialResult, ...]:
        """Trials that lack a result or an evaluation."""
        return tuple(trial for trial in self.trials if trial.result is None or None in trial.evaluations)

    @property
    def finished(self) -> int:
        """How many trials have all of that."""
        return len(self.trials) - len(self.unfinished)

    @property
    def unjudged(self) -> EffectVerdict | None:
        """What is shown in place of every verdict: of a budget without results; while trials are to come, but for those
        of a later look. A trial that failed keeps no verdict back."""
        if not self.study.results:
            return EffectVerdict.NOT_A_RESULT
        to_come = not self.looks and any(trial.failure is None for trial in self.unfinished)
        return EffectVerdict.UNFINISHED if to_come else None

    def due_seeds(self, *arms: str) -> int:
        """How many seeds all of these arms are to have by now; any of them, where effects are estimated from runs."""
        seeds = [{trial.seed for trial in self.of_arm(arm)} for arm in arms]
        return len(set.union(*seeds) if self.study.design in OF_RUNS else set.intersection(*seeds))

    def first(self, seeds: int) -> "StudyResults":
        """These results on the study's first so many seeds."""
        kept = set(self.study.seeds[:seeds])
        return replace(self, trials=tuple(trial for trial in self.trials if trial.seed in kept))

    def arm_result(self, arm: str, evaluation: int, metric: str) -> ArmResult | None:
        """A metric of gonn_core.evaluation.metrics summed by game, of the seeds of an arm that have this evaluation.

        None when none has, or when an evaluation is older than what the metric is made from.
        """
        trials = self.evaluated(arm, evaluation)
        return arm_result(tuple(trials), [trial.evaluations[evaluation] for trial in trials.values()], metric)


def arm_result(seeds: tuple[int, ...], evaluations: Sequence[SummedEvaluation | None], metric: str) -> ArmResult | None:
    """A metric summed by game, of the evaluations of an arm by seed; None as of `StudyResults.arm_result`."""
    sums = [None if evaluation is None else evaluation.sums.of(metric) for evaluation in evaluations]
    known = [each for each in sums if each is not None]
    if not known or len(known) < len(sums):
        return None
    return ArmResult(seeds, np.stack([each.sums for each in known]), known[0].counts)


def read_results(
    study: Study, runs_folder: Path | str, study_folder: Path | str | None = None, cache: Path | None = None
) -> StudyResults:
    """The trials of `study` below `runs_folder`; speeds and counts of looks from `study_folder`, where study.json lies;
    `cache`: folder of what reports keep of their work.

    A trial that is damaged is carried as such, without its result or the evaluation that is. Raises InputError for a
    file that is of another version or does not belong to the study, Damaged for a file of the study itself.
    """
    folder = None if study_folder is None else Path(study_folder)
    trials = tuple(_usable_trial(study, ref, Path(runs_folder) / ref.trial, cache) for ref in study.trials)
    if folder is None:
        return StudyResults(study, trials, {}, {}, cache=cache)
    if any(trial.result for trial in trials) and not (folder / SPEED_FILE).exists():
        tell(Damaged(folder / SPEED_FILE, "it is missing"), MEASURE_AGAIN)
    return StudyResults(study, trials, read_speeds(folder), read_look_counts(folder), cache=cache)


def _usable_trial(study: Study, ref: TrialRef, folder: Path, cache: Path | None) -> TrialResult:
    try:
        return _load_trial(study, ref, folder, cache)
    except Damaged as damage:
        return TrialResult(ref, folder, "damaged", None, str(damage), {}, (), (None,) * len(study.evaluations))


def _load_trial(study: Study, ref: TrialRef, folder: Path, cache: Path | None) -> TrialResult:
    directory = TrialDirectory(folder)
    config, result = directory.config(), directory.result()
    failure = None if result is not None else directory.failure()
    curve = tuple(directory.metrics())

    def net(config: TrialConfig) -> NetFingerprint:
        """`net_now`, cached: it builds the net."""
        parts = config.net, config.features, config.training.auxiliary
        place = cache / f"{digest(parts)}.net" if cache else None
        built = cached(place, (net_code(), parts), lambda: net_now(config).model_dump_json().encode())
        return NetFingerprint.model_validate_json(built)

    if result is not None:
        directory.check_course(curve, result)
        if config is not None and (problem := other_net(config, result, net)):
            raise Damaged(folder, problem)
    evaluations, damages = _evaluations(study, ref, folder, result, cache)
    return TrialResult(
        ref=ref,
        folder=folder,
        state=directory.state(),
        result=result,
        failure=failure["error"] if failure else "; ".join(map(str, damages)) or None,
        session=printable_tree(config["sessions"][-1]) if config and config["sessions"] else {},
        curve=curve,
        evaluations=evaluations,
        machines=machines_of(printable_tree(config["sessions"])) if config else (),
    )


def machines_of(sessions: Sequence[Mapping]) -> tuple[str, ...]:
    """Kinds of machine that a trial's attempts ran on, each once: the accelerator, or the CPU's model and instruction
    sets. Of attempts of version 0.1 the CPU is not recorded."""
    kinds = (
        each.get("processor", UNRECORDED) if each.get("device") == "cpu" else str(each.get("device"))
        for each in sessions
    )
    return tuple(dict.fromkeys(kinds))


def _evaluations(
    study: Study, ref: TrialRef, folder: Path, result: dict | None, cache: Path | None
) -> tuple[tuple[SummedEvaluation | None, ...], list[Damaged]]:
    """For each of the study's, the one of the final weights in which the policy is read as the trial's own
    configuration says; and what is wrong with those that are damaged, which count for nothing."""
    if result is None:
        return (None,) * len(study.evaluations), []
    reading = Reading(**study.arm(ref.arm).config.evaluation.model_dump())
    by_subset = {}
    known, damages = whole_evaluations(folder)
    for evaluation in known:
        summary = evaluation.summary
        if summary["samples"] == result["samples"] and summary["weights"] != result["weights"]:
            raise Damaged(folder / "result.json", f"damaged: its evaluations are of weights {summary['weights']}")
        if (
            summary["weights"] == result["weights"]
            and summary["metric_set"] == METRIC_SET
            and evaluation.reading == reading
        ):
            by_subset[summary["subset"], summary["history"]] = SummedEvaluation(summary, evaluation.path, cache)
    wanted = [_checked(each, by_subset.get((each.subset, each.history))) for each in study.evaluations]
    return tuple(wanted), damages if None in wanted else []


def _checked(reference: EvaluationRef, evaluation: SummedEvaluation | None) -> SummedEvaluation | None:
    if evaluation is None:
        return None
    counts, planned = (evaluation.summary["positions"], evaluation.summary["games"]), reference.size_text
    if counts != (reference.positions, reference.games):
        made = f"{counts[0]:,} positions of {counts[1]:,} games"
        raise InputError(evaluation.path, f"an evaluation of {made} where the study has {planned}")
    if reference.games < 2:
        raise InputError(evaluation.path, "an evaluation on one game, without noise between games; use more positions")
    return evaluation


@lru_cache(IN_MEMORY)
def _read_sums(path: Path, stamp: tuple[int, int] | None, digest: str | None, folder: Path | None) -> Sums:
    """Sums of the evaluation in `path`. `stamp`: of that file, so that another one in its place has sums of its own;
    `digest`: of its content, from its summary."""
    evaluation = Evaluation({} if digest is None else {"arrays": digest, "sums": digest}, path)
    if folder is None or evaluation.compact:
        return evaluation.sums
    place = folder / f"{path.parent.parent.name}-{path.stem}.sums"
    inputs = code("gonn_core.evaluation", "reports.results.study_results"), digest or stamp
    return unpack_sums(cached(place, inputs, lambda: pack_sums(evaluation.sums)))


def curve_value(line: Mapping[str, float], metric: str) -> float | None:
    """A metric of a progress line; None where the line has none, as those of earlier versions.

    Lines have `train_loss` only where what is minimised is not the cross-entropy of the next move, `train_nats`.
    """
    if metric == "train_loss" and metric not in line:
        return line.get("train_nats")
    return line.get(metric)


def read_speeds(study_folder: Path) -> dict[str, ArmSpeed]:
    """Arm -> speed; empty when it was not measured, and where the file is damaged, which is logged. Raises InputError
    for an entry without a speed."""
    path = study_folder / SPEED_FILE
    speeds = {}
    for arm, entry in known_speeds(path).items():
        try:
            rate, device, load = float(entry["samples_per_s"]), str(entry["device"]), entry.get("load")
            of_cpu_time, compiled = device == "cpu" and bool(entry.get("turns")), str(entry.get("compile", "none"))
            speeds[arm] = ArmSpeed(rate, device, None if load is None else float(load), of_cpu_time, compiled)
            if not (math.isfinite(rate) and rate > 0):
                raise ValueError
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError(path, f"no speed of arm {printable(arm, 60)}; remove the file to measure again") from None
    return speeds


def known_speeds(path: Path) -> dict:
    """The content of the file; empty where there is none, or a damaged one."""
    try:
        return read_mapping(path)
    except Damaged as damage:
        tell(damage, MEASURE_AGAIN)
        return {}


def read_look_counts(study_folder: Path) -> dict[str, int]:
    """Command -> how many different states of test results it was the first to show. Raises InputError for a file
    without a mapping."""
    commands = [str(command) for command in read_mapping(study_folder / LOOKS_FILE).values()]
    return dict(sorted(Counter(commands).items()))
