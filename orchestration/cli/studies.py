"""Verbs about enhancements, studies and searches: listing, planning, running, evaluating."""

from pathlib import Path
from typing import get_args

import click

from gonn_core.settings.data import HistoryMode
from orchestration.cli.options import (
    OneOf,
    WholeNumber,
    name_argument,
    rerun_options,
    runner_options,
    setting,
    settings,
    study_options,
    track_option,
)
from orchestration.console import LOADING, moving


@click.command("list")
@click.argument("words", nargs=-1, metavar="[WORD …]")
@click.option("--topic", help="input, block, head, loss, optimiser, data or schedule")
@click.option("--find", metavar="WORDS", help="only those that have them in name, title, summary or settings")
@click.option("--bases", is_flag=True, help="the base nets instead")
def list_(words, topic, find, bases):
    """Enhancements by topic, with what was measured.

    A WORD may be a topic, a system (gonn, go_nn, clark_storkey, cazenave, lczero, later), or something to look for.
    """
    from orchestration.catalogue import listing

    if bases and (words or topic or find):
        raise click.UsageError("--bases lists all of them")
    if bases:
        listing.print_bases()
    else:
        listing.print_list(words, topic, find)


@click.command()
@name_argument
def show(name):
    """One enhancement: what it changes, its claims and sources."""
    from orchestration.catalogue import listing

    listing.print_card(name)


@click.command()
@click.option("--slow", is_flag=True, help="compare also generated files that take a minute to make")
def check(slow):
    """Check every declaration; name generated files that are out of date."""
    from orchestration.catalogue import generated

    return generated.check_declarations(slow)


@click.command("new-card")
@click.argument("name", metavar="ID")
@click.option("--system", required=True, help="gonn, go_nn, clark_storkey, cazenave, lczero or later")
@click.option("--title", required=True, help="a few words, as a list shows them")
@click.option("--setting", "settings", multiple=True, metavar="PATH", help="what it changes, e.g. net.activation")
@click.option("--off", multiple=True, metavar="VALUE", help="of that setting without it, e.g. relu")
@click.option("--on", multiple=True, metavar="VALUE", help="of that setting with it, e.g. prelu")
@click.option("--summary", help="what it does, in one sentence  [default: left open]")
@click.option("--base", help="base net that has it off or on  [default: the first of its system]")
def new_card(**settings):
    """Write the card of a new enhancement, to be completed.

    --setting, --off and --on may be given several times, for each setting that it changes.
    """
    from orchestration.catalogue.new_card import new_card as write_card

    write_card(**settings)


def _designs(settings):
    """The designs that settings ask for. Raises UserError: before PyTorch is loaded, which takes seconds."""
    from ablations.request import Request
    from ablations.resolve import resolve_studies

    return resolve_studies(Request(**settings))


@click.command()
@name_argument
@study_options
def plan(**settings):
    """What a study would train, and the smallest effect it could show."""
    designs = _designs(settings)
    with moving(LOADING):
        from orchestration.study.plan_view import print_plans

    print_plans(designs)


@click.command()
@name_argument
@study_options
@runner_options
def ablate(runner, slots, per_gpu, track, address, **settings):
    """Run a study: train what is missing, show what it found."""
    designs = _designs(settings)
    with moving(LOADING):
        from orchestration.study.run import run_command

    return run_command(designs, runner, slots, track, address, per_gpu)


@click.command()
@click.argument("base", metavar="BASE", default="")
@settings("DATA", "DATA_DIR", "BUDGET", "PRECISION", "SAMPLES", "SEEDS", "DEVICE", "COMPILE", "LR")
@click.option("--plan", is_flag=True, help="only print what would be trained and how long it takes")
@runner_options
def scale(runner, slots, per_gpu, track, address, plan, **settings):
    """Train BASE alone, at several numbers of samples: its curve."""
    designs = _designs(settings)
    with moving(LOADING):
        from orchestration.study import plan_view, run

    return plan_view.print_plans(designs) if plan else run.run_command(designs, runner, slots, track, address, per_gpu)


@click.command()
@click.argument("study")
@click.option("--split", type=OneOf(["validation", "test"]), default="test", show_default=True)
@click.option("--history", type=OneOf(get_args(HistoryMode)), default="full", show_default=True)
@click.option("--positions", type=WholeNumber(1), help="at least that many, in whole games  [default: the budget's]")
@click.option("--symmetry-averaging", is_flag=True, help="mean of the logits over the 8 symmetries")
@click.option("--legal-only", is_flag=True, help="softmax and rank over empty points but the ko point")
@settings("DEVICE")
@rerun_options
def evaluate(**settings):
    """Evaluate STUDY's trained trials again, without training."""
    from orchestration.study import trained

    return trained.evaluate_study(**settings)


@click.command()
@click.argument("target", metavar="TRIAL|STUDY")
@click.option("--boards/--no-boards", default=True, show_default=True, help="draw the test positions into out/probes/")
@rerun_options
def probe(**settings):
    """Put test positions and ladders to trained nets; draw boards."""
    from orchestration.study import trained

    return trained.probe(**settings)


@click.command()
@click.argument("base", metavar="BASE|FILE", default="")
@settings("DATA", "DATA_DIR", "BUDGET", "PRECISION")
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="PATH=VALUE",
    help="change a setting of the base, e.g. net.activation=relu",
)
@click.option("--seed", type=WholeNumber(0), default=1, show_default=True)
@click.option(
    "--from",
    "start",
    metavar="TRIAL|FILE",
    help="start from the weights of a trained trial, or of a file that gonn export wrote",
)
@click.option(
    "--job",
    type=click.Path(path_type=Path),
    help="write the job file for `python -m gonn_core.trial` instead of training",
)
@settings("DEVICE", "COMPILE")
@track_option
def train(**settings):
    """Train one trial of a BASE net, or of one declared in a FILE.yaml.

    It is a study of one trial: the same command resumes it, status, report, ui and sync know it.
    """
    with moving(LOADING):
        from orchestration.study import train

    return train.train_base(**settings)


@click.command()
@click.argument("trial")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--samples", type=WholeNumber(1), help="the snapshot after so many samples  [default: the last]")
def export(trial, file, samples):
    """Write TRIAL's weights to a safetensors FILE."""
    from orchestration.study.train import export_trial

    return export_trial(trial, file, samples)


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


@click.command()
@click.argument("file", metavar="[RECIPE.yaml|ROW.json]", required=False, type=click.Path(path_type=Path))
@click.option("--keep", metavar="ROW.json", type=click.Path(path_type=Path), help="write the row into this file")
@click.option(
    "--jobs", metavar="FOLDER", type=click.Path(path_type=Path), help="write a job file for each seed instead"
)
@click.option("--verify", is_flag=True, help="FILE is a row: retrain 1 % of each of its nets and compare the weights")
@settings("DATA_DIR", "DEVICE")
def record(file, **settings):
    """Train a record's recipe and print its row (rules: records/README.md)."""
    with moving(LOADING):
        from orchestration.study import record

    return record.record(file, **settings)


VERBS = (list_, show, check, new_card, plan, ablate, scale, evaluate, probe, train, export, search, record)
