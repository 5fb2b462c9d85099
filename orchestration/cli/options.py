"""Options that several verbs share, made from the table of settings."""

from pathlib import Path
from typing import Any

import click

from ablations.settings import SETTINGS, STUDY, option
from gonn_core.errors import SettingError


class OneOf(click.Choice):
    """One of a few words. Raises SettingError under the parameter's name in capitals, as it is called in a make
    command."""

    def convert(self, value, param, ctx):
        if value not in self.choices:
            raise SettingError(param.name.upper(), value, f"no such {param.name}", self.choices)
        return value


class WholeNumber(click.ParamType):
    """A whole number from `low` to `high`. Raises SettingError under the parameter's name in capitals."""

    name = "number"

    def __init__(self, low: int, high: int = 2**31 - 1):
        self._low, self._high = low, high

    def convert(self, value, param, ctx):
        valid = f"{self._low} to {self._high}"
        try:
            number = int(value)
        except ValueError:
            raise SettingError(param.name.upper(), value, "not a whole number", valid) from None
        if not self._low <= number <= self._high:
            raise SettingError(param.name.upper(), value, "out of range", valid)
        return number


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
study_options = settings(*(name for name in STUDY if name != "NAME"))
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
