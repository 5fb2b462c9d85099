"""Options that several verbs share, made from the table of settings."""

from pathlib import Path
from typing import Any

import click

from ablations.settings import SETTINGS, STUDY, option
from orchestration.cli.usage import OneOf, WholeNumber


def setting(name, **changes):
    """The click option of a setting; changes: fields of `ablations.settings.Setting` that differ for a verb."""
    declared = SETTINGS[name]._replace(**changes)
    settings: dict[str, Any] = {}
    text = declared.help
    if declared.valid is int:
        settings["type"] = WholeNumber(1)
    elif declared.valid == "path":
        settings["type"] = click.Path(path_type=Path)
    elif declared.valid:
        settings["type"] = OneOf(declared.valid)
    if declared.default.startswith("("):
        text += f"  [default: {declared.default[1:-1]}]"
    elif declared.default:
        settings |= {"default": declared.default, "show_default": True}
    if declared.default.startswith("($"):
        settings["envvar"] = declared.default[2:-1]
    if declared.valid is None and declared.metavar:
        settings["metavar"] = declared.metavar
    return click.option(option(name), help=text, **settings)


def settings(*names):
    """The options of several settings as one decorator."""
    return options(*map(setting, names))


def options(*decorators):
    """Several option decorators as one."""

    def decorate(function):
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


name_argument = click.argument("name", metavar="NAME", default="")
study_options = options(
    *(setting(name) for name in STUDY if name != "NAME"),
    click.option("--no-first-look", is_flag=True, help="the same as --first-look no"),
)
track_option = click.option("--track/--no-track", default=True, show_default=True, help="log to MLflow")
_slots = click.option(
    "--slots", type=WholeNumber(1), help="trials at once  [default: one per core, or --per-gpu on each GPU]"
)
_per_gpu = click.option(
    "--per-gpu",
    type=WholeNumber(1),
    help="trials on each GPU, one fewer after one ran out of memory  [default: 1, or what --slots asks for]",
)
_address = click.option(
    "--address",
    metavar="HOST:PORT",
    help="an existing Ray cluster, or auto  [default: $RAY_ADDRESS, else a private one]",
)
runner_options = options(setting("RUNNER"), _slots, _per_gpu, track_option, _address)
rerun_options = options(setting("RUNNER", default="local"), _slots, _per_gpu, _address)
"""For verbs that run short work on trained trials: Ray would take longer to start."""
