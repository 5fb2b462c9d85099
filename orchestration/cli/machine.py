"""`gonn doctor`: the machine that trials run on."""

import click

from orchestration.cli.options import settings


@click.command()
@settings("DEVICE")
@click.option("--measure/--no-measure", default=True, show_default=True, help="time both precisions, once a day")
@click.option("--json", "as_json", is_flag=True, help="the same for programs")
def doctor(device, measure, as_json):
    """What this machine has, and which precision is faster on it."""
    from orchestration.speeds import doctor as machine

    machine.print_examination(device, measure, as_json)


VERBS = (doctor,)
