"""Verbs about a whole workspace: its reports, MLflow, data sets, its state and this machine."""

from pathlib import Path

import click

from orchestration.cli.options import WholeNumber, settings
from orchestration.console import LOADING, moving


@click.command()
@click.argument("studies", nargs=-1, metavar="[STUDY …]")
def report(studies):
    """Tables and figures of each STUDY, or of all, made again.

    A page for a browser each, out/STUDY/report.html; of several also a summary, of all also out/report/index.html.
    """
    with moving(LOADING):
        from orchestration.reporting import write_reports

    write_reports(studies)


@click.command()
@click.option("--port", type=WholeNumber(1, 65535), default=5000, show_default=True)
@click.option("--study", help="open at that study or search  [default: the latest]")
def ui(port, study):
    """The MLflow UI on 127.0.0.1, opened at a study."""
    from orchestration.reporting import open_ui

    return open_ui(port, study)


@click.command()
@click.argument("net")
@click.option("--samples", type=WholeNumber(1), help="the snapshot after so many samples  [default: the last]")
def inspect(net, samples):
    """Slopes, kernels and pooled channels of one trained NET.

    NET is a trial's id or its beginning. The page, its tables and pictures are in out/net-TRIAL/.
    """
    with moving(LOADING):
        from orchestration.reporting import inspect_net

    inspect_net(net, samples)


@click.command()
def sync():
    """Rebuild MLflow's records from the trial directories."""
    from orchestration import reporting

    return reporting.sync()


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


@click.group()
def data():
    """Data sets: list, build the position store, fetch archives."""


@data.command("list")
def data_list():
    """Declared data sets."""
    from orchestration.data import print_list

    print_list()


@data.command("build")
@click.argument("data", default="starter")
@settings("DATA_DIR")
def data_build(**settings):
    """Build the position store of DATA and print its report."""
    from orchestration.data import build

    build(**settings)


@data.command("fetch")
@click.argument("data", default="kgs")
@settings("DATA_DIR")
@click.option("--years", help="such as 2000-2015 or 2015,2017  [default: those that the data set names]")
@click.option("--url", help="index page to take the archives from")
def data_fetch(**settings):
    """Download public game archives, with progress and resume."""
    from orchestration.data import fetch

    fetch(**settings)


@data.command("selfplay")
@click.option(
    "--engine",
    default="gnugo",
    show_default=True,
    help="gnugo, or any GTP command; {seed} in it becomes the game's number",
)
@click.option("--games", type=WholeNumber(1), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="folder for the SGF files")
@click.option("--level", type=WholeNumber(1, 10), help="of GNU Go  [default: 10]")
@click.option("--seed", type=WholeNumber(1), default=1, show_default=True, help="number of the first game")
@click.option("--workers", type=WholeNumber(1, 1024), help="games at once  [default: one per core]")
@click.option("--timeout", type=WholeNumber(1), default=120, show_default=True, help="seconds per command")
def data_selfplay(**settings):
    """Games of a GTP engine against itself, as SGF files.

    Game n is made from seed n; the same command again makes only what is missing.
    """
    from orchestration.play import selfplay

    return selfplay.make_games(**settings)


VERBS = (report, ui, inspect, sync, status, stop, import_, clean, doctor, data)
