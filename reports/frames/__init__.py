"""What a workspace holds as pandas DataFrames, for notebooks: `from reports import frames; frames.effects()`.

Every frame has the columns of `frames.describe(name)`, and an empty workspace gives empty frames of the same dtypes.
`workspace` is a folder, by default $GONN_HOME or the current one; `study` (ids or their beginnings), `base`, `budget`
and `data` take a name or several. InputError is raised for a damaged file, SettingError for a name that no study has.
"""

from pathlib import Path

import pandas as pd

from reports.claims.findings import find_claims
from reports.frames import rows
from reports.frames.build import arm_columns, describe, make_frame
from reports.frames.source import Source, Wanted
from reports.results.page import judge_page

__all__ = ["claims", "curves", "describe", "effects", "evaluations", "games", "trials"]


def trials(
    *,
    study: Wanted = None,
    base: Wanted = None,
    budget: Wanted = None,
    data: Wanted = None,
    workspace: Path | str | None = None,
) -> pd.DataFrame:
    """A row a study and trial, whatever its state; a control that several studies share has a row in each.

    Beside the columns of `describe("trials")`: a boolean one for each enhancement of these studies (`parametric_relu`),
    and one for each setting in which their trials differ (`training.samples`).
    """
    source = Source(workspace, study=study, base=base, budget=budget, data=data)
    results = list(source.results())
    frame = make_frame("trials", (row for each in results for row in rows.trial_rows(each)))
    return pd.concat([frame, arm_columns(results, source.registry)], axis=1)


def evaluations(
    *,
    study: Wanted = None,
    base: Wanted = None,
    budget: Wanted = None,
    data: Wanted = None,
    workspace: Path | str | None = None,
) -> pd.DataFrame:
    """A row a study, trial and evaluation of its final weights, with every metric."""
    source = Source(workspace, study=study, base=base, budget=budget, data=data)
    return make_frame("evaluations", (row for results in source.results() for row in rows.evaluation_rows(results)))


def curves(
    *,
    study: Wanted = None,
    base: Wanted = None,
    budget: Wanted = None,
    data: Wanted = None,
    workspace: Path | str | None = None,
) -> pd.DataFrame:
    """A row a study, trial and progress point."""
    source = Source(workspace, study=study, base=base, budget=budget, data=data)
    return make_frame("curves", (row for results in source.results() for row in rows.curve_rows(results)))


def effects(
    *,
    study: Wanted = None,
    base: Wanted = None,
    budget: Wanted = None,
    data: Wanted = None,
    workspace: Path | str | None = None,
) -> pd.DataFrame:
    """A row an enhancement, group of runs, evaluation and metric that has results; q and verdicts are over all effects
    of the frame on one metric (`reports.results.page`)."""
    source = Source(workspace, study=study, base=base, budget=budget, data=data)
    analysed = list(source.analysed())
    worths = {each.results.study.id: source.worths(each) for each in analysed}
    page = ((row, worths[row.report.results.study.id].get(row.card)) for row in judge_page(analysed))
    return make_frame("effects", (row for each in page for row in rows.effect_rows(*each)))


def claims(
    *,
    study: Wanted = None,
    base: Wanted = None,
    budget: Wanted = None,
    data: Wanted = None,
    workspace: Path | str | None = None,
) -> pd.DataFrame:
    """A row a study and claim of its cards: what the document says, what was measured, the verdict."""
    source = Source(workspace, study=study, base=base, budget=budget, data=data)
    claim_rows: list[rows.Row] = []
    for results, analyses in source.analysed():
        claim_rows += rows.claim_rows(results.study, find_claims(results, source.registry, analyses))
    return make_frame("claims", claim_rows)


def games(
    *,
    study: Wanted = None,
    base: Wanted = None,
    budget: Wanted = None,
    data: Wanted = None,
    workspace: Path | str | None = None,
) -> pd.DataFrame:
    """A row a game with a result; where studies are chosen, of the matches in which one of their trials plays."""
    source = Source(workspace, study=study, base=base, budget=budget, data=data)
    chosen = {ref.trial for each in source.studies for ref in each.trials} if source.filtered else None
    return make_frame("games", rows.game_rows(source.matches, source.all_studies, chosen))
