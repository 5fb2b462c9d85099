"""Verbs that show what was found: reports, and MLflow."""

import click

from orchestration.cli.usage import WholeNumber
from orchestration.console import LOADING, moving


@click.command()
@click.argument("studies", nargs=-1, metavar="[STUDY …]")
def report(studies):
    """Tables and figures of each STUDY, or of all, made again.

    A page for a browser each, out/STUDY/report.html; of several also a summary, of all also out/report/index.html.
    """
    with moving(LOADING):
        from orchestration.reporting.reports import write_reports

    write_reports(studies)


@click.command()
@click.option("--port", type=WholeNumber(1, 65535), default=5000, show_default=True)
@click.option("--study", help="open at that study or search  [default: the latest]")
def ui(port, study):
    """The MLflow UI on 127.0.0.1, opened at a study."""
    from orchestration.reporting.reports import open_ui

    return open_ui(port, study)


@click.command()
def sync():
    """Rebuild MLflow's records from the trial directories."""
    from orchestration.reporting import reports

    return reports.sync()


VERBS = (report, ui, sync)
