"""The page over everything: what helps, every claim, curves, then the sections of the report, folded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ablations.registry import Registry
from reports.book.section import Section
from reports.figures.picture import Picture
from reports.html.cards import cards_table
from reports.html.curves import caption, study_curves
from reports.html.effects import summary_effects
from reports.html.page import html_page, picture_address, prose
from reports.html.summary import book_summary, study_headline
from reports.results.compare import study_thresholds
from reports.results.group import MAIN
from reports.study.report import Report
from reports.summary.lines import SummaryLine, summary_lines
from reports.tables.cells import Table

PICTURES_AT_MOST = 2_000_000
"""Characters of all pictures in the file; the others are named, for they lie beside it."""


@dataclass(frozen=True)
class _Shown:
    """A section as the page has it; pictures: title, address or the name of the file beside the page."""

    title: str
    sentences: tuple[str, ...]
    pictures: tuple[tuple[str, str, bool], ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class _Study:
    """A study in the list of all."""

    report: Report
    headline: str
    samples: int


def book_page(
    sections: Sequence[Section],
    reports: Sequence[Report],
    left_out: Sequence[Report],
    registry: Registry,
    pictures: Mapping[str, Mapping[str, bytes]],
) -> bytes:
    """The file's bytes. `sections`: those of the report, the one on claims among them; `reports`: what they are made
    of; `left_out`: studies that they are not; `pictures`: name -> files of those of `drawn_inside`."""
    lines = summary_lines(reports, registry)
    claims = next(section for section in sections if section.title == "Claims")
    summary = next((table for table in claims.tables if table.name == "summary"), None)
    cards, details = cards_table(registry, claims, lines)
    interesting = _by_interest(reports, lines)
    drawn = [study_curves(report.results, report.analyses[MAIN, "nats"]) for report in interesting]
    curves = [each for each in drawn if each is not None]
    return html_page(
        "book.html.j2",
        {"curves": curves},
        sorted({report.study.coverage for report in reports}),
        summary=book_summary(reports, lines, registry),
        effects=summary_effects(lines, summary, registry) if summary else None,
        effects_notes=summary.notes if summary else (),
        cards=cards,
        cards_details=details,
        cards_count=len(registry.cards),
        caption=caption(curves) if curves else "",
        sections=_shown(sections, pictures),
        studies=[_study(report) for report in reports],
        left_out=left_out,
        reading=_reading(reports),
    )


def drawn_inside(sections: Sequence[Section]) -> tuple[list[Picture], list[Picture]]:
    """Pictures that may be in the page; and those of the studies' curves, which it draws itself."""
    pictures = [picture for section in sections for picture in section.pictures]
    return [each for each in pictures if not _is_curve(each)], [each for each in pictures if _is_curve(each)]


def _by_interest(reports: Sequence[Report], lines: Sequence[SummaryLine]) -> list[Report]:
    """The one with the largest effect that the page shows comes first: it is drawn until another is chosen."""
    sizes: dict[str, float] = {}
    for line in lines:
        if line.effect is not None and line.page is not None and line.page.verdict in ("helps", "hurts"):
            study = line.report.study.id
            sizes[study] = max(abs(line.effect.delta), sizes.get(study, 0.0))
    return sorted(reports, key=lambda report: (-sizes.get(report.study.id, 0.0), report.study.id))


def _shown(sections: Sequence[Section], pictures: Mapping[str, Mapping[str, bytes]]) -> list[_Shown]:
    """Without the tables that the page has in another form, and without the curves, which it draws."""
    room, shown = PICTURES_AT_MOST, []
    for section in sections:
        drawn = []
        for picture in section.pictures:
            if not _is_curve(picture):
                address = picture_address(dict(pictures[picture.name]))
                inside = len(address) <= room
                room -= len(address) if inside else 0
                drawn.append((picture.title, address if inside else f"{picture.name}.png", inside))
        tables = tuple(table for table in section.all_tables if table.name != "summary" and not _is_claims(table))
        shown.append(_Shown(section.title, section.sentences, tuple(drawn), tables))
    return shown


def _is_curve(picture: Picture) -> bool:
    return picture.name.startswith("curves-")


def _is_claims(table: Table) -> bool:
    return table.name.startswith("claims-")


def _study(report: Report) -> _Study:
    samples = max(arm.config.training.samples for arm in report.study.arms)
    return _Study(report, study_headline(report), samples)


def _reading(reports: Sequence[Report]):
    """How to read the numbers, by the thresholds of the first study; none without a study."""
    if not reports:
        return ""
    study = reports[0].study
    return prose(
        "how_to_read.md.j2",
        study=study,
        thresholds=study_thresholds(study),
        percent=lambda share: f"{100 * share:g} %",
    )
