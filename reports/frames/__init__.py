"""What a workspace holds as pandas DataFrames, for notebooks: `from reports import frames; frames.effects()`.

Every frame has the columns of `frames.describe(name)`, and an empty workspace gives empty frames of the same dtypes.
All take the filters of `Where`. InputError is raised for a damaged file, SettingError for a name that no study has.
"""

from typing import Unpack

import pandas as pd

from reports.frames import rows
from reports.frames.rows import describe
from reports.frames.source import Source, Where
from reports.results.compare import judge_page

__all__ = ["claims", "curves", "describe", "effects", "evaluations", "games", "trials"]


def trials(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a study and trial, whatever its state; a control that several studies share has a row in each.

    Next to the columns of `describe("trials")`: a boolean one for each enhancement of these studies
    (`parametric_relu`), and one for each setting in which their trials differ (`training.samples`).
    """
    source = Source(**where)
    results = list(source.results())
    frame = rows.make_frame("trials", (row for result in results for row in rows.trial_rows(result)))
    return pd.concat([frame, rows.arm_columns(results, source.registry)], axis=1)


def evaluations(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a study, trial and evaluation of its final weights, with every metric."""
    results = Source(**where).results()
    return rows.make_frame("evaluations", (row for result in results for row in rows.evaluation_rows(result)))


def curves(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a study, trial and progress point."""
    results = Source(**where).results()
    return rows.make_frame("curves", (row for result in results for row in rows.curve_rows(result)))


def effects(**where: Unpack[Where]) -> pd.DataFrame:
    """A row an enhancement, group of runs, evaluation and metric that has results; q and verdicts are over all effects
    of the frame on one metric (`reports.results.compare`)."""
    page = judge_page(list(Source(**where).reports()))
    return rows.make_frame("effects", (row for effect in page for row in rows.effect_rows(effect)))


def claims(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a study and claim of its cards: what the document says, what was measured, the verdict."""
    reports = Source(**where).reports()
    return rows.make_frame("claims", (row for report in reports for row in rows.claim_rows(report)))


def games(**where: Unpack[Where]) -> pd.DataFrame:
    """A row a game with a result; where studies are chosen, of the matches in which one of their trials plays."""
    source = Source(**where)
    chosen = {ref.trial for study in source.studies for ref in study.trials} if source.filtered else None
    return rows.make_frame("games", rows.game_rows(source.matches, source.all_studies, chosen))
