"""`gonn data`: data sets."""

from pathlib import Path

import click

from orchestration.cli.options import settings
from orchestration.cli.usage import WholeNumber


@click.group()
def data():
    """Data sets: list, build the position store, fetch archives."""


@data.command("list")
def data_list():
    """Declared data sets."""
    from orchestration.data.verbs import print_list

    print_list()


@data.command("build")
@click.argument("data", default="starter")
@settings("DATA_DIR")
def data_build(**settings):
    """Build the position store of DATA and print its report."""
    from orchestration.data.verbs import build

    build(**settings)


@data.command("fetch")
@click.argument("data", default="kgs")
@settings("DATA_DIR")
@click.option("--years", help="such as 2000-2015 or 2015,2017  [default: those that the data set names]")
@click.option("--url", help="index page to take the archives from")
def data_fetch(**settings):
    """Download public game archives, with progress and resume."""
    from orchestration.data.verbs import fetch

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


VERBS = (data,)
