"""The columns of effects, arms, trials, evaluations, curves, claims and games, each declared once. Tables choose some
of them; data frames (`reports.frames`) have all that declare a field."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gonn_core.evaluation.metrics import WATCHED
from gonn_core.metrics import METRICS, OF_POSITIONS, OF_TRAINING, SUMMARISED
from reports.tables import formats
from reports.tables.cells import Column, DType, Field

UNIT = "see unit"


def _text(key: str, title: str, meaning: str, name: str = "", **more: Any) -> Column:
    return Column(key, title, "left", fields=(Field(name or key, "str", "", meaning),), **more)


def _number(
    key: str, title: str, unit: str, meaning: str, dtype: DType = "float64", name: str = "", **more: Any
) -> Column:
    more.setdefault("show", formats.count if dtype != "float64" else str)
    return Column(key, title, fields=(Field(name or key, dtype, unit, meaning),), **more)


def _ends(name: str, of: str, unit: str, low: str = "", high: str = "") -> tuple[Field, Field]:
    return (
        Field(low or f"{name}_low", "float64", unit, f"lower end of {of}"),
        Field(high or f"{name}_high", "float64", unit, f"upper end of {of}"),
    )


def _metric(name: str, of: str, prefix: str = "") -> Column:
    return _hidden(f"{prefix}{name}", "float64", METRICS[name].unit, f"{METRICS[name].title}: {of}")


def _hidden(key: str, dtype: DType, unit: str, meaning: str) -> Column:
    """A column of data frames only."""
    return Column(key, key, printed=False, fields=(Field(key, dtype, unit, meaning),))


def _level(unit: str = "nats"):
    return lambda value: formats.level(value, unit)


def signed_pair(ends: list[float]) -> str:
    """`[−0.0200, −0.0046]`."""
    return f"[{formats.signed(ends[0])}, {formats.signed(ends[1])}]"


def signed_with_ends(values: list[float]) -> str:
    """`−0.0123 [−0.0200, −0.0046]`; the number alone without ends."""
    first = formats.signed(values[0])
    return first if values[1] is None else f"{first} {signed_pair(values[1:])}"


def _standard_errors(parts: list[float | None]) -> str:
    """`0.0031, 0.0012`; `≈ 0` where the estimated variance between games is not above 0."""
    run, game = parts
    return f"{formats.NONE if run is None else f'{run:.4f}'}, {f'{game:.4f}' if game and game >= 5e-5 else '≈ 0'}"


_STUDY = (
    _text("study", "study", "id of the study: folder below studies/", brief=False, printed=False),
    _text(
        "base", "base", "net and training that the enhancements are applied to", brief=False, under="card", facet=True
    ),
    _hidden("budget", "str", "", "smoke, cpu, gpu or paper"),
    _hidden("data", "str", "", "data set"),
)
_EVALUATION = (
    _hidden("split", "str", "", "validation or test"),
    _hidden(
        "history", "str", "", "full; as_published: dropped as in the published test rows; none: without earlier moves"
    ),
    _hidden("main", "bool", "", "True for the study's main evaluation, which its tables show"),
)
_SIZE = (
    _hidden("positions", "int64", "positions", "positions evaluated"),
    _hidden("games", "int64", "games", "games of these positions"),
)

EFFECTS = (
    _text("card", "enhancement", "the enhancement: once per group, all runs of a base under the same conditions"),
    *_STUDY,
    Column("system", "system", "left", brief=False, under="card", facet=True),
    Column("topic", "topic", "left", brief=False, under="card"),
    *_EVALUATION,
    _hidden(
        "metric",
        "str",
        "",
        "what is compared, on the games of the split: nats on test games are test nats; train_nats is of the training "
        "positions on every split",
    ),
    _hidden("unit", "str", "", "unit of differences, standard errors, intervals and bounds"),
    _hidden("better", "str", "", "lower or higher: the better direction of the metric"),
    _hidden("estimand", "str", "", "of delta: mean, over the other enhancements on and off; base, with all others off"),
    Column("samples", "samples", show=formats.count),
    _number(
        "delta",
        "Δ {split} nats",
        UNIT,
        "with the enhancement minus without it, by the model of the group",
        show=formats.signed,
    ),
    Column(
        "interval",
        "95 % interval",
        under="delta",
        show=signed_pair,
        fields=_ends("interval95", "the 95 % interval", UNIT),
    ),
    Column("interval90", "90 % interval", printed=False, fields=_ends("interval90", "the 90 % interval", UNIT)),
    Column(
        "at_base",
        "at the base",
        under="delta",
        show=signed_with_ends,
        fields=(
            Field("at_base", "float64", UNIT, "the difference at the base, where the estimand is a mean"),
            *_ends("at_base", "its 95 % interval", UNIT),
        ),
    ),
    _hidden("p", "float64", "", "two-sided p of no difference; with interim analyses the p of all of them together"),
    _number(
        "q",
        "q",
        "",
        "false discovery rate over all effects on this metric and kind of games",
        show=formats.q_value,
        printed=False,
    ),
    _text(
        "verdict",
        "verdict",
        "by q: helps, hurts, leans to helping, leans to hurting, not shown, underpowered; unfinished, not a result",
    ),
    _number(
        "bound", "smaller than", UNIT, "upper limit of the effect's size: farther end of interval90", printed=False
    ),
    _number(
        "could_show",
        "could show",
        UNIT,
        "the smallest size that would have been shown, with the planned power",
        under="verdict",
        brief=False,
        show="{:.4f}".format,
    ),
    Column(
        "parts",
        "s.e.: runs, games",
        brief=False,
        show=_standard_errors,
        fields=(
            Field("se_runs", "float64", UNIT, "standard error from the noise between runs"),
            Field("se_games", "float64", UNIT, "standard error from the noise between games of the evaluation"),
        ),
    ),
    _hidden("se", "float64", UNIT, "standard error of the difference: both parts"),
    _hidden("df", "float64", "", "degrees of freedom of se"),
    Column(
        "runs",
        "runs: with and without",
        show=lambda runs: f"{runs[0]} and {runs[1]}",
        fields=(
            Field("runs_with", "int64", "", "runs of the group with the enhancement"),
            Field("runs_without", "int64", "", "runs of the group without it"),
        ),
    ),
    _number(
        "own", "of the study", "", "how many of them belong to the study's own arms", "Int64", "own_runs", under="runs"
    ),
    Column(
        "worth",
        "worth: samples",
        brief=False,
        fields=(
            Field("worth", "float64", "", "factor of samples with the same gain, of effects that are shown or lean"),
            *_ends("worth", "its 95 % interval; missing where it is open or worth is extrapolated", ""),
        ),
    ),
    Column(
        "worth_operations",
        "operations",
        brief=False,
        under="worth",
        fields=(
            Field("worth_operations", "float64", "", "the same in operations of training"),
            *_ends("worth_operations", "its 95 % interval; missing like that of worth", ""),
        ),
    ),
    Column(
        "worth_time",
        "time",
        brief=False,
        under="worth",
        fields=(
            Field("worth_time", "float64", "", "the same in time, by the arms' measured speeds"),
            *_ends("worth_time", "its 95 % interval; missing like that of worth", ""),
        ),
    ),
    Column(
        "top1",
        "Δ {split} top-1 (points)",
        brief=False,
        parts=("delta_{split}_top1",),
        show=lambda value: formats.signed(value, "share"),
    ),
    Column("parameters", "Δ parameters", brief=False, show=formats.signed_count),
    Column("flops", "FLOPs", brief=False, under="parameters", show=formats.ratio),
    Column("speed", "samples/s", brief=False, under="parameters", show=formats.ratio),
    *_SIZE,
    _hidden("trials", "str", "", "ids of the study's own trials behind the effect, separated by spaces"),
)

ARMS = (
    Column("arm", "arm", "left"),
    Column("parameters", "parameters", show=formats.count),
    Column("flops", "FLOPs per sample", under="parameters", show=formats.operations),
    Column("speed", "samples/s", under="parameters", show="{:,.0f}".format),
    Column("samples", "samples", show=formats.count),
    Column("seeds", "seeds", "left", under="samples"),
    Column("nats", "{split} nats", parts=("{split}_nats",), show=_level()),
    Column("sd", "sd of seeds", brief=False, under="nats", parts=("sd_of_seeds",), show="{:.4f}".format),
    Column("top1", "{split} top-1", parts=("{split}_top1",), show=_level("share")),
    Column("top4", "{split} top-4", under="top1", parts=("{split}_top4",), show=_level("share")),
)

_TRIAL = (
    *_STUDY,
    _text("arm", "arm", "id of the arm within the study"),
    _number("seed", "seed", "", "seed of weights and of the order of positions", "int64"),
    _text("trial", "trial", "id of the trial: folder below runs/; studies share trials"),
)

TRIALS = (
    *_TRIAL,
    _hidden("label", "str", "", "the arm in words"),
    _text("state", "state", "new, running, paused, failed or done"),
    _text("weights", "final weights", "checksum of the final weights"),
    _number("samples", "samples", "positions", "positions trained on, of a finished trial", "Int64"),
    _hidden("parameters", "Int64", "", "parameters of the net"),
    *(_metric(name, "final weights on the study's main evaluation, of test games", "test_") for name in SUMMARISED),
    *(_metric(name, "mean since the last but one progress point") for name in OF_TRAINING),
    _number("samples_per_s", "samples/s in training", "positions/s", "speed of training", show="{:,.0f}".format),
    _hidden("training_seconds", "float64", "s", "time in training steps"),
    _number("cpu_seconds", "CPU seconds", "s", "CPU time of all attempts", show="{:,.0f}".format),
    _hidden("wall_seconds", "float64", "s", "wall time of all attempts"),
    _text("device", "device", "device of the last attempt"),
    _text("machine", "kind of machine", "accelerator, or model and instruction sets of the CPU, of all attempts"),
    _text("torch", "torch", "version of PyTorch of the last attempt"),
    _hidden("failure", "str", "", "error of the last attempt of a failed trial"),
)

EVALUATIONS = (
    *_TRIAL,
    *_EVALUATION,
    _hidden("evaluation", "str", "", "id of the evaluation: file below runs/<trial>/eval/"),
    _hidden("samples", "int64", "positions", "positions on which the evaluated weights were trained"),
    *_SIZE,
    *(_metric(name, "mean over the positions of the split") for name in OF_POSITIONS),
)

CURVES = (
    *_TRIAL,
    _hidden("samples", "int64", "positions", "positions trained on so far"),
    *(_metric(name, "mean since the last point") for name in OF_TRAINING),
    *(_metric(name, "progress positions of validation games", "validation_") for name in (*SUMMARISED, *WATCHED)),
    _hidden("learning_rate", "float64", "", "learning rate of the step"),
    _hidden("samples_per_s", "float64", "positions/s", "speed of training since the last point"),
    _hidden("training_seconds", "float64", "s", "time in training steps so far"),
    _hidden("cpu_seconds", "float64", "s", "CPU time so far"),
    _hidden("wall_seconds", "float64", "s", "wall time so far"),
)

CLAIMS = (
    *_STUDY,
    _hidden("card", "str", "", "the enhancement"),
    _text("claim", "claim", "id of the claim on its card"),
    _hidden("metric", "str", "", "metric of the claim"),
    _hidden("quantity", "str", "", "difference, on (a value with the enhancement) or off (one without it)"),
    _hidden("direction", "str", "", "claimed direction: decrease, increase or no_change"),
    Column(
        "claimed",
        "claimed",
        "left",
        show=lambda values: values[0],
        fields=(
            Field("claimed", "str", "", "the claim in words"),
            *_ends("claimed", "the claim; both ends are equal for a single value", "of the metric"),
        ),
    ),
    Column("conditions", "claimed for", "left", under="claimed"),
    Column(
        "ours",
        "ours",
        "left",
        show=lambda values: values[0],
        fields=(
            Field("ours", "str", "", "what was measured, in words"),
            Field("ours_value", "float64", "of the metric", "what was measured"),
            *_ends("ours", "its 95 % interval, or of its range over layers", "of the metric"),
        ),
    ),
    _text(
        "verdict",
        "verdict",
        "replicated, smaller or larger than claimed, contradicted, not tested here, …; of counts: agrees, differs",
    ),
    Column("seeds", "seeds", under="verdict"),
    _text("note", "why", "reason of the verdict", brief=False),
    _text("document", "document", "document of the claim", under="claimed"),
    _hidden("section", "str", "", "section of the document"),
    _hidden("evidence", "str", "", "stated, read_from_picture, read_from_code, derived or unverified_memory"),
    Column("source", "document, section", "left", brief=False),
    _hidden("claimed_base", "str", "", "base of the claim"),
    _hidden("claimed_samples", "Int64", "positions", "positions trained on of the claim"),
    _hidden("claimed_stage", "str", "", "for a claim without samples: finished, any, early or unknown"),
    _hidden("claimed_games", "str", "", "data sets with the claim's years, filter and split; other: none of ours; any"),
    _hidden("trials", "str", "", "ids of the trials behind ours, separated by spaces"),
)

GAMES = (
    _hidden("match", "str", "", "id of the match: folder below matches/"),
    _hidden("game", "int64", "", "number of the game in it; its record is sgf/<game>.sgf"),
    _hidden("player_a", "str", "", "side A in words"),
    _hidden("player_b", "str", "", "side B in words"),
    _hidden("player_id_a", "str", "", "identity of side A: the same in every match"),
    _hidden("player_id_b", "str", "", "identity of side B"),
    _hidden("trial_a", "str", "", "trial of side A; missing for an engine"),
    _hidden("trial_b", "str", "", "trial of side B; missing for an engine"),
    _hidden("samples_a", "Int64", "positions", "positions that side A was trained on"),
    _hidden("samples_b", "Int64", "positions", "positions that side B was trained on"),
    _hidden("black", "str", "", "A or B: the side that played Black"),
    _hidden("winner", "str", "", "A or B; missing for a draw"),
    _hidden("points_a", "float64", "points", "1, 0, or 0.5 for a draw"),
    _hidden("result", "str", "", "as in SGF: B+3.5, W+R, 0"),
    _hidden("end", "str", "", "passes, resign, illegal or length"),
    _hidden("moves", "int64", "moves", "length of the game"),
)

ENTITIES: Mapping[str, tuple[Column, ...]] = {
    "trials": TRIALS,
    "effects": EFFECTS,
    "curves": CURVES,
    "evaluations": EVALUATIONS,
    "claims": CLAIMS,
    "games": GAMES,
}
"""Those that are data frames too."""


def pick(columns: Iterable[Column], *keys: str, **changed: Any) -> tuple[Column, ...]:
    """Some columns of an entity, in the order of `keys`; `changed`: fields of `Column` that differ in this table."""
    known = {column.key: column for column in columns}
    return tuple(replace(known[key], **changed) for key in keys)


def frame_fields(name: str) -> list[Field]:
    """The columns of a data frame in order."""
    return [field for column in ENTITIES[name] for field in column.fields]


def frame_row(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a data frame from values by the key of their column, as a table has them. Every declared column has a
    value, None if it is missing."""
    row: dict[str, Any] = {}
    for column in ENTITIES[name]:
        if len(column.fields) == 1:
            row[column.fields[0].name] = values[column.key]
        elif column.fields:
            several = values[column.key] or [None] * len(column.fields)
            row |= dict(zip((field.name for field in column.fields), several, strict=True))
    return row
