"""A frame from rows, with the dtypes of its declared columns, and as CSV."""

import json
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from ablations.conditions import card_state
from ablations.registry import Registry
from gonn_core.config import with_values
from reports.results.study_results import StudyResults
from reports.stats.verdicts import Verdict
from reports.tables.cells import Cell
from reports.tables.entities import ENTITIES, frame_fields, frame_row
from reports.tables.serial import number_text, safe_text


def make_frame(name: str, rows: Iterable[Mapping]) -> pd.DataFrame:
    """The frame of an entity. rows: values by the key of their column, None for a missing one; KeyError for a declared
    column without a value."""
    plain = [{key: _plain(value) for key, value in row.items()} for row in rows]
    flat = [frame_row(name, row) for row in plain]
    return pd.DataFrame(
        {field.name: pd.Series([row[field.name] for row in flat], dtype=field.dtype) for field in frame_fields(name)}
    )


def _plain(value: object) -> object:
    value = value.value if isinstance(value, Cell) else value
    return str(value) if isinstance(value, Verdict) else value


def arm_columns(results: Sequence[StudyResults], registry: Registry) -> pd.DataFrame:
    """A row a trial, in the order of `reports.frames.rows.trial_rows`. A column for each enhancement of these studies:
    whether the trial has it (missing: its base can only be with it, or without it). Then one for each setting in which
    the trials differ, seeds apart, by its path."""
    cards = sorted({card for each in results for card in each.study.cards} & registry.cards.keys())
    states: list[dict] = []
    settings: list[dict] = []
    for each in results:
        study, arms = each.study, {}
        own = [registry.card(card).on_base(study.base, study.budget).toggles for card in cards]
        for arm in study.arms:
            config = with_values(arm.config, {path: json.loads(value) for path, value in arm.values.items()})
            found = ({"on": True, "off": False}.get(card_state(config, toggles)) for toggles in own)
            arms[arm.id] = dict(zip(cards, found, strict=True)), config.model_dump(mode="json")
        states += [arms[trial.arm][0] for trial in each.trials]
        settings += [arms[trial.arm][1] for trial in each.trials]
    frame = pd.json_normalize(settings).map(lambda value: json.dumps(value) if isinstance(value, list) else value)
    frame = frame.loc[:, frame.nunique(dropna=False) > 1]
    return pd.concat([pd.DataFrame(states, columns=cards, dtype="boolean"), frame], axis=1)


def describe(name: str) -> pd.DataFrame:
    """The columns of a frame, one a row: column, dtype, unit, meaning."""
    if name not in ENTITIES:
        raise ValueError(f"frame {name!r}: valid are {', '.join(ENTITIES)}")
    rows = [(field.name, field.dtype, field.unit, field.meaning) for field in frame_fields(name)]
    return pd.DataFrame(rows, columns=["column", "dtype", "unit", "meaning"])


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """A frame as CSV by the rules of reports.tables.serial: measured numbers have DIGITS, no text is taken for a
    formula."""
    texts: pd.DataFrame = frame.select_dtypes("str")
    safe = frame.assign(**{name: texts[name].map(safe_text, na_action="ignore") for name in texts})
    return safe.to_csv(index=False, lineterminator="\n", float_format=number_text).encode()
