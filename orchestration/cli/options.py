"""Options that several verbs share."""

from pathlib import Path

import click

from orchestration.cli.usage import OneOf, WholeNumber


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
precision_option = click.option(
    "--precision", type=OneOf(["fp32", "bf16"]), help="of all arms: fp32 or bf16  [default: the budget's]"
)
device_option = click.option("--device", type=OneOf(["auto", "cpu", "cuda"]), default="auto", show_default=True)
compile_option = click.option(
    "--compile",
    type=OneOf(["none", "body", "graphs"]),
    default="none",
    show_default=True,
    help="of a net in training, by PyTorch's compiler: its body; graphs: with CUDA graphs, on a GPU",
)
seeds_option = click.option("--seeds", help="how many, or which: 4, or 1,2,7; 4..16: looks  [default: the budget's]")
samples_option = click.option(
    "--samples", metavar="N[,N…]", help="of a trial, a study for each: 25k,50k,100k  [default: the budget's]"
)
rate_option = click.option(
    "--lr",
    metavar="RATE",
    help="of all arms: a number, or found:SEARCH; search: each arm's is searched first  [default: the base's]",
)
study_options = options(
    data_option,
    data_dir_option,
    budget_option,
    seeds_option,
    samples_option,
    click.option("--base", help="base net  [default: the card's]"),
    click.option(
        "--design",
        default="add-one",
        show_default=True,
        help="add-one, leave-one-out, cumulative, factorial or screen; a screen also takes groups of enhancements: "
        "all, a system, a part of the configuration such as net.head",
    ),
    click.option("--runs", type=WholeNumber(1), help="of a screen: trials in all  [default: two of each arm]"),
    click.option("--hold", metavar="NAMES", help="of a screen: enhancements that are on in all arms"),
    click.option("--fold", metavar="NAME", help="of a screen: reverse this one's sign in as many arms again"),
    click.option("--futility", metavar="NATS", help="at a look an arm also stops when its effect is smaller (90 %)"),
    click.option("--control-seeds", metavar="N", help="of the control alone, more than --seeds"),
    click.option(
        "--first-look",
        type=OneOf(["yes", "no"]),
        default="yes",
        show_default=True,
        help="where a study takes long and neither seeds nor samples are given, a small one of minutes comes first",
    ),
    click.option("--no-first-look", is_flag=True, help="the same as --first-look no"),
    precision_option,
    device_option,
    compile_option,
    rate_option,
    click.option(
        "--claim",
        help="the claim from which the budgets gpu and paper take base, conditions and samples  [default: the first]",
    ),
)


track_option = click.option("--track/--no-track", default=True, show_default=True, help="log to MLflow")
runner_options = options(
    click.option(
        "--runner", type=OneOf(["ray", "local"]), default="ray", show_default=True, help="who runs the trials"
    ),
    click.option("--slots", type=WholeNumber(1), help="trials at once  [default: one per core, or by GPU]"),
    track_option,
)
address_option = click.option(
    "--address",
    metavar="HOST:PORT",
    help="an existing Ray cluster, or auto  [default: $RAY_ADDRESS, else a private one]",
)

rerun_options = options(
    click.option(
        "--runner", type=OneOf(["ray", "local"]), default="local", show_default=True, help="who runs the trials"
    ),
    click.option("--slots", type=WholeNumber(1), help="trials at once  [default: one per core, or by GPU]"),
    address_option,
)
"""Of verbs that ask trained trials for more: mostly seconds of work, for which Ray starts slowly."""
