"""Mistakes on the command line in one line each: the setting, its value and the valid ones, as for every other
setting."""

import click

from gonn_core.errors import SettingError, printable


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


def usage_line(error: click.UsageError) -> str:
    """One line for a mistake in the form of a command, with what is valid."""
    context, text = error.ctx, printable(" ".join(error.format_message().split()))
    if context is None:
        return text
    if isinstance(error, click.NoSuchOption):
        options = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
        return f"{printable(error.option_name)}: no such option; valid: {', '.join(options) or '--help'}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        usage = context.get_usage().replace("Usage:", "usage:")
        return f"{error.param.human_readable_name.upper()}: not given; {usage}"
    if isinstance(error, click.exceptions.NoSuchCommand) and isinstance(context.command, click.Group):
        valid = ", ".join(context.command.list_commands(context))
        return f"{context.command_path} {printable(error.command_name)}: no such command; valid: {valid}"
    return text
