"""Rows of the frames, from results and reports that were read already."""

from collections.abc import Container, Iterable, Iterator, Sequence

from ablations.study import Study
from gonn_core.evaluation.derived import WATCHED
from gonn_core.metrics import METRICS, OF_POSITIONS, OF_TRAINING, SUMMARISED
from gonn_core.play.match.record import SIDES, Match, game_points, player_id
from reports.claims.findings import ClaimFinding, claimed_text
from reports.play.all_games import trial_names
from reports.play.players import player_names
from reports.results.compare import used_trials
from reports.results.curves import curve_value
from reports.results.group import MAIN
from reports.results.page import OnPage, PageRow
from reports.results.study_results import StudyResults, TrialResult
from reports.stats.estimates import Interval
from reports.worth.worth import Worth

Row = dict[str, object]
_SECONDS = ("training_seconds", "cpu_seconds", "wall_seconds")


def trial_rows(results: StudyResults) -> Iterator[Row]:
    """A row a trial."""
    for trial in results.trials:
        result, main = trial.result or {}, trial.evaluations[MAIN] if trial.evaluations else None
        of_result = ("samples", "parameters", "weights")
        yield {
            **_trial(results.study, trial),
            "label": results.study.arm(trial.arm).label,
            "state": trial.state,
            **{name: result.get(name) for name in of_result},
            **{name: curve_value(result, name) for name in OF_TRAINING},
            **{name: result.get(name) for name in ("samples_per_s", *_SECONDS)},
            **{f"test_{name}": None if main is None else main.summary[name] for name in SUMMARISED},
            "device": trial.session.get("device"),
            "machine": " and ".join(trial.machines) or None,
            "torch": trial.session.get("versions", {}).get("torch"),
            "failure": trial.failure,
        }


def evaluation_rows(results: StudyResults) -> Iterator[Row]:
    """A row an evaluation of a trial's final weights."""
    for trial in results.trials:
        for number, evaluation in enumerate(trial.evaluations):
            if evaluation is None:
                continue
            sums = {metric: evaluation.game_sums(metric) for metric in OF_POSITIONS}
            yield {
                **_trial(results.study, trial),
                **_evaluation(results.study, number),
                "evaluation": evaluation.summary["id"],
                **{name: evaluation.summary[name] for name in ("samples", "positions", "games")},
                **{name: None if each is None else each.sums.sum() / each.counts.sum() for name, each in sums.items()},
            }


def curve_rows(results: StudyResults) -> Iterator[Row]:
    """A row a progress point of a trial."""
    of_line = ("samples", "learning_rate", "samples_per_s", *_SECONDS)
    for trial in results.trials:
        for line in trial.curve:
            yield {
                **_trial(results.study, trial),
                **{name: line.get(name) for name in of_line},
                **{name: curve_value(line, name) for name in OF_TRAINING},
                **{f"validation_{name}": line.get(name) for name in (*SUMMARISED, *WATCHED)},
            }


def effect_rows(row: PageRow, worth: Worth | None) -> Iterator[Row]:
    """A row an evaluation and metric of an enhancement in a group. worth: of its effect on the main loss."""
    for (number, metric), page in row.effects.items():
        main = (number, metric) == (MAIN, "nats")
        yield {**_effect(row, number, metric, page), **_worth(worth if main else None)}


def _worth(worth: Worth | None) -> Row:
    row: Row = {}
    for name, ratio in (("worth", worth and worth.samples), ("worth_time", worth and worth.time)):
        value, low, high = ratio.numbers if ratio else (None, None, None)
        row |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return row


def _effect(row: PageRow, number: int, metric: str, page: OnPage) -> Row:
    results, effect, at_base = row.report.results, page.effect, page.at_base
    study, evaluation = results.study, results.study.evaluations[number]
    trials = used_trials(results, row.contrast, number)
    return {
        **_study(study),
        **_evaluation(study, number),
        "card": row.card,
        "metric": metric,
        "unit": METRICS[metric].unit,
        "better": METRICS[metric].better,
        "estimand": "mean" if at_base else "base",
        "difference": effect.delta,
        "se_runs": effect.se_seed,
        "se_games": effect.se_eval,
        "se": effect.se,
        "df": effect.df,
        **_ends("interval95", effect.interval95),
        **_ends("interval90", effect.interval90),
        "at_base": at_base and at_base.delta,
        **_ends("at_base", at_base.interval95 if at_base else None),
        "p": effect.p,
        "q": effect.q,
        "verdict": str(page.verdict),
        "bound": effect.bound,
        "could_show": page.could_show,
        "runs_with": effect.runs[0],
        "runs_without": effect.runs[1],
        "own_runs": len(trials),
        "positions": evaluation.positions,
        "games": evaluation.games,
        "trials": " ".join(trials),
    }


def claim_rows(study: Study, findings: Iterable[ClaimFinding]) -> Iterator[Row]:
    """A row a claim of one of the study's cards."""
    for finding in findings:
        claim, measured = finding.claim, finding.measured
        value, low, high = _numbers(measured.value)
        claimed_low, claimed_high = claim.bounds or (None, None)
        same = ("metric", "quantity", "direction", "document", "section", "evidence")
        yield {
            **_study(study),
            "card": finding.card,
            "claim": claim.id,
            **{name: getattr(claim, name) for name in same},
            "claimed": claimed_text(claim),
            "claimed_low": claimed_low,
            "claimed_high": claimed_high,
            "ours": measured.text if finding.tested else None,
            "ours_value": value,
            "ours_low": low,
            "ours_high": high,
            "verdict": measured.verdict,
            "note": measured.note,
            "claimed_base": claim.base,
            "claimed_samples": claim.samples,
            "claimed_stage": claim.stage,
            "claimed_games": " ".join(claim.games),
            "trials": " ".join(measured.trials),
        }


def _numbers(value: object) -> tuple[object, object, object]:
    """Value and ends of what a claim was measured to be: a number; value and ends; value without ends; ends alone."""
    parts = value if isinstance(value, list) else [value]
    if len(parts) == 2:
        return None, parts[0], parts[1]
    return tuple([*parts, None, None][:3])


def game_rows(matches: Sequence[Match], studies: Sequence[Study], trials: Container[str] | None) -> Iterator[Row]:
    """A row a game. `studies` name the nets; `trials`: of matches in which one of these plays, None: of all."""
    identities = {player_id(each): each for match in matches for each in match.players.values()}
    names = player_names(identities, trial_names(studies))
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


def _ends(name: str, interval: Interval | None) -> Row:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return {f"{name}_low": low, f"{name}_high": high}
