"""All tables of a study's report, in their order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gonn_core.metrics import SUMMARISED
from reports.claims.findings import claims_table
from reports.play.win_rates import play_table
from reports.probes.tables import study_table
from reports.results.group import MAIN
from reports.screen.interactions import folded_tables, printed_tables
from reports.study.extra_metrics import extra_tables
from reports.study.report import Report
from reports.study.tables import arms_table, deltas_table, effects_table, marks_table, settings_table, trials_table
from reports.tables.cells import Table

MAIN_TABLES: Mapping[str, Callable[[Report], Table | None]] = {
    "arms": lambda report: arms_table(report.results, MAIN),
    "marks": lambda report: marks_table(report.results),
    "effects": lambda report: effects_table(report.results, report.analyses[MAIN, "nats"], MAIN, report.worths),
    "rates": lambda report: deltas_table(
        report.results,
        {metric: report.analyses[MAIN, metric] for metric in ("top1", "top4")},
        MAIN,
        "rates",
        "Effects on the hit rates, and cost",
    ),
    "play": lambda report: play_table(report.results),
    "probe_effects": lambda report: study_table(report.results),
    "claims": lambda report: claims_table(report.results, report.findings),
}
"""Name of a table -> what makes it (None: there is nothing to show), in the order of the page. A new one is added
here."""


OF_EFFECTS = ("effects", "rates", "claims")
"""Of these tables a study that compares nothing has none."""


def main_table(report: Report, name: str) -> Table | None:
    """The table of that name; None where there is nothing to show."""
    return None if name in OF_EFFECTS and not report.study.contrasts else MAIN_TABLES[name](report)


@dataclass(frozen=True)
class ReportTables:
    """`printed`: on the page; `folded`: on the page, out of sight at first; `files`: only written as CSV."""

    printed: tuple[Table, ...]
    folded: tuple[Table, ...]
    files: tuple[Table, ...]

    @property
    def all(self) -> tuple[Table, ...]:
        """Every table."""
        return (*self.printed, *self.folded, *self.files)

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for table in self.all if table.name == name)


def report_tables(report: Report) -> ReportTables:
    """The tables of a report, made anew: a report of many studies does not hold those of all."""
    results, evaluations = report.results, report.study.evaluations
    printed = [table for name in MAIN_TABLES if (table := main_table(report, name)) is not None]
    files = [trials_table(results)]
    for number, evaluation in enumerate(evaluations):
        if number != MAIN:
            # Validation chose nothing here, but it is what a search may look at: it stays out of the page that is read
            # for results.
            tables = printed if evaluation.split == evaluations[MAIN].split else files
            suffix = f"{evaluation.split}-{evaluation.history}".replace("_", "-")
            analyses = {metric: report.analyses[number, metric] for metric in SUMMARISED}
            tables.append(arms_table(results, number, f"arms-{suffix}"))
            if report.study.contrasts:
                tables.append(deltas_table(results, analyses, number, f"effects-{suffix}", "Effects"))
    if not report.study.contrasts:
        printed.append(settings_table(report.study))
    folded = (*folded_tables(results, report.pairs), *extra_tables(results, report.group))
    first = next((index for index, table in enumerate(printed) if table.name == "effects"), len(printed)) + 1
    printed[first:first] = printed_tables(results, report.pairs)
    if report.study.design == "screen":  # its arms are many, and no single one is looked at
        folded = (*(table for table in printed if table.name.startswith("arms")), *folded)
        printed = [table for table in printed if not table.name.startswith("arms")]
    return ReportTables(tuple(printed), folded, tuple(files))
