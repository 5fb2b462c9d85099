"""What MLflow is told of a study's report: effects as numbers, verdicts as tags, and the report itself."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gonn_core.errors import printable
from gonn_core.metrics import SUMMARISED
from orchestration.tracking.names import DELTA, TEST, Q
from orchestration.tracking.records import StudyReport
from reports.results.group import MAIN
from reports.results.study_results import StudyResults
from reports.study.footnotes import warnings
from reports.study.render import ReportFiles
from reports.study.report import Report
from reports.tables.formats import interval, q_value, signed
from reports.tables.verdicts import verdict_text

PAGE = "report.html"


def tracked_report(files: ReportFiles) -> StudyReport:
    """The report of a study as MLflow shows it."""
    report = files.report
    return StudyReport(
        note=_note(report),
        files=_files(files),
        tags=_tags(report),
        told={"verdict": _summary(report)},
        numbers=dict(_numbers(report)),
        trials={trial: numbers for trial, numbers in _trials(report.results)},
    )


def plain(text: str) -> str:
    """A sentence as markdown that reads the same where markdown is not rendered: only what would be markup is
    escaped."""
    return re.sub(r"([\\`*<>|#~])", r"\\\1", printable(text, 400))


def _note(report: Report) -> str:
    """What was found, after what to know before, then the effects as a table."""
    sentences = "\n\n".join(plain(sentence) for sentence in (*warnings(report.results), *report.sentences))
    rows = [
        f"| {card} | {signed(effect.delta)} | {interval(effect.interval95)} | {q_value(effect.q)} | {plain(verdict)} |"
        for card, effect, verdict in _effects(report)
    ]
    head = "| enhancement | Δ test nats | 95 % interval | q | verdict |\n|---|---:|---|---|---|\n"
    table = f"\n\n{head}" + "\n".join(rows) if rows else ""
    return f'{sentences}{table}\n\nThe whole report is among the artifacts of the run "{plain(report.study.title)}".'


def _effects(report: Report) -> Iterator[tuple]:
    """(card, effect on the loss over test games, verdict in words) of every card that has results."""
    nats = report.nats
    for contrast in report.study.contrasts:
        effect, verdict = nats.effect(contrast.card), nats.verdict(contrast.card)
        if effect is not None and verdict is not None:
            yield contrast.card, effect, verdict_text(verdict, effect)


def _summary(report: Report) -> str:
    """`helps`; of several enhancements `2 helps, 7 not shown`."""
    if not report.verdicts:
        return "none yet" if report.study.contrasts else "none: a control alone"
    counts = Counter(map(str, report.verdicts.values()))
    return next(iter(counts)) if len(report.verdicts) == 1 else ", ".join(f"{n} {each}" for each, n in counts.items())


def _tags(report: Report) -> dict[str, str]:
    """Verdict of every card, and of every claim."""
    tags = {f"verdict.{card}": verdict for card, _, verdict in _effects(report)}
    return tags | {f"claim.{each.card}.{each.claim.id}": str(each.measured.verdict) for each in report.findings}


def _numbers(report: Report) -> Iterator[tuple[str, float]]:
    """Δ of the loss over test games, the ends of its interval and q of every card, as metrics that can be sorted and
    drawn over studies."""
    for card, effect, _ in _effects(report):
        yield f"{DELTA}.{card}", effect.delta
        if effect.interval95:
            yield f"{DELTA}_low.{card}", effect.interval95.low
            yield f"{DELTA}_high.{card}", effect.interval95.high
        if effect.q is not None:
            yield f"{Q}.{card}", effect.q


def _trials(results: StudyResults) -> Iterator[tuple[str, dict[str, float]]]:
    """What the study's table says of each trial that is done; and where its arm differs from an earlier one by one
    enhancement, the loss with it minus the loss without it at its seed."""
    study = results.study
    if not study.evaluations or study.evaluations[MAIN].split != "test":
        return
    place = {arm.id: number for number, arm in enumerate(study.arms)}
    sides = [(*contrast.with_it, *contrast.without) for contrast in study.contrasts if study.pairing == "by_position"]
    compared = {max(pair, key=place.__getitem__): pair for pair in sides if len(pair) == 2}
    for arm in study.arms:
        for seed, trial in results.evaluated(arm.id, MAIN).items():
            numbers = {TEST[metric]: _level(trial, metric) for metric in SUMMARISED}
            pair = [results.evaluated(each, MAIN).get(seed) for each in compared.get(arm.id, ())]
            if pair and None not in pair:
                numbers[DELTA] = _level(pair[0], "nats") - _level(pair[1], "nats")
            yield trial.id, numbers


def _level(trial, metric: str) -> float:
    return float(trial.evaluations[MAIN].summary[metric])


def _files(files: ReportFiles) -> dict[str, Path]:
    """The report as one page where there is one, else as markdown; its figures and tables."""
    page = files.folder / PAGE
    shown = {PAGE: page} if page.is_file() else {files.markdown.name: files.markdown}
    figures = {f"figures/{path.name}": path for path in files.figures}
    return shown | figures | {f"tables/{path.name}": path for path in files.tables}
