"""What MLflow shows of the reports of studies and searches."""

import re
from collections import Counter

from ablations.study import Contrast
from gonn_core.errors import printable
from orchestration.tracking.records import DELTA, TEST, ArmReport, StudyReport
from reports.results.group import MAIN
from reports.results.study_results import StudyResults, TrialResult
from reports.search.page import SearchFiles, notes, sentences
from reports.stats.estimates import Effect
from reports.study.render import ReportFiles
from reports.study.report import Report, warnings
from reports.tables.formats import interval, q_value, signed, verdict_text

_HEAD = "\n\n| enhancement | Δ test nats | 95 % interval | q | verdict |\n|---|---:|---|---|---|\n"


def tracked_study(files: ReportFiles) -> StudyReport:
    """The report of a study as MLflow shows it."""
    report = files.report
    effects = _effects(report)
    tags = {f"verdict.{card}": verdict for card, (_, verdict) in effects.items()}
    tags |= {f"claim.{finding.card}.{finding.claim.id}": str(finding.measured.verdict) for finding in report.findings}
    metrics = {
        f"{name}.{card}": value for card, (effect, _) in effects.items() for name, value in _numbers(effect).items()
    }
    note = "\n\n".join(plain(sentence) for sentence in (*warnings(report.results), *report.sentences))
    note += _HEAD * bool(effects) + "\n".join(
        f"| {card} | {signed(effect.delta)} | {interval(effect.interval95)} | {q_value(effect.q)} | {plain(verdict)} |"
        for card, (effect, verdict) in effects.items()
    )
    shown = {files.html.name: files.html}
    shown |= {f"figures/{path.name}": path for path in files.figures}
    shown |= {f"tables/{path.name}": path for path in files.tables}
    return StudyReport(
        note=f'{note}\n\nThe whole report is among the artifacts of the run "{plain(report.study.title)}".',
        verdict=_summary(report),
        files=shown,
        tags=tags,
        metrics=metrics,
        arms=_arms(report, effects),
        trials=_trials(report.results),
    )


def plain(text: str) -> str:
    """A sentence as markdown that reads the same where markdown is not rendered: only markup is escaped."""
    return re.sub(r"([\\`*<>|#~])", r"\\\1", printable(text, 400))


def _effects(report: Report) -> dict[str, tuple[Effect, str]]:
    """Card -> effect on the loss over the test games and its verdict in words, where there are results."""
    effects = {}
    for contrast in report.study.contrasts:
        effect, verdict = report.nats.effect(contrast.card), report.nats.verdict(contrast.card)
        if effect is not None and verdict is not None:
            effects[contrast.card] = effect, verdict_text(verdict, effect)
    return effects


def _numbers(effect: Effect) -> dict[str, float]:
    """Δ, the ends of its 95 % interval and q, as far as there are any."""
    ends = effect.interval95
    metrics = {DELTA: effect.delta}
    metrics |= {f"{DELTA}_low": ends.low, f"{DELTA}_high": ends.high} if ends else {}
    return metrics if effect.q is None else {**metrics, "q": effect.q}


def _summary(report: Report) -> str:
    """`helps`; of several enhancements `2 helps, 7 not shown`."""
    counts = Counter(map(str, report.verdicts.values()))
    if not counts:
        return "none yet" if report.study.contrasts else "none: a control alone"
    if len(report.verdicts) == 1:
        return next(iter(counts))
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())


def _compared(results: StudyResults) -> dict[str, Contrast]:
    """Arm id -> the contrast that it has with one arm before it; designs that vary many enhancements at once have
    none."""
    place = {arm.id: number for number, arm in enumerate(results.study.arms)}
    pairs = [c for c in results.study.contrasts if len(c.with_it) == len(c.without) == 1]
    return {max((*pair.with_it, *pair.without), key=place.__getitem__): pair for pair in pairs}


def _arms(report: Report, effects: dict[str, tuple[Effect, str]]) -> dict[str, ArmReport]:
    """Arm's label -> means over its seeds, the number of seeds, and the effect of the enhancement by which it differs
    from the arm that it is compared with."""
    compared = _compared(report.results)
    arms = {}
    for arm in report.study.arms:
        levels = [_levels(trial) for trial in report.results.evaluated(arm.id, MAIN).values()]
        metrics: dict[str, float] = {"seeds": len(levels)}
        if levels and _on_test(report.results):
            metrics |= {name: sum(level[name] for level in levels) / len(levels) for name in TEST.values()}
        tags = {}
        if arm.id in compared:
            tags["enhancement"] = compared[arm.id].card
            if compared[arm.id].card in effects:
                effect, tags["verdict"] = effects[compared[arm.id].card]
                metrics |= _numbers(effect)
        arms[arm.label] = ArmReport(metrics, tags)
    return arms


def _trials(results: StudyResults) -> dict[str, dict[str, float]]:
    """Trial id -> its metrics over the test games and, where its arm is compared with one other at the same seeds, the
    loss with the enhancement minus the loss without it at its seed."""
    trials: dict[str, dict[str, float]] = {}
    paired = _compared(results) if results.study.pairing == "by_position" else {}
    for arm in results.study.arms if _on_test(results) else ():
        for seed, trial in results.evaluated(arm.id, MAIN).items():
            trials[trial.id] = _levels(trial)
            if arm.id in paired:
                sides = (*paired[arm.id].with_it, *paired[arm.id].without)
                on, off = (results.evaluated(side, MAIN).get(seed) for side in sides)
                if on is not None and off is not None:
                    trials[trial.id][DELTA] = _levels(on)[TEST["nats"]] - _levels(off)[TEST["nats"]]
    return trials


def _on_test(results: StudyResults) -> bool:
    return bool(results.study.evaluations) and results.study.evaluations[MAIN].split == "test"


def _levels(trial: TrialResult) -> dict[str, float]:
    evaluation = trial.evaluations[MAIN]
    assert evaluation is not None, "the trial is evaluated"
    return {name: float(evaluation.summary[metric]) for metric, name in TEST.items()}


def tracked_search(files: SearchFiles) -> StudyReport:
    """The report of a learning-rate search as MLflow shows it: the best rate, its interval and its loss."""
    report = files.report
    tags: dict[str, str] = {}
    metrics: dict[str, float] = {}
    if report.optimum is not None and report.rate is not None:
        nats, best = min((tried.nats, tried.trial) for tried in report.tried if tried.nats is not None)
        tags = {"best_trial": best}
        metrics = {"best_rate": report.rate, "best_validation_nats": report.optimum.nats}
        metrics |= {"best_trial_validation_nats": nats}
        if ends := report.optimum.interval:
            metrics |= {"best_rate_low": ends.low, "best_rate_high": ends.high}
    return StudyReport(
        note="\n\n".join(map(plain, [*sentences(report), *notes(report.search)])),
        verdict=f"best rate {metrics['best_rate']:g}" if metrics else None,
        files={files.markdown.name: files.markdown} | {f"figures/{path.name}": path for path in files.figures},
        tags=tags,
        metrics=metrics,
    )
