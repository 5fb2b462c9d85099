"""Verbs about a whole workspace: what stands in it, stopping, taking over, clearing away."""

from pathlib import Path

import click


@click.command()
def status():
    """Studies and searches: trials by state, rate, ETA, failures."""
    from orchestration.upkeep.status import print_status

    print_status()


@click.command()
@click.argument("study", required=False, metavar="[STUDY]")
def stop(study):
    """Ask running commands to pause, all or those on STUDY.

    Their trials write checkpoints; the same commands go on later. STUDY may also be a search or a trial, or the
    beginning of one.
    """
    from orchestration.experiment import stopping

    return stopping.stop(study)


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
def import_(folder):
    """Take over trial directories from another machine, checked.

    FOLDER is a trial directory, a folder of them, or a workspace. Trials that are here already stay as they are.
    """
    from orchestration.upkeep import importing

    return importing.import_trials(folder)


@click.command()
@click.option("--yes", is_flag=True, help="remove it; else it is only shown")
@click.option("--stores", is_flag=True, help="position stores and views too; they are built again when needed")
def clean(**settings):
    """What no study, search, match or queued trial refers to."""
    from orchestration.upkeep import cleaning

    return cleaning.clean(**settings)


VERBS = (status, stop, import_, clean)
