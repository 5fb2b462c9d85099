"""What a workspace holds as pandas DataFrames, for notebooks: `from reports import frames; frames.effects()`.

Every frame has the columns of `frames.describe(name)`, and an empty workspace gives empty frames of the same dtypes.
All take the filters of `Where`. InputError is raised for a damaged file, SettingError for a name that no study has.
"""

from typing import Unpack

import pandas as pd

from reports.claims.findings import find_claims
from reports.frames import rows
from reports.frames.rows import describe
from reports.frames.source import Source, Where
from reports.results.page import judge_page

__all__ = ["claims", "curves", "describe", "effects", "evaluations", "games", "trials"]


def trials(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a study and trial, whatever its state; a control that several studies share has a row in each.

    Next to the columns of `describe("trials")`: a boolean one for each enhancement of these studies
    (`parametric_relu`), and one for each setting in which their trials differ (`training.samples`).
    """
    source = Source(**where)
    results = list(source.results())
    frame = rows.make_frame("trials", (row for each in results for row in rows.trial_rows(each)))
    return pd.concat([frame, rows.arm_columns(results, source.registry)], axis=1)


def evaluations(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a study, trial and evaluation of its final weights, with every metric."""
    results = Source(**where).results()
    return rows.make_frame("evaluations", (row for each in results for row in rows.evaluation_rows(each)))


def curves(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a study, trial and progress point."""
    return rows.make_frame("curves", (row for each in Source(**where).results() for row in rows.curve_rows(each)))


def effects(**where: Unpack[Where]) -> pd.DataFrame:
    """A row an enhancement, group of runs, evaluation and metric that has results; q and verdicts are over all effects
    of the frame on one metric (`reports.results.page`)."""
    source = Source(**where)
    analysed = list(source.analysed())
    worths = {each.results.study.id: source.worths(each) for each in analysed}
    page = ((row, worths[row.report.results.study.id].get(row.card)) for row in judge_page(analysed))
    return rows.make_frame("effects", (row for each in page for row in rows.effect_rows(*each)))


def claims(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a study and claim of its cards: what the document says, what was measured, the verdict."""
    source, claim_rows = Source(**where), list[rows.Row]()
    for results, analyses in source.analysed():
        claim_rows += rows.claim_rows(results.study, find_claims(results, source.registry, analyses))
    return rows.make_frame("claims", claim_rows)


def games(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a game with a result; where studies are chosen, of the matches in which one of their trials plays."""
    source = Source(**where)
    chosen = {ref.trial for each in source.studies for ref in each.trials} if source.filtered else None
    return rows.make_frame("games", rows.game_rows(source.matches, source.all_studies, chosen))
