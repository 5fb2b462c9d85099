"""The page on samples: loss of controls with its picture, effects, trends, the range beyond; in out/samples."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from reports.cache import Picture
from reports.figures.axes import nats_axis
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.files import write_files
from reports.page import Page, Section, markdown
from reports.scaling.courses import courses
from reports.scaling.tables import beyond_table, curve_table, effects_over_samples, trends_table
from reports.study.report import Report
from reports.tables import formats
from reports.tables.cells import Table
from reports.tables.serial import csv_text
from reports.worth.curve import ControlCurve


def curve_picture(curve: ControlCurve, number: int) -> Picture:
    """Samples on a logarithmic axis, nats on test games."""
    name, size = f"curve-{number}", (WIDTH, 3.4)
    shown = [(point.samples, point.nats) for point in curve.points]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        samples = [point.samples for point in curve.points]
        axes.plot(samples, [point.mean for point in curve.points], color=COLOURS[0], linewidth=1.6, label="mean")
        for index, point in enumerate(curve.points):
            places = [point.samples] * len(point.nats)
            label = "a seed each" if index == 0 else None
            axes.plot(places, list(point.nats.values()), "o", markersize=4.5, alpha=0.6, color=COLOURS[1], label=label)
        axes.set_xscale("log")
        axes.set_xticks(samples, [formats.about(count) for count in samples])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set(xlabel="samples, each trained to its end", ylabel="test nats")
        nats_axis(axes.yaxis)
        axes.legend(loc="upper right")

    title = f"Loss over samples: {curve.label}"
    return Picture(name, title, lambda: figure_bytes(name, size, paint), (size, curve.label, shown))


TITLE = "Losses and effects over samples"
NONE_YET = (
    "Nothing was trained on more than one number of samples yet: `make scale BASE=gonn-b5` trains a base on four."
)


def samples_tables(reports: Sequence[Report], curves: Sequence[ControlCurve]) -> list[Table]:
    """All tables of the page; none where nothing was trained on more than one number of samples."""
    found = courses(reports)
    of_effects = (effects_over_samples(found), trends_table(found), beyond_table(found))
    of_curves = [curve_table(curve, number) for number, curve in enumerate(curves, 1)]
    return [*of_curves, *(table for table in of_effects if table is not None)]


def distinct(curves: Iterable[ControlCurve]) -> list[ControlCurve]:
    """Each curve once, of those with more than one point."""
    kept: list[ControlCurve] = []
    for curve in curves:
        if len(curve.points) > 1 and curve not in kept:
            kept.append(curve)
    return kept


def samples_section(reports: Sequence[Report], curves: Iterable[ControlCurve]) -> Section:
    """The page as a section of another one; one sentence where nothing was trained on more than one number of
    samples."""
    shown = distinct(curves)
    tables = samples_tables(reports, shown)
    pictures = tuple(curve_picture(curve, number) for number, curve in enumerate(shown, 1))
    return Section(TITLE, () if tables else (NONE_YET,), pictures if tables else (), tuple(tables))


def write_samples(
    reports: Sequence[Report], curves: Iterable[ControlCurve], folder: Path, cache: Path | None = None
) -> tuple[Path, list[Table]] | None:
    """Write the page into `folder`: its path and tables; None, and nothing written, where nothing was trained on more
    than one number of samples. `cache`: as of `reports.book.book.write_book`. Raises InputError."""
    section = samples_section(reports, curves)
    if not section.tables:
        return None
    page = Page(TITLE, "The control's loss, and effects, at several numbers of samples", None, (section,))
    contents = {f"{table.name}.csv": csv_text(table).encode() for table in section.tables}
    contents["samples.md"] = markdown(page).encode()
    for picture in section.pictures:
        contents |= picture.files(cache)
    write_files(folder, contents)
    for path in folder.iterdir():  # of an earlier page with more curves
        if path.suffix in (".csv", ".png", ".svg") and path.name not in contents:
            path.unlink()
    return folder / "samples.md", list(section.tables)
