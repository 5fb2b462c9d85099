"""The page of one study: its summary, effects, curves, tables and notes."""

from collections.abc import Iterable, Mapping

from gonn_core.errors import printable
from gonn_core.metrics import METRICS, SUMMARISED
from reports.cache import Picture
from reports.claims.findings import ClaimFinding, claim_ends, same_conditions
from reports.html.page import study_curves
from reports.page import ForestRow, Page, Section, Summary, command_text, escaped, reading
from reports.results.compare import OnPage
from reports.results.group import MAIN
from reports.screen.interactions import study_command
from reports.stats.estimates import Effect
from reports.stats.verdicts import EffectVerdict, Verdict, counted
from reports.study.report import Report, unfinished_notes
from reports.study.tables import ReportTables
from reports.tables import formats
from reports.tables.formats import about, describe, verdict_text

FIGURE = "Loss over samples, and differences between the arms"
SCREEN = "Effects and interactions against noise, and pairs of enhancements"
_RUNS = ("arm", "seed", "trial", "state", "weights")
_CURVES = (
    "Curves are of validation games, effects of test games, as in the tables. They need not agree within their "
    "intervals: the games differ, and the band of a curve is over seeds only."
)
_FILES = (
    "Next to this file: report.html and report.md, the same page; report.json, all numbers unrounded; manifest.json, "
    "the trials, evaluations and weights behind every cell; one CSV file per table."
)


def study_page(report: Report, tables: ReportTables, pictures: Mapping[str, bytes]) -> Page:
    """The page. `pictures`: the files of the study's figures by name."""
    study, trials = report.study, tables.table("trials")
    curves = study_curves(report.results, report.nats)
    drawn = [Picture(name, title, lambda: pictures) for name, title in (("figure", FIGURE), ("screen", SCREEN))]
    drawn = [picture for picture in drawn if f"{picture.name}.png" in pictures]
    effects = tuple(table for table in tables.printed if table.name == "effects")
    others = tuple(table for table in tables.printed if table.name != "effects")
    said = tuple(
        f"{text}: {command_text(each.command)}" if each.command else text
        for each, text in zip(report.said, escaped(each.text for each in report.said), strict=True)
    )
    scores = [column.key for column in trials.columns if "-" in column.key][: len(SUMMARISED)]
    sections = (
        Section("Enhancements", tables=effects, forest=tuple(study_forest(report))),
        Section("Curves", (_CURVES,) * bool(drawn or curves), tuple(drawn[:1]), curves=(curves,) if curves else ()),
        Section("What an effect is here, and what to do next", said, tuple(drawn[1:]) if said else (), points=True),
        Section("Tables", tables=others),
        Section("More metrics", tables=tables.folded, small=True),
        Section("Notes", escaped(report.notes), points=True, small=True),
        Section("Trials", tables=(trials.only(*_RUNS, *scores),), small=True),
        Section("How to read this", how_to_read(report), points=True, small=True),
    )
    return Page(
        title=study.title,
        about=f"Study {study.id}: {study.design} on {study.base}, {study.budget_label} budget",
        summary=study_summary(report),
        sections=tuple(section for section in sections if section.sentences or section.pictures or section.tables),
        files=_FILES,
        coverage=(study.coverage,),
    )


def how_to_read(report: Report, of_several: bool = False) -> tuple[str, ...]:
    """How to read the numbers, with the study's thresholds. of_several: on a page of further studies too."""
    study = report.study
    values = {"study": study, "thresholds": study.thresholds, "of_several": of_several}
    return reading(**values, percent=lambda share: f"{100 * share:g} %")


def study_summary(report: Report) -> Summary:
    """The box at the top."""
    study = report.study
    return Summary(
        headline=study_headline(report),
        sentences=report.sentences,
        claims=claims_counted(report.findings),
        trained=(
            trained_sentence([report]),
            f"Tested on {describe(study.evaluations[MAIN])}.",
            f"Games: {study.coverage}.",
        ),
        unfinished=tuple(unfinished_notes(report.results)),
        command=study_command(study),
    )


def study_headline(report: Report) -> str:
    """`9 enhancements: 2 help, 7 not shown`."""
    verdicts = report.verdicts
    found: list[Verdict] = [verdicts.get(each.card, EffectVerdict.NO_RESULT) for each in report.study.contrasts]
    if not found:
        return f"{printable(report.study.title, 120)}, nothing is compared"
    if len(found) == 1:
        return f"1 enhancement: {found[0]}"
    return f"{len(found)} enhancements: {counted(found)}"


def claims_counted(findings: Iterable[ClaimFinding]) -> tuple[str, ...]:
    """Verdicts on claims about effects, and separately on counts of parameters; empty without claims."""
    findings = list(findings)
    counts = [each.verdict for each in findings if METRICS[each.claim.metric].source == "net"]
    effects = [each.verdict for each in findings if METRICS[each.claim.metric].source != "net"]
    lines = []
    if effects:
        lines.append(f"{len(effects)} claim{'s' * (len(effects) != 1)} on effects: {counted(effects)}.")
    if counts:
        lines.append(f"Counts of parameters, which say nothing about effects: {counted(counts)}.")
    return tuple(lines)


def trained_sentence(reports: list[Report]) -> str:
    """`104 trials in 15 studies, 9.8M samples, 33 CPU hours`, and the scale; a trial that studies share counts once."""
    trials = {trial.id: trial.result for report in reports for trial in report.results.trials}
    done = [result for result in trials.values() if result is not None]
    samples = sum(result["samples"] for result in done)
    hours = sum(result.get("cpu_seconds", 0) for result in done) / 3600
    some = f"{len(done)}" if len(done) == len(trials) else f"{len(done)} of {len(trials)}"
    studies = f" in {len(reports)} studies" if len(reports) > 1 else ""
    time = f"{hours:.3g} CPU hours" if hours >= 1 else f"{60 * hours:.0f} CPU minutes"
    sizes, lengths = (sorted({result[name] for result in done}) for name in ("parameters", "samples"))
    scale = f" Scale: nets of {_span(sizes)} parameters, {_span(lengths)} samples each." if done else ""
    return f"Trained: {some} trial{'s' * (len(trials) != 1)}{studies}, {about(samples)} samples, {time}.{scale}"


def _span(ascending: list[int]) -> str:
    return " to ".join(f"{number:,}" for number in dict.fromkeys((ascending[0], ascending[-1])))


def study_forest(report: Report) -> list[ForestRow]:
    """A row per effect on the loss."""
    return [
        forest_row(report, contrast.card, report.study.base, effect, report.nats.verdicts[contrast.card])
        for contrast in report.study.contrasts
        if (effect := report.nats.effect(contrast.card)) is not None
    ]


def forest_row(
    report: Report, card: str, group: str, effect: Effect, verdict: EffectVerdict, page: OnPage | None = None
) -> ForestRow:
    """A row of a forest plot. page: the effect on a page over several studies."""
    claims = tuple(
        (*claim_ends(finding), same_conditions(finding))
        for finding in report.findings
        if (finding.card, finding.claim.metric, finding.claim.quantity) == (card, "nats", "difference")
        and finding.claim.bounds is not None
    )
    change = formats.with_interval(effect.delta, effect.interval95)
    runs = f"{effect.runs[0]} runs with it, {effect.runs[1]} without"
    tip = f"{card} on {report.study.base}: Δ {change} test nats, {verdict_text(verdict, effect)}; {runs}"
    return ForestRow(
        card, group, effect.delta, effect.interval95, verdict, page.could_show if page else None, claims, tip
    )
