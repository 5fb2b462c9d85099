"""The tables of a study: arms, effects on the loss, effects on the hit rates with their cost."""

from collections.abc import Mapping
from dataclasses import replace

from ablations.study import Arm, Contrast, EvaluationRef, Study
from ablations.wording import setting_text
from gonn_core.config import TrialConfig, config_paths, get_path
from gonn_core.metrics import METRICS, SUMMARISED
from reports.results.compare import StudyAnalysis, used_trials
from reports.results.costs import arm_cost, mean_cost, speed_factor_range
from reports.results.group import MAIN
from reports.results.study_results import StudyResults
from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import EffectVerdict
from reports.study.against import AGAINST, NAMED, against, against_note
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.histories import HISTORY
from reports.tables.splits import of_split
from reports.tables.verdicts import BOUND, verdict_bound, verdict_text
from reports.worth.effects import WORTH_COLUMNS, worth_cells
from reports.worth.worth import Worth

_ARM_COLUMNS = (
    Column("arm", "arm", "left"),
    Column("parameters", "parameters"),
    Column("flops", "FLOPs per sample", under="parameters"),
    Column("speed", "samples/s", under="parameters"),
    Column("samples", "samples"),
    Column("seeds", "seeds", "left", under="samples"),
    Column("nats", "{split} nats", parts=("{split}_nats",)),
    Column("sd", "sd of seeds", brief=False, under="nats", parts=("sd_of_seeds",)),
    Column("top1", "{split} top-1", parts=("{split}_top1",)),
    Column("top4", "{split} top-4", under="top1", parts=("{split}_top4",)),
)
_SCORE_COLUMNS = tuple(column for column in _ARM_COLUMNS if column.key in ("arm", "seeds", "sd", *SUMMARISED))
_COST_COLUMNS = (
    Column("parameters", "Δ parameters"),
    Column("flops", "FLOPs", under="parameters"),
    Column("speed", "samples/s", under="parameters"),
)
_EFFECT_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("delta", "Δ {split} nats", parts=("delta_{split}_nats",)),
    Column("interval", "95 % interval", under="delta", parts=interval95()),
    Column("at_base", "at the base", under="delta", parts=("at_base", *interval95("at_base"))),
    Column("verdict", "verdict", "left"),
    BOUND,
    Column("q", "q", brief=False),
    Column("parts", "s.e.: runs, games", parts=("se_runs", "se_games")),
    Column("runs", "runs: with and without", parts=("runs_with", "runs_without")),
    Column("own", "of this study", brief=False, under="runs"),
    *(replace(column, brief=False) for column in _COST_COLUMNS),
)
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
    """Every arm with its means over the seeds that have this evaluation; with those of the main one its cost."""
    about, rows = results.study.evaluations[evaluation], []
    for arm in results.study.arms:
        costs = _arm_costs(results, arm) if evaluation == MAIN else {}
        rows.append(Row(arm.id, {"arm": text_cell(arm.label), **costs, **_scores(results, arm.id, evaluation)}))
    columns = _ARM_COLUMNS if evaluation == MAIN else _SCORE_COLUMNS
    return Table(name, f"Arms: {describe(about)}", of_split(columns, about.split), tuple(rows))


def _arm_costs(results: StudyResults, arm: Arm) -> dict[str, Cell]:
    cost, samples = arm_cost(results, arm.id), arm.config.training.samples
    return {
        "parameters": Cell(formats.count(cost.parameters), cost.parameters),
        "flops": Cell(formats.operations(cost.flops), cost.flops),
        "speed": Cell(formats.NONE if cost.samples_per_s is None else f"{cost.samples_per_s:,.0f}", cost.samples_per_s),
        "samples": Cell(formats.count(samples), samples),
    }


def _scores(results: StudyResults, arm: str, evaluation: int) -> dict[str, Cell]:
    trials = results.evaluated(arm, evaluation)
    ids = tuple(trial.id for trial in trials.values())
    seeds, planned = sorted(trials), results.due_seeds(arm)
    count = formats.seed_count(len(seeds), planned)
    cells = {"seeds": Cell(formats.seeds(seeds, planned), seeds, ids, evaluation, short=count)}
    for metric in SUMMARISED:
        result = results.arm_result(arm, evaluation, metric)
        mean = None if result is None else float(result.means.mean())
        cells[metric] = Cell(
            formats.NONE if mean is None else formats.level(mean, METRICS[metric].unit), mean, ids, evaluation
        )
        if metric == "nats":
            sd = float(result.means.std(ddof=1)) if result is not None and len(result.seeds) > 1 else None
            cells["sd"] = Cell(formats.NONE if sd is None else f"{sd:.4f}", sd, ids, evaluation)
    return cells


def effects_table(
    results: StudyResults, analysis: StudyAnalysis, evaluation: int, worths: Mapping[str, Worth] | None = None
) -> Table:
    """Effects on the loss with their intervals, the two parts of the standard error, q, verdict and runs; their cost,
    and where a curve tells it their worth."""
    rows, about = [], results.study.evaluations[evaluation]
    named = results.study.design in NAMED and not analysis.is_mean
    for contrast in results.study.contrasts:
        effect, verdict = analysis.effect(contrast.card), analysis.verdict(contrast.card)
        if effect is None or verdict is None:
            reason = f"no result yet: {analysis.left_out[contrast.card]}"
            cells = dict.fromkeys((column.key for column in _EFFECT_COLUMNS), Cell(formats.NONE))
            cells["verdict"] = Cell(reason, escape=True, short="no result yet")
        else:
            trials = used_trials(results, contrast, evaluation)
            cells = effect_cells(effect, analysis.at_base.get(contrast.card), verdict, trials, evaluation)
        cells |= worth_cells(worths.get(contrast.card)) if worths else {}
        cells |= {"against": text_cell(f"against {against(results.study, contrast)}")} if named else {}
        rows.append(Row(contrast.card, {**cells, "card": text_cell(contrast.card), **cost_cells(results, contrast)}))
    columns = [column for column in _EFFECT_COLUMNS if analysis.at_base or column.key != "at_base"]
    return Table(
        "effects",
        f"Effects on the loss: {describe(about)}",
        (*of_split(columns, about.split), *([AGAINST] if named else []), *(WORTH_COLUMNS if worths else ())),
        tuple(rows),
        tuple(filter(None, [against_note(results.study, analysis)])),
    )


def effect_cells(
    effect: Effect, at_base: Effect | None, verdict: EffectVerdict, trials: tuple[str, ...], evaluation: int
) -> dict[str, Cell]:
    """Of an effect on the loss; trials: the study's own ones."""

    def cell(text, value):
        return Cell(text, value, trials, evaluation)

    run_part = formats.NONE if effect.se_seed is None else f"{effect.se_seed:.4f}"
    game_part = f"{effect.se_eval:.4f}" if effect.se_eval >= 5e-5 else "≈ 0"  # 0 where the estimate is not above it
    return {
        "delta": cell(formats.signed(effect.delta), effect.delta),
        "interval": cell(formats.interval(effect.interval95), _ends(effect.interval95)),
        "at_base": replace(
            interval_cell(at_base, trials, evaluation), short=None if at_base is None else formats.signed(at_base.delta)
        ),
        "parts": cell(f"{run_part}, {game_part}", [effect.se_seed, effect.se_eval]),
        "q": cell(formats.q_value(effect.q), effect.q),
        "verdict": cell(verdict_text(verdict, effect), str(verdict)),
        "bound": cell("", verdict_bound(verdict, effect)),
        "runs": cell(f"{effect.runs[0]} and {effect.runs[1]}", list(effect.runs)),
        "own": cell(str(len(trials)), len(trials)),
    }


def interval_cell(effect: Effect | None, trials: tuple[str, ...], evaluation: int, unit: str = "nats") -> Cell:
    """An effect with its interval."""
    if effect is None:
        return Cell(formats.NONE)
    text = formats.with_interval(effect.delta, effect.interval95, unit)
    return Cell(text, [effect.delta, *(_ends(effect.interval95) or ())], trials, evaluation)


def deltas_table(
    results: StudyResults, analyses: Mapping[str, StudyAnalysis], evaluation: int, name: str, title: str
) -> Table:
    """Effects on several metrics with their intervals and q; on the main evaluation with what they cost."""
    about, costs = results.study.evaluations[evaluation], _COST_COLUMNS if evaluation == MAIN else ()
    first, *others = analyses
    rates = [Column(f"{each}_q", METRICS[each].title, under=f"{first}_q") for each in others]
    columns = (
        *(_DELTAS[each] for each in analyses),
        Column(f"{first}_q", f"q: {METRICS[first].title}"),
        *rates,
        *costs,
    )
    rows = []
    for each in results.study.contrasts:
        cells = _delta_cells(results, each, analyses, evaluation) | (cost_cells(results, each) if costs else {})
        rows.append(Row(each.card, {"card": text_cell(each.card), **cells}))
    split = of_split((_EFFECT_COLUMNS[0], *columns), about.split)
    return Table(name, f"{title}: {describe(about)}", split, tuple(rows))


def _delta_cells(
    results: StudyResults, contrast: Contrast, analyses: Mapping[str, StudyAnalysis], evaluation: int
) -> dict[str, Cell]:
    cells, trials = {}, used_trials(results, contrast, evaluation)
    for metric, analysis in analyses.items():
        effect = analysis.effect(contrast.card)
        cells[metric] = interval_cell(effect, trials, evaluation, METRICS[metric].unit)
        q = None if effect is None else effect.q
        cells[f"{metric}_q"] = Cell(formats.q_value(q), q, trials if effect else (), evaluation)
    return cells


def cost_cells(results: StudyResults, contrast: Contrast) -> dict[str, Cell]:
    """What the arms with it cost more than those without: parameters as a difference, operations and speed as
    ratios."""
    on, off = mean_cost(results, contrast.with_it), mean_cost(results, contrast.without)
    speed = None if on.samples_per_s is None or off.samples_per_s is None else on.samples_per_s / off.samples_per_s
    ends = speed_factor_range(results, contrast.with_it, contrast.without)
    spread = f" [{formats.factor(ends[0])}, {formats.factor(ends[1])}]" if ends and speed else ""
    return {
        "parameters": Cell(formats.signed_count(on.parameters - off.parameters), on.parameters - off.parameters),
        "flops": Cell(formats.ratio(on.flops / off.flops), on.flops / off.flops),
        "speed": Cell(formats.ratio(speed) + spread, speed),
    }


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def settings_table(study: Study) -> Table:
    """The settings of a study's first arm that are not the default, each under its dotted path."""
    config, default = study.arms[0].config, TrialConfig()
    rows = [
        Row(path, {"setting": text_cell(path), "value": text_cell(setting_text(value))})
        for path in config_paths()
        if (value := get_path(config, path)) != get_path(default, path)
    ]
    columns = Column("setting", "setting", "left"), Column("value", "value", "left")
    note = "config.json in the directory of a trial has all settings."
    return Table("settings", "Settings that are not the default", columns, tuple(rows), (note,))
