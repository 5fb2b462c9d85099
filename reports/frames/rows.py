"""Rows of the frames, from results and reports: values by the key of a column, as tables have them; frames from rows,
with the dtypes of their declared columns."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import pandas as pd

from ablations.designs import card_state
from ablations.registry import Registry
from ablations.study import Study
from gonn_core.config import with_values
from gonn_core.evaluation.metrics import WATCHED
from gonn_core.metrics import METRICS, OF_POSITIONS, OF_TRAINING, SUMMARISED
from gonn_core.play.match.record import SIDES, Match, game_points, player_id
from reports.claims.findings import claim_values
from reports.play.players import names_in, trial_names
from reports.results.compare import PageRow, own_runs, used_trials
from reports.results.group import MAIN
from reports.results.study_results import StudyResults, TrialResult, curve_value
from reports.stats.verdicts import Verdict
from reports.study.report import Report
from reports.study.tables import effect_values, trial_values
from reports.tables.cells import Cell
from reports.tables.entities import ENTITIES, frame_fields, frame_row
from reports.tables.writers import number_text, safe_text
from reports.worth.effects import worth_values

Row = dict[str, object]


def trial_rows(results: StudyResults) -> Iterator[Row]:
    """One row per trial."""
    for trial in results.trials:
        main = trial.evaluations[MAIN] if trial.evaluations else None
        yield {
            **_study(results.study),
            **trial_values(trial),
            "label": results.study.arm(trial.arm).label,
            **{name: curve_value(trial.result or {}, name) for name in OF_TRAINING},
            **{f"test_{name}": None if main is None else main.summary[name] for name in SUMMARISED},
        }


def evaluation_rows(results: StudyResults) -> Iterator[Row]:
    """One row per evaluation of a trial's final weights."""
    for trial in results.trials:
        for number, evaluation in enumerate(trial.evaluations):
            if evaluation is None:
                continue
            sums = {metric: evaluation.sums.of(metric) for metric in OF_POSITIONS}
            yield {
                **_trial(results.study, trial),
                **_evaluation(results.study, number),
                "evaluation": evaluation.summary["id"],
                **{name: evaluation.summary[name] for name in ("samples", "positions", "games")},
                **{
                    name: None if total is None else total.sums.sum() / total.counts.sum()
                    for name, total in sums.items()
                },
            }


def curve_rows(results: StudyResults) -> Iterator[Row]:
    """One row per progress point of a trial."""
    of_line = ("samples", "learning_rate", "samples_per_s", "training_seconds", "cpu_seconds", "wall_seconds")
    for trial in results.trials:
        for line in trial.curve:
            yield {
                **_trial(results.study, trial),
                **{name: line.get(name) for name in of_line},
                **{name: curve_value(line, name) for name in OF_TRAINING},
                **{f"validation_{name}": line.get(name) for name in (*SUMMARISED, *WATCHED)},
            }


def effect_rows(row: PageRow) -> Iterator[Row]:
    """One row per evaluation and metric of an enhancement in a group, with the worth of its effect on the main loss."""
    results, study = row.report.results, row.report.results.study
    for (number, metric), page in row.effects.items():
        evaluation, trials = study.evaluations[number], used_trials(results, row.contrast, number)
        yield {
            **_study(study),
            **_evaluation(study, number),
            "card": row.card,
            "metric": metric,
            "unit": METRICS[metric].unit,
            "better": METRICS[metric].better,
            **effect_values(page.effect, page.at_base, page.verdict, metric),
            "could_show": page.could_show,
            "own": own_runs(study, trials, page.effect),
            "positions": evaluation.positions,
            "games": evaluation.games,
            "trials": " ".join(trials),
            **worth_values(row.report.worths.get(row.card) if (number, metric) == (MAIN, "nats") else None),
        }


def claim_rows(report: Report) -> Iterator[Row]:
    """One row per claim of one of the study's cards."""
    for finding in report.findings:
        claim = finding.claim
        same = ("metric", "quantity", "direction", "section", "evidence")
        yield {
            **_study(report.study),
            **claim_values(finding),
            "card": finding.card,
            "claim": claim.id,
            **{name: getattr(claim, name) for name in same},
            "note": finding.measured.note,
            "claimed_base": claim.base,
            "claimed_samples": claim.samples,
            "claimed_stage": claim.stage,
            "claimed_games": " ".join(claim.games),
            "trials": " ".join(finding.trials),
        }


def game_rows(matches: Sequence[Match], studies: Sequence[Study], trials: Container[str] | None) -> Iterator[Row]:
    """One row per game. `studies` name the nets; `trials`: of matches in which one of these plays, None: of all."""
    names = names_in(matches, trial_names(studies))
    for match in matches:
        if trials is not None and not any(match.players[side].get("trial") in trials for side in SIDES):
            continue
        players: Row = {}
        for side in SIDES:
            identity, suffix = match.players[side], side.lower()
            players |= {
                f"player_{suffix}": names[player_id(identity)],
                f"player_id_{suffix}": player_id(identity),
                f"trial_{suffix}": identity.get("trial"),
                f"samples_{suffix}": identity.get("samples"),
            }
        for game in match.games:
            about = {name: getattr(game, name) for name in ("game", "black", "winner", "result", "end", "moves")}
            yield {"match": match.id, **players, **about, "points_a": game_points(game, "A")}


def _study(study: Study) -> Row:
    return {"study": study.id, "base": study.base, "budget": study.budget_label, "data": study.data}


def _trial(study: Study, trial: TrialResult) -> Row:
    return {**_study(study), "arm": trial.arm, "seed": trial.seed, "trial": trial.id}


def _evaluation(study: Study, number: int) -> Row:
    reference = study.evaluations[number]
    return {"split": reference.split, "history": reference.history, "main": number == MAIN}


def make_frame(name: str, rows: Iterable[Mapping]) -> pd.DataFrame:
    """The frame of an entity. rows: values by the key of their column, None for a missing one; KeyError for a declared
    column without a value."""

    def plain(value: object) -> object:
        value = value.value if isinstance(value, Cell) else value
        return str(value) if isinstance(value, Verdict) else value

    flat = [frame_row(name, {key: plain(value) for key, value in row.items()}) for row in rows]
    return pd.DataFrame(
        {field.name: pd.Series([row[field.name] for row in flat], dtype=field.dtype) for field in frame_fields(name)}
    )


def arm_columns(results: Sequence[StudyResults], registry: Registry) -> pd.DataFrame:
    """A row a trial, in the order of `trial_rows`. A column for each enhancement of these studies: whether the trial
    has it (missing: its base can only be with it, or without it). Then one for each setting in which the trials differ,
    seeds apart, by its path."""
    cards = sorted({card for result in results for card in result.study.cards} & registry.cards.keys())
    states: list[dict] = []
    settings: list[dict] = []
    for result in results:
        study, arms = result.study, {}
        toggles = {card: registry.card(card).on_base(study.base, study.budget).toggles for card in cards}
        for arm in study.arms:
            config = with_values(arm.config, {path: json.loads(value) for path, value in arm.values.items()})
            has = {card: {"on": True, "off": False}.get(card_state(config, toggles[card])) for card in cards}
            arms[arm.id] = has, config.model_dump(mode="json")
        states += [arms[trial.arm][0] for trial in result.trials]
        settings += [arms[trial.arm][1] for trial in result.trials]
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
    """A frame as CSV by the rules of reports.tables.writers: measured numbers have DIGITS, no text is taken for a
    formula."""
    texts: pd.DataFrame = frame.select_dtypes("str")
    safe = frame.assign(**{name: texts[name].map(safe_text, na_action="ignore") for name in texts})
    return safe.to_csv(index=False, lineterminator="\n", float_format=number_text).encode()
