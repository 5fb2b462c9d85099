"""The tables of a study: arms, effects on the loss, effects on the hit rates with their cost, settings, trials."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from ablations.study import Contrast, EvaluationRef, Study
from ablations.wording import setting_text
from gonn_core.config import TrialConfig, config_paths, get_path
from gonn_core.metrics import METRICS, SUMMARISED
from gonn_core.training.compiling import device_label
from reports.results.compare import StudyAnalysis, used_trials
from reports.results.costs import arm_cost, mean_cost, speed_factor_range
from reports.results.group import MAIN
from reports.results.study_results import StudyResults, TrialResult
from reports.screen.commands import study_command
from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import EffectVerdict
from reports.study.against import AGAINST, NAMED, against, against_note
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, make_row, of_split
from reports.tables.entities import ARMS, EFFECTS, TRIALS, pick
from reports.tables.formats import HISTORY
from reports.tables.verdicts import verdict_text
from reports.worth.effects import WORTH, Worth, worth_values

_ARMS_NAMED = 4
_SEVERAL = ("leave-one-out", "cumulative", "factorial")
"""Designs in which an arm may have several enhancements."""
_COSTS = ("parameters", "flops", "speed")
_SCORES = tuple(column.key for column in ARMS if column.key not in (*_COSTS, "samples"))
_EFFECTS = ("card", "delta", "interval", "at_base", "verdict", "bound", "q", "parts", "runs", "own", *_COSTS)
_DELTAS = {
    "nats": Column("nats", "Δ {split} nats", parts=("delta_{split}_nats", *interval95("nats"))),
    "top1": Column("top1", "Δ {split} top-1 (points)", parts=("delta_{split}_top1", *interval95("top1"))),
    "top4": Column("top4", "Δ {split} top-4 (points)", under="top1", parts=("delta_{split}_top4", *interval95("top4"))),
}


def describe(evaluation: EvaluationRef) -> str:
    """`test, 20,112 positions of 101 games, full history`."""
    return (
        f"{evaluation.split}, {evaluation.positions:,} positions of {evaluation.games:,} games, "
        f"{HISTORY[evaluation.history]}"
    )


def arms_table(results: StudyResults, evaluation: int, name: str = "arms") -> Table:
    """Every arm with its means over the seeds that have this evaluation, and its cost on the main one."""
    about, rows = results.study.evaluations[evaluation], []
    columns = of_split(ARMS if evaluation == MAIN else pick(ARMS, *_SCORES), about.split)
    for arm in results.study.arms:
        trials = results.evaluated(arm.id, evaluation)
        values = {"arm": arm.label, **_scores(results, arm.id, evaluation)}
        if evaluation == MAIN:
            cost, samples = arm_cost(results, arm.id), arm.config.training.samples
            values |= {"parameters": cost.parameters, "flops": cost.flops, "speed": cost.samples_per_s}
            values["samples"] = samples
        rows.append(make_row(columns, arm.id, values, tuple(trial.id for trial in trials.values()), evaluation))
    return Table(name, f"Arms: {describe(about)}", columns, tuple(rows))


def marks_table(results: StudyResults) -> Table | None:
    """Which enhancements each arm has, of a design in which arms have several; None for another design."""
    study = results.study
    if study.design not in _SEVERAL or len(study.contrasts) < 2:
        return None
    columns = [*pick(ARMS, "arm"), *(Column(contrast.card, contrast.card, "left") for contrast in study.contrasts)]
    rows = []
    for arm in study.arms:
        marks = {contrast.card: _mark(study, contrast, arm.config) for contrast in study.contrasts}
        rows.append(make_row(columns, arm.id, {"arm": arm.label, **marks}))
    return Table("marks", "Enhancements of each arm", tuple(columns), tuple(rows))


def _mark(study: Study, contrast: Contrast, config: TrialConfig) -> str | None:
    """✓ for an arm with the enhancement, ✗ for one without; None where neither is so."""
    states = []
    for path in config_paths():
        on, off = (
            {str(get_path(study.arm(arm).config, path)) for arm in arms}
            for arms in (contrast.with_it, contrast.without)
        )
        if len(on) == len(off) == 1 and on != off:
            value = {str(get_path(config, path))}
            states.append("✓" if value == on else "✗" if value == off else None)
    return states[0] if len(set(states)) == 1 else None


def _scores(results: StudyResults, arm: str, evaluation: int) -> dict[str, Any]:
    trials = results.evaluated(arm, evaluation)
    seeds, planned, ids = sorted(trials), results.due_seeds(arm), tuple(trial.id for trial in trials.values())
    count = formats.seed_count(len(seeds), planned)
    values: dict[str, Any] = {"seeds": Cell(formats.seeds(seeds, planned), seeds, ids, evaluation, short=count)}
    for metric in SUMMARISED:
        if (result := results.arm_result(arm, evaluation, metric)) is not None:
            values[metric] = float(result.means.mean())
            if metric == "nats" and len(result.seeds) > 1:
                values["sd"] = float(result.means.std(ddof=1))
    return values


def effects_table(
    results: StudyResults, analysis: StudyAnalysis, evaluation: int, worths: Mapping[str, Worth] | None = None
) -> Table:
    """Effects on the loss with their intervals, the two parts of the standard error, q, verdict and runs; their cost,
    and their worth where a curve of the control is known."""
    rows, about = [], results.study.evaluations[evaluation]
    named = results.study.design in NAMED and not analysis.is_mean
    keys = [key for key in _EFFECTS if analysis.at_base or key != "at_base"] + [*WORTH] * bool(worths)
    columns = (*of_split(pick(EFFECTS, *keys), about.split), *([AGAINST] if named else []))
    for contrast in results.study.contrasts:
        effect, verdict = analysis.effect(contrast.card), analysis.verdict(contrast.card)
        values: dict[str, Any] = {"card": contrast.card, **cost_values(results, contrast)}
        if effect is None or verdict is None:
            reason = f"{EffectVerdict.NO_RESULT}: {analysis.left_out[contrast.card]}"
            values["verdict"] = Cell(reason, EffectVerdict.NO_RESULT, escape=True, short=str(EffectVerdict.NO_RESULT))
        else:
            values |= effect_values(effect, analysis.at_base.get(contrast.card), verdict)
        trials = used_trials(results, contrast, evaluation) if effect is not None else ()
        values |= {"own": len(trials) or None, **worth_values((worths or {}).get(contrast.card))}
        values |= {"against": f"against {against(results.study, contrast)}"} if named else {}
        details = effect_details(results, trials)
        rows.append(make_row(columns, contrast.card, values, trials, evaluation, details))
    notes = filter(None, [against_note(results.study, analysis)])
    return Table("effects", f"Effects on the loss: {describe(about)}", columns, tuple(rows), tuple(notes))


def effect_values(
    effect: Effect, at_base: Effect | None, verdict: EffectVerdict, metric: str = "nats"
) -> dict[str, Any]:
    """Values of the columns of an effect (`reports.tables.entities.EFFECTS`) that need no study."""
    return {
        "estimand": "mean" if at_base else "base",
        "delta": effect.delta,
        "interval": _ends(effect.interval95),
        "interval90": _ends(effect.interval90),
        "at_base": None if at_base is None else [at_base.delta, *(_ends(at_base.interval95) or (None, None))],
        "p": effect.p,
        "q": effect.q,
        "verdict": Cell(verdict_text(verdict, effect, metric), verdict),
        "bound": effect.bound,
        "parts": [effect.se_seed, effect.se_eval],
        "se": effect.se,
        "df": effect.df,
        "runs": list(effect.runs),
    }


def effect_details(results: StudyResults, trials: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """What a row of effects shows on demand: the study's trials by arm, and the command."""
    trials = tuple(trials)
    behind = [(f"{len(trials)} trials of this study", ", ".join(_by_arm(results, trials)))] if trials else []
    return (*behind, ("study", results.study.id), ("command", study_command(results.study)))


def _by_arm(results: StudyResults, trials: Iterable[str]) -> list[str]:
    """`gonn-b5: 1f2e… 77ab…`, the trials of each arm; without labels where there are many arms."""
    chosen, arms = set(trials), dict[str, list[str]]()
    for trial in results.trials:
        if trial.id in chosen:
            arms.setdefault(results.study.arm(trial.arm).label, []).append(trial.id)
    if len(arms) > _ARMS_NAMED:
        return [" ".join(ids) for ids in arms.values()]
    return [f"{label}: {' '.join(ids)}" for label, ids in arms.items()]


def interval_cell(effect: Effect | None, trials: tuple[str, ...], evaluation: int, unit: str = "nats") -> Cell:
    """An effect with its interval."""
    if effect is None:
        return Cell(formats.NONE)
    text = formats.with_interval(effect.delta, effect.interval95, unit)
    return Cell(text, [effect.delta, *(_ends(effect.interval95) or ())], trials, evaluation)


def deltas_table(
    results: StudyResults, analyses: Mapping[str, StudyAnalysis], evaluation: int, name: str, title: str
) -> Table:
    """Effects on several metrics with their intervals and q; on the main evaluation with their cost."""
    about, costs = results.study.evaluations[evaluation], evaluation == MAIN
    first, *others = analyses
    rates = [Column(f"{metric}_q", METRICS[metric].title, under=f"{first}_q") for metric in others]
    columns = (
        *pick(EFFECTS, "card"),
        *(_DELTAS[metric] for metric in analyses),
        Column(f"{first}_q", f"q: {METRICS[first].title}"),
        *rates,
        *(pick(EFFECTS, *_COSTS, brief=True) if costs else ()),
    )
    rows = []
    for contrast in results.study.contrasts:
        values = _delta_cells(results, contrast, analyses, evaluation)
        values |= cost_values(results, contrast) if costs else {}
        rows.append(make_row(columns, contrast.card, {"card": contrast.card, **values}))
    return Table(name, f"{title}: {describe(about)}", of_split(columns, about.split), tuple(rows))


def _delta_cells(
    results: StudyResults, contrast: Contrast, analyses: Mapping[str, StudyAnalysis], evaluation: int
) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    trials = used_trials(results, contrast, evaluation)
    for metric, analysis in analyses.items():
        effect = analysis.effect(contrast.card)
        cells[metric] = interval_cell(effect, trials, evaluation, METRICS[metric].unit)
        q = None if effect is None else effect.q
        cells[f"{metric}_q"] = Cell(formats.q_value(q), q, trials if effect else (), evaluation)
    return cells


def cost_values(results: StudyResults, contrast: Contrast) -> dict[str, Any]:
    """Additional cost of the arms with an enhancement: parameters as a difference, operations and speed as ratios."""
    on, off = mean_cost(results, contrast.with_it), mean_cost(results, contrast.without)
    speed = None if on.samples_per_s is None or off.samples_per_s is None else on.samples_per_s / off.samples_per_s
    ends = speed_factor_range(results, contrast.with_it, contrast.without)
    spread = f" [{formats.factor(ends[0])}, {formats.factor(ends[1])}]" if ends and speed else ""
    return {
        "parameters": on.parameters - off.parameters,
        "flops": on.flops / off.flops,
        "speed": Cell(formats.ratio(speed) + spread, speed),
    }


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def settings_table(study: Study) -> Table:
    """The settings of a study's first arm that are not the default, each under its dotted path."""
    config, default = study.arms[0].config, TrialConfig()
    columns = Column("setting", "setting", "left"), Column("value", "value", "left")
    rows = [
        make_row(columns, path, {"setting": path, "value": setting_text(value)})
        for path in config_paths()
        if (value := get_path(config, path)) != get_path(default, path)
    ]
    note = "config.json in the directory of a trial has all settings."
    return Table("settings", "Settings that are not the default", columns, tuple(rows), (note,))


def trials_table(results: StudyResults) -> Table:
    """Every trial: state, machine, cost, and its scores on each evaluation."""
    scores = [
        (
            number,
            metric,
            Column(
                f"{metric}-{evaluation.split}-{evaluation.history}".replace("_", "-"),
                f"{metric}, {describe(evaluation)}",
                parts=(_score_name(evaluation, metric),),
                show=partial(formats.level, unit=METRICS[metric].unit),
            ),
        )
        for number, evaluation in enumerate(results.study.evaluations)
        for metric in SUMMARISED
    ]
    columns = (*pick(TRIALS, *_TRIAL), *(column for _, _, column in scores))
    rows = []
    for trial in results.trials:
        values = trial_values(trial)
        values["device"] = device_label(values["device"] or formats.NONE, str(trial.session.get("compile", "none")))
        for number, metric, column in scores:
            if (evaluation := trial.evaluations[number]) is not None:
                values[column.key] = column.cell(evaluation.summary[metric], (trial.id,), number)
        rows.append(make_row(columns, trial.id, values, (trial.id,)))
    return Table("trials", "Trials", columns, tuple(rows))


_TRIAL = (
    *("arm", "seed", "trial", "state", "weights", "samples"),
    *("samples_per_s", "cpu_seconds", "device", "machine", "torch"),
)


def trial_values(trial: TrialResult) -> dict[str, Any]:
    """Values of the columns of a trial (`reports.tables.entities.TRIALS`) that need no study."""
    result = trial.result or {}
    of_result = ("weights", "samples", "parameters", "samples_per_s", "training_seconds", "cpu_seconds", "wall_seconds")
    return {
        "arm": trial.arm,
        "seed": trial.seed,
        "trial": trial.id,
        "state": trial.state,
        **{name: result.get(name) for name in of_result},
        "device": trial.session.get("device"),
        "machine": " and ".join(trial.machines) or None,
        "torch": trial.session.get("versions", {}).get("torch"),
        "failure": trial.failure,
    }


def _score_name(evaluation: EvaluationRef, metric: str) -> str:
    """`test_nats`, `test_nats_as_published`."""
    history = "" if evaluation.history == "full" else f"_{evaluation.history}"
    return f"{evaluation.split}_{metric}{history}"
