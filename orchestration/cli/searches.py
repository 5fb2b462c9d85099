"""`gonn search`: learning-rate searches."""

import click

from orchestration.cli.options import name_argument, runner_options, setting, settings
from orchestration.cli.usage import WholeNumber
from orchestration.console import LOADING, moving


@click.group()
def search():
    """Learning-rate searches: run one, show what was found."""


@search.command("run")
@name_argument
@settings("DATA", "DATA_DIR", "BUDGET", "PRECISION")
@setting("BASE", help="base net of an enhancement")
@settings("ARM", "RATES", "DEVICE", "COMPILE")
@click.option("--trials", type=WholeNumber(5, 1000), default=16, show_default=True)
@click.option(
    "--seed",
    type=WholeNumber(1000),
    default=1000,
    show_default=True,
    help="of all trials; comparisons use smaller ones",
)
@runner_options
def search_run(runner, slots, per_gpu, track, address, **settings):
    """Find the learning rate of NAME, a base or an enhancement."""
    with moving(LOADING):
        from orchestration.search.planning import SearchRequest, run_search

    return run_search(SearchRequest(**settings), runner, slots, track, address, per_gpu)


@search.command("show")
@click.argument("search", required=False, metavar="[SEARCH]")
def search_show(search):
    """What SEARCH found; without it all, and the latest at length."""
    from orchestration.search.experiment import show_search

    show_search(search)


VERBS = (search,)
