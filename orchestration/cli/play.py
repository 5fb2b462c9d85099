"""Verbs of nets that play: the engine, matches, ratings."""

from pathlib import Path

import click

from orchestration.cli.options import OneOf, WholeNumber, settings
from orchestration.console import LOADING, moving


@click.command()
@click.option(
    "--model",
    required=True,
    help="a trial's id (`gonn models` lists them), its beginning or folder, each with @SAMPLES if wanted, or a "
    "snapshot's file",
)
@click.option("--choice", help="biased, argmax or sampled  [default: biased]")
@click.option("--history", help="moves that the net is shown: full, last or none  [default: full]")
@click.option("--symmetries", help="8: mean of the logits over the symmetries  [default: 1]")
@click.option(
    "--passing", help="pass_alive, after_pass, no_candidates or guard  [default: pass_alive; guard where there is one]"
)
@click.option(
    "--guard",
    metavar="ENGINE",
    help="asked before each move whether it would pass, and what is dead: gnugo:5, or any GTP command",
)
@click.option("--seed", type=WholeNumber(0), help="of the choice of moves  [default: by chance]")
def gtp(**settings):
    """A trained net as a GTP engine, for Sabaki, GoGui, kgsGtp."""
    from orchestration.play import gtp

    return gtp.run_engine(**settings)


@click.command("match")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--games", type=WholeNumber(1), default=100, show_default=True, help="in all: the same command with more plays on"
)
@click.option("--level", type=WholeNumber(1, 10), help="of a plain gnugo  [default: 10]")
@click.option(
    "--openings",
    type=OneOf(["empty", "stones"]),
    default="empty",
    show_default=True,
    help="stones: pairs of games begin from 1-4 random ones",
)
@click.option("--seed", type=WholeNumber(0), default=1, show_default=True)
@click.option(
    "--workers", type=WholeNumber(1, 1024), help="processes, or games with an engine, at once  [default: one per core]"
)
@click.option("--timeout", type=WholeNumber(1), default=120, show_default=True, help="seconds per command of an engine")
@click.option(
    "--rules",
    type=OneOf(["chinese", "japanese"]),
    default="chinese",
    show_default=True,
    help="japanese: territory by the word of GNU Go, which has to play or to guard a net; nets then best pass by "
    "after_pass or guard, for stones in one's own territory cost points",
)
def match_(**settings):
    """Let A and B play games under a referee.

    Each is a trained net, TRIAL[@samples][,choice=argmax][,history=none][,symmetries=8][,passing=guard], or
    gnugo[:LEVEL], or any GTP command in quotes. Colours alternate. A game still on after 722 moves (untrained
    nets hardly pass) is scored as it is. The same command resumes a match.
    """
    with moving(LOADING):
        from orchestration.play import match

    return match.run_match(**settings)


@click.command()
@click.argument("match", nargs=-1, metavar="[MATCH …]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="also write the table there, as matches.md and matches.csv"
)
def matches(match, out):
    """Results of each MATCH, or of all."""
    from orchestration.play.match import show_matches

    show_matches(match, out)


@click.command()
@click.argument("study")
@click.option(
    "--games", type=WholeNumber(1), default=100, show_default=True, help="of each pair of trials, with and without"
)
@click.option("--seed", type=WholeNumber(0), default=1, show_default=True, help="of the games")
@click.option(
    "--how",
    "choice",
    multiple=True,
    metavar="NAME=VALUE",
    help="how moves are chosen, e.g. history=none  [default: drawn, full history]",
)
@click.option("--workers", type=WholeNumber(1), help="processes  [default: one per core]")
def play(**settings):
    """Win rates: STUDY's arms play each other, seed by seed."""
    from orchestration.play.match import play_study

    return play_study(**settings)


@click.command()
@click.argument("base", metavar="BASE")
@click.option("--data", default="starter", show_default=True, help="data set that the run of BASE was trained on")
@settings("BUDGET")
@click.option("--seed", type=WholeNumber(0), default=1, show_default=True, help="of that run, and of the games")
@click.option("--sizes", metavar="SAMPLES", help="which snapshots, e.g. 10k,100k  [default: all]")
@click.option("--with", "with_", multiple=True, metavar="PLAYER", help="a further net, named as for gonn match")
@click.option("--games", type=WholeNumber(1), default=3000, show_default=True, help="of two neighbours at most")
@click.option(
    "--within", type=WholeNumber(1), default=60, show_default=True, help="Elo to which two neighbours are to be known"
)
@click.option("--link-games", type=WholeNumber(0), default=60, show_default=True, help="with GNU Go; 0: none")
@click.option("--out", type=click.Path(path_type=Path), help="also write the table and the picture there, as elo.md")
@click.option("--workers", type=WholeNumber(1), help="processes  [default: one per core]")
def elo(**settings):
    """Rate the snapshots of a trained BASE by games among them.

    BASE is the name of a base, of which a finished run is taken, or the beginning of a trial's id. Neighbours play
    until the 95 % interval of their difference is narrow enough; the strongest plays GNU Go. The same command
    resumes a ladder.
    """
    from orchestration.play import ladder

    return ladder.run_elo(ladder.EloRequest(**settings))


@click.command()
@click.argument("matches", nargs=-1, metavar="[MATCH …]")
@click.option("--anchor", metavar="PLAYER", help="who is at 0: a player, trial or engine  [default: who played most]")
def rate(**settings):
    """Elo of all players of each MATCH, or of all matches."""
    from orchestration.play.ratings import print_ratings

    print_ratings(**settings)


@click.command()
@click.argument("text", required=False, default="", metavar="[TEXT]")
@click.option("--all", "everything", is_flag=True, help="trials of learning-rate searches too")
def models(**settings):
    """Trained nets to play with: ids, accuracy, Elo.

    TEXT: the beginning of an id, or part of a name, such as a base's.
    """
    from orchestration.play.ratings import print_models

    print_models(**settings)


VERBS = (gtp, models, match_, matches, play, elo, rate)
