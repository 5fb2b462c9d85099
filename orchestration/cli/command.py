"""The `gonn` command. Each verb imports what it needs when it runs, so that help and bad settings answer at once."""

import errno
import os
import sys
from pathlib import Path

import click

from gonn_core.errors import UserError, printable
from orchestration.cli.usage import OneOf, WholeNumber, usage_line

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def options(*decorators):
    """Several option decorators as one."""

    def decorate(function):
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


name_argument = click.argument("name", metavar="NAME", default="")
data_option = click.option(
    "--data", default="starter", show_default=True, help="data set, or a folder or archive of SGF files"
)
data_dir_option = click.option(
    "--data-dir", type=click.Path(path_type=Path), help="folder with the game archives  [default: $GONN_DATA]"
)
budget_option = click.option("--budget", default="cpu", show_default=True, help="smoke, cpu, gpu or paper")
device_option = click.option("--device", type=OneOf(["auto", "cpu", "cuda"]), default="auto", show_default=True)
study_options = options(
    data_option,
    data_dir_option,
    budget_option,
    click.option("--seeds", help="how many, or which: 4, or 1,2,7  [default: the budget's]"),
    click.option("--base", help="base net  [default: the card's]"),
    click.option(
        "--design", default="add-one", show_default=True, help="add-one, leave-one-out, cumulative or factorial"
    ),
    device_option,
    click.option(
        "--lr",
        metavar="RATE",
        help="of all arms: a number, or found:SEARCH; search: each arm's is searched first  [default: the base's]",
    ),
)


runner_options = options(
    click.option(
        "--runner", type=OneOf(["ray", "local"]), default="ray", show_default=True, help="who runs the trials"
    ),
    click.option("--slots", type=WholeNumber(1), help="trials at once  [default: one per core, or by GPU]"),
    click.option("--track/--no-track", default=True, show_default=True, help="log to MLflow"),
)


@click.group()
def gonn():
    """Ablations of Go move-prediction networks: does an enhancement help, by how much, how sure are we, what does it
    cost?"""


@gonn.command("list")
@click.argument("system", required=False)
@click.option("--bases", is_flag=True, help="the base nets instead")
def list_(system, bases):
    """All enhancements, system by system, or those of SYSTEM."""
    from orchestration.study import catalogue

    if bases:
        catalogue.print_bases()
    else:
        catalogue.print_list(system)


@gonn.command()
@name_argument
def show(name):
    """One enhancement: what it changes, its claims and sources."""
    from orchestration.study import catalogue

    catalogue.print_card(name)


@gonn.command()
@name_argument
@study_options
def plan(**settings):
    """What a study would train, and the smallest effect it could show."""
    from orchestration.study import plan_view, planning

    plan_view.print_plan(planning.Request(**settings))


@gonn.command()
@name_argument
@study_options
@runner_options
@click.option(
    "--address",
    metavar="HOST:PORT",
    help="an existing Ray cluster, or auto  [default: $RAY_ADDRESS, else a private one]",
)
def ablate(runner, slots, track, address, **settings):
    """Run a study: train what is missing, show what it found."""
    from orchestration.study import ablate, planning

    return ablate.run_study(planning.Request(**settings), runner, slots, track, address)


@gonn.command()
@click.argument("study", required=False, metavar="[STUDY]")
def stop(study):
    """Ask running commands to pause, all or those on STUDY.

    Their trials write checkpoints; the same commands go on later. STUDY may also be a search or a trial, or the
    beginning of one.
    """
    from orchestration.experiment import stopping

    return stopping.stop(study)


@gonn.command()
def status():
    """Studies and searches: trials by state, rate, ETA, failures."""
    from orchestration.upkeep import status as status_view

    status_view.print_status()


@gonn.command()
@click.argument("studies", nargs=-1, metavar="[STUDY …]")
def report(studies):
    """Tables and figures of each STUDY, or of all, made again.

    Of several also a summary; of all also the report over everything, out/report/index.md.
    """
    from orchestration.reporting import verbs as status

    status.write_reports(studies)


@gonn.command()
@click.argument("study")
@click.option("--split", type=OneOf(["validation", "test"]), default="test", show_default=True)
@click.option("--history", type=OneOf(["full", "as_published"]), default="full", show_default=True)
@click.option("--positions", type=WholeNumber(1), help="at least that many, in whole games  [default: the budget's]")
@click.option("--symmetry-averaging", is_flag=True, help="mean of the logits over the 8 symmetries")
@click.option("--legal-only", is_flag=True, help="softmax and rank over empty points but the ko point")
@click.option("--metrics", is_flag=True, help="show the documents' further metrics")
@device_option
def evaluate(**settings):
    """Evaluate STUDY's trained trials again, without training."""
    from orchestration.study import evaluate

    return evaluate.evaluate_study(**settings)


@gonn.command()
@click.argument("target", metavar="TRIAL|STUDY")
@click.option(
    "--data", default="starter", show_default=True, help="data set from whose validation and test games ladders are cut"
)
@data_dir_option
@click.option("--boards/--no-boards", default=True, show_default=True, help="draw the test positions into out/probes/")
def probe(**settings):
    """Put test positions and ladders to trained nets; draw boards."""
    from orchestration.study import probe

    return probe.probe(**settings)


@gonn.command()
@click.argument("base", metavar="BASE", default="")
@data_option
@data_dir_option
@budget_option
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="PATH=VALUE",
    help="change a setting of the base, e.g. net.activation=relu",
)
@click.option("--seed", type=WholeNumber(0), default=1, show_default=True)
@click.option(
    "--job",
    type=click.Path(path_type=Path),
    help="write the job file for `python -m gonn_core.trial` instead of training",
)
@device_option
def train(**settings):
    """Train one trial of a BASE net."""
    from orchestration.study import train

    return train.train_base(**settings)


@gonn.command()
@click.option(
    "--model",
    required=True,
    help="a trial's id, its beginning or folder, each with @SAMPLES if wanted, or a snapshot's file",
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


@gonn.command("match")
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
def match_(**settings):
    """Let A and B play games under a referee.

    Each is a trained net, TRIAL[@samples][,choice=argmax][,history=none][,symmetries=8][,passing=guard], or
    gnugo[:LEVEL], or any GTP command in quotes. Colours alternate. The same command goes on where it was stopped.
    """
    from orchestration.play import match

    return match.run_match(**settings)


@gonn.command()
@click.argument("match", nargs=-1, metavar="[MATCH …]")
@click.option(
    "--out", type=click.Path(path_type=Path), help="also write the table there, as matches.md and matches.csv"
)
def matches(match, out):
    """Results of each MATCH, or of all."""
    from orchestration.play.match import show_matches

    show_matches(match, out)


@gonn.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
def import_(folder):
    """Take over trial directories from another machine, checked.

    FOLDER is a trial directory, a folder of them, or a workspace. Trials that are here already stay as they are.
    """
    from orchestration.transfer import importing

    return importing.import_trials(folder)


@gonn.group()
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
@device_option
@runner_options
def search_run(runner, slots, track, **settings):
    """Find the learning rate of NAME, a base or an enhancement."""
    from orchestration.search import command as search
    from orchestration.search import planning as search_plan

    return search.run_search(search_plan.SearchRequest(**settings), runner, slots, track)


@search.command("show")
@click.argument("search", required=False, metavar="[SEARCH]")
def search_show(search):
    """What SEARCH found; without it all, and the latest at length."""
    from orchestration.search import command as verbs

    verbs.show_search(search)


@gonn.command()
@click.option("--yes", is_flag=True, help="remove it; else it is only shown")
@click.option("--stores", is_flag=True, help="position stores and views too; they are built again when needed")
def clean(**settings):
    """What no study, search, match or queued trial refers to."""
    from orchestration.upkeep import cleaning

    return cleaning.clean(**settings)


@gonn.command()
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
    help="how moves are chosen, e.g. history=none  [default: as published]",
)
@click.option("--workers", type=WholeNumber(1), help="processes  [default: one per core]")
def play(**settings):
    """Win rates: STUDY's arms play each other, seed by seed."""
    from orchestration.play import study as play_study

    return play_study.play_study(**settings)


@gonn.command()
@click.argument("base", metavar="BASE")
@click.option("--data", default="starter", show_default=True, help="data set that the run of BASE was trained on")
@budget_option
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
    until the 95 % interval of their difference is narrow enough; the strongest plays GNU Go. The same command goes on
    where it was stopped.
    """
    from orchestration.play.elo import command as elo

    return elo.run_elo(elo.EloRequest(**settings))


@gonn.command()
@click.argument("matches", nargs=-1, metavar="[MATCH …]")
@click.option("--anchor", metavar="PLAYER", help="who is at 0: a player, trial or engine  [default: who played most]")
@click.option("--colour", is_flag=True, help="estimate the advantage of Black too")
def rate(**settings):
    """Elo of all players of each MATCH, or of all matches."""
    from orchestration.play import rate

    return rate.print_ratings(**settings)


@gonn.command()
@click.option("--port", type=WholeNumber(1, 65535), default=5000, show_default=True)
@click.option("--study", help="open at that study or search  [default: the latest]")
def ui(port, study):
    """The MLflow UI on 127.0.0.1, opened at a study."""
    from orchestration.reporting import verbs as status

    return status.open_ui(port, study)


@gonn.command()
def sync():
    """Rebuild MLflow's records from the trial directories."""
    from orchestration.reporting import verbs as status

    return status.sync()


@gonn.group()
def data():
    """Data sets: list, build the position store, fetch archives."""


@data.command("list")
def data_list():
    """Declared data sets."""
    from orchestration.data import verbs as games

    games.print_list()


@data.command("build")
@click.argument("data", default="starter")
@data_dir_option
def data_build(**settings):
    """Build the position store of DATA and print its report."""
    from orchestration.data import verbs as games

    games.build(**settings)


@data.command("fetch")
@click.argument("data", default="kgs")
@data_dir_option
@click.option("--years", help="such as 2000-2015 or 2015,2017  [default: those that the data set names]")
@click.option("--url", help="index page to take the archives from")
def data_fetch(**settings):
    """Download public game archives, with progress and resume."""
    from orchestration.data import verbs as games

    games.fetch(**settings)


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


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code: 0, 1 when a trial failed, 2 for a bad setting (one line on stderr), 130 when
    stopped."""
    try:
        result = gonn.main(args=arguments, prog_name="gonn", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 0
    except click.UsageError as error:
        print(usage_line(error), file=sys.stderr)
        return 2
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        print(
            f"{printable(str(error.filename or 'a file'))}: cannot be written ({error.strerror}); the same command goes on from here",
            file=sys.stderr,
        )
        return 2
    except (KeyboardInterrupt, click.Abort):
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader of a pipe left: nothing more to say
        return 0


def main() -> None:
    """Entry point of `gonn`."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
