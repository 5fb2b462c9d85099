"""`gonn play`: the arms of a study play each other, seed by seed: win rates for its report."""

from collections.abc import Sequence

from ablations.study import Study
from gonn_core.errors import SettingError, UserError
from gonn_core.play.match.spec import NetSpec, parse_choice
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.play.playing import play_between
from orchestration.study.folder import find_study
from orchestration.study.report import report_study
from reports.study.report_tables import report_tables
from reports.tables.terminal import print_table
from reports.workspace import Workspace


def play_study(study: str, games: int, seed: int, choice: Sequence[str], workers: int | None) -> int:
    """Let every pair of finished trials with and without a card play so many games; prints the study's table of play.
    Raises UserError.

    choice: of both sides, such as `choice=argmax`; none: the published one, by which claims are judged.
    """
    workspace = Workspace.here()
    chosen = find_study(workspace, study)
    how = parse_choice(list(choice), "--how")
    pairs = paired_trials(workspace, chosen)
    for number, (label, with_it, without) in enumerate(pairs, 1):
        sides = {"A": NetSpec(workspace.runs / with_it, None, how), "B": NetSpec(workspace.runs / without, None, how)}
        notes().print(f"{number} of {len(pairs)}: {label}, with (A) against without (B)")
        play_between(workspace, sides, games, seed, workers=workers)
    reported = report_study(workspace, chosen, "play")
    print_table(report_tables(reported.files.report).table("play"), output())
    output().print(f"report: {reported.files.markdown}")
    return 0


def paired_trials(workspace: Workspace, study: Study) -> list[tuple[str, str, str]]:
    """(card and seed, trial with it, trial without it) of all that are done, seed by seed. Raises UserError when there
    are none."""
    single = [contrast for contrast in study.contrasts if len(contrast.with_it) == len(contrast.without) == 1]
    if not single:
        raise SettingError(
            "STUDY",
            study.id,
            f"each of its effects is a mean over several arms ({study.design}); only one arm can play another"
            if study.contrasts
            else "it compares nothing",
            "a study of design add-one",
        )
    pairs = []
    for seed in study.seeds:
        for contrast in single:
            with_it = study.trials_of(contrast.with_it[0]).get(seed)
            without = study.trials_of(contrast.without[0]).get(seed)
            if with_it and without and _is_done(workspace, with_it) and _is_done(workspace, without):
                pairs.append((f"{contrast.card} s{seed}", with_it, without))
    if not pairs:
        raise UserError(
            f"study {study.id}: no seed is done both with and without an enhancement; gonn status shows its trials"
        )
    return pairs


def _is_done(workspace: Workspace, trial: str) -> bool:
    return TrialDirectory(workspace.runs / trial).state() == "done"
