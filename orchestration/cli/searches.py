"""`gonn search`: learning-rate searches."""

import click

from orchestration.cli.options import (
    address_option,
    budget_option,
    compile_option,
    data_dir_option,
    data_option,
    device_option,
    name_argument,
    precision_option,
    runner_options,
)
from orchestration.cli.usage import OneOf, WholeNumber
from orchestration.console import LOADING, moving


@click.group()
def search():
    """Learning-rate searches: run one, show what was found."""


@search.command("run")
@name_argument
@data_option
@data_dir_option
@budget_option
@click.option("--arm", type=OneOf(["on", "off"]), help="of an enhancement NAME: with or without it  [default: on]")
@click.option("--base", help="base net of an enhancement  [default: the card's]")
@click.option("--trials", type=WholeNumber(5, 1000), default=16, show_default=True)
@click.option(
    "--seed",
    type=WholeNumber(1000),
    default=1000,
    show_default=True,
    help="of all trials; comparisons use smaller ones",
)
@click.option("--rates", metavar="LOW,HIGH", help="range to search  [default: the base's]")
@precision_option
@device_option
@compile_option
@runner_options
@address_option
def search_run(runner, slots, track, address, **settings):
    """Find the learning rate of NAME, a base or an enhancement."""
    with moving(LOADING):
        from orchestration.search import command as verbs
        from orchestration.search import planning

    return verbs.run_search(planning.SearchRequest(**settings), runner, slots, track, address)


@search.command("show")
@click.argument("search", required=False, metavar="[SEARCH]")
def search_show(search):
    """What SEARCH found; without it all, and the latest at length."""
    from orchestration.search import command as verbs

    verbs.show_search(search)


VERBS = (search,)
