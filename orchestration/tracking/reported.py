"""What MLflow shows of the reports of studies and searches."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from ablations.search import Search, Tried
from ablations.study import Contrast
from gonn_core.errors import printable
from orchestration.tracking.records import DELTA, TEST, ArmReport, StudyReport
from reports.results.group import MAIN
from reports.results.study_results import StudyResults, TrialResult
from reports.search.page import SearchFiles, notes, sentences
from reports.stats.estimates import Effect
from reports.study.footnotes import warnings
from reports.study.render import ReportFiles
from reports.study.report import Report
from reports.tables.formats import interval, q_value, signed
from reports.tables.verdicts import verdict_text

PAGE = "report.html"


def tracked_study(files: ReportFiles) -> StudyReport:
    """The report of a study as MLflow shows it."""
    report = files.report
    tags = {f"verdict.{contrast.card}": verdict for contrast, _, verdict in _effects(report)}
    tags |= {f"claim.{finding.card}.{finding.claim.id}": str(finding.measured.verdict) for finding in report.findings}
    return StudyReport(
        note=_note(report),
        verdict=_summary(report),
        files=_files(files),
        tags=tags,
        metrics={
            f"{name}.{contrast.card}": value
            for contrast, effect, _ in _effects(report)
            for name, value in _effect_metrics(effect).items()
        },
        arms=_arms(report),
        trials=dict(_trials(report.results)),
    )


def plain(text: str) -> str:
    """A sentence as markdown that reads the same where markdown is not rendered: only markup is escaped."""
    return re.sub(r"([\\`*<>|#~])", r"\\\1", printable(text, 400))


def _note(report: Report) -> str:
    """Warnings, what was found, then the effects as a table."""
    text = "\n\n".join(plain(sentence) for sentence in (*warnings(report.results), *report.sentences))
    rows = [
        f"| {contrast.card} | {signed(effect.delta)} | {interval(effect.interval95)} | {q_value(effect.q)} "
        f"| {plain(verdict)} |"
        for contrast, effect, verdict in _effects(report)
    ]
    head = "| enhancement | Δ test nats | 95 % interval | q | verdict |\n|---|---:|---|---|---|\n"
    table = f"\n\n{head}" + "\n".join(rows) if rows else ""
    return f'{text}{table}\n\nThe whole report is among the artifacts of the run "{plain(report.study.title)}".'


def _effects(report: Report) -> Iterator[tuple[Contrast, Effect, str]]:
    """Effects on the loss over the test games that have results, with their verdicts in words."""
    for contrast in report.study.contrasts:
        effect, verdict = report.nats.effect(contrast.card), report.nats.verdict(contrast.card)
        if effect is not None and verdict is not None:
            yield contrast, effect, verdict_text(verdict, effect)


def _effect_metrics(effect: Effect) -> dict[str, float]:
    """Δ, the ends of its 95 % interval and q, as far as there are any."""
    ends = effect.interval95
    metrics = {DELTA: effect.delta}
    metrics |= {f"{DELTA}_low": ends.low, f"{DELTA}_high": ends.high} if ends else {}
    return metrics if effect.q is None else {**metrics, "q": effect.q}


def _summary(report: Report) -> str:
    """`helps`; of several enhancements `2 helps, 7 not shown`."""
    if not report.verdicts:
        return "none yet" if report.study.contrasts else "none: a control alone"
    counts = Counter(map(str, report.verdicts.values()))
    if len(report.verdicts) == 1:
        return next(iter(counts))
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())


def _compared(results: StudyResults) -> dict[str, Contrast]:
    """Arm id -> the contrast that it has with one arm before it; designs that vary many enhancements at once have
    none."""
    place = {arm.id: number for number, arm in enumerate(results.study.arms)}
    pairs = [c for c in results.study.contrasts if len(c.with_it) == len(c.without) == 1]
    return {max((*pair.with_it, *pair.without), key=place.__getitem__): pair for pair in pairs}


def _arms(report: Report) -> dict[str, ArmReport]:
    """Arm's label -> means over its seeds, the number of seeds, and the effect of the enhancement by which it differs
    from the arm that it is compared with."""
    compared = _compared(report.results)
    effects = {contrast.card: (effect, verdict) for contrast, effect, verdict in _effects(report)}
    arms = {}
    for arm in report.study.arms:
        trials = report.results.evaluated(arm.id, MAIN).values()
        metrics: dict[str, float] = {"seeds": len(trials)}
        if trials and _on_test(report.results):
            metrics |= {
                name: sum(_level(trial, metric) for trial in trials) / len(trials) for metric, name in TEST.items()
            }
        tags = {}
        if arm.id in compared:
            tags["enhancement"] = compared[arm.id].card
            if compared[arm.id].card in effects:
                effect, tags["verdict"] = effects[compared[arm.id].card]
                metrics |= _effect_metrics(effect)
        arms[arm.label] = ArmReport(metrics, tags)
    return arms


def _trials(results: StudyResults) -> Iterator[tuple[str, dict[str, float]]]:
    """Trial id -> its metrics over the test games and, where its arm is compared with one other at the same seeds, the
    loss with the enhancement minus the loss without it at its seed."""
    if not _on_test(results):
        return
    paired = _compared(results) if results.study.pairing == "by_position" else {}
    for arm in results.study.arms:
        for seed, trial in results.evaluated(arm.id, MAIN).items():
            metrics = {name: _level(trial, metric) for metric, name in TEST.items()}
            if arm.id in paired:
                sides = (*paired[arm.id].with_it, *paired[arm.id].without)
                on, off = (results.evaluated(side, MAIN).get(seed) for side in sides)
                if on is not None and off is not None:
                    metrics[DELTA] = _level(on, "nats") - _level(off, "nats")
            yield trial.id, metrics


def _on_test(results: StudyResults) -> bool:
    return bool(results.study.evaluations) and results.study.evaluations[MAIN].split == "test"


def _level(trial: TrialResult, metric: str) -> float:
    evaluation = trial.evaluations[MAIN]
    assert evaluation is not None, "the trial is evaluated"
    return float(evaluation.summary[metric])


def _files(files: ReportFiles) -> dict[str, Path]:
    """The report as one page where there is one, else as markdown; its figures and tables."""
    page = files.folder / PAGE
    shown = {PAGE: page} if page.is_file() else {files.markdown.name: files.markdown}
    figures = {f"figures/{path.name}": path for path in files.figures}
    return shown | figures | {f"tables/{path.name}": path for path in files.tables}


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
        points=tuple(_best_so_far(report.search, report.tried)),
    )


def _best_so_far(search: Search, tried: Sequence[Tried]) -> Iterator[tuple[int, int, dict[str, float]]]:
    """Best loss and its rate after each trial, in the order of asking, up to the first that is running: what follows
    may still change it."""
    began = round(1000 * datetime.fromisoformat(search.created).timestamp())
    best: tuple[float, float] | None = None
    for trial in tried:
        if trial.state == "running":
            return
        if trial.nats is not None:
            best = min(best or (trial.nats, trial.rate), (trial.nats, trial.rate), key=lambda pair: pair[0])
        if best is not None:
            metrics = {"search/best_validation_nats": best[0], "search/best_rate": best[1]}
            yield trial.number + 1, began + trial.number, metrics
