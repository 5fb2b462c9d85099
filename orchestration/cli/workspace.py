"""Verbs about a whole workspace: its reports, MLflow, its state and this machine."""

from pathlib import Path

import click

from orchestration.cli.options import settings
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
@click.argument("net")
@click.option("--samples", type=WholeNumber(1), help="the snapshot after so many samples  [default: the last]")
def inspect(net, samples):
    """Slopes, kernels and pooled channels of one trained NET.

    NET is a trial's id or its beginning. The page, its tables and pictures are in out/net-TRIAL/.
    """
    with moving(LOADING):
        from orchestration.reporting.reports import inspect_net

    inspect_net(net, samples)


@click.command()
def sync():
    """Rebuild MLflow's records from the trial directories."""
    from orchestration.reporting import reports

    return reports.sync()


@click.command()
def status():
    """Studies and searches: trials by state, rate, ETA, failures."""
    from orchestration.upkeep.status import print_status

    print_status()


@click.command()
@click.argument("study", required=False, metavar="[STUDY]")
def stop(study):
    """Ask running commands to pause, all or those on STUDY.

    Their trials write checkpoints; the same commands resume later. STUDY may also be a search or a match, or the
    beginning of one.
    """
    from orchestration.experiment import stopping

    return stopping.stop(study)


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
def import_(folder):
    """Take over trial directories from another machine, checked.

    FOLDER is a trial directory, a folder of them, or a workspace. Trials that are here already stay as they are.
    """
    from orchestration.upkeep import importing

    return importing.import_trials(folder)


@click.command()
@click.option("--yes", is_flag=True, help="remove it; else it is only shown")
def clean(**settings):
    """What no study, search, match or queued trial refers to."""
    from orchestration.upkeep import cleaning

    return cleaning.clean(**settings)


@click.command()
@settings("DEVICE")
def doctor(device):
    """What this machine has, and which precision is faster on it."""
    from orchestration.upkeep.doctor import print_examination

    print_examination(device)


VERBS = (report, ui, inspect, sync, status, stop, import_, clean, doctor)
