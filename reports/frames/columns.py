"""The columns of every frame: name, dtype, unit, meaning. `frames.describe` prints them."""

from dataclasses import dataclass
from typing import Literal

from gonn_core.evaluation.derived import WATCHED
from gonn_core.metrics import METRICS, OF_POSITIONS, OF_TRAINING, SUMMARISED

DType = Literal["str", "int64", "Int64", "float64", "bool"]
"""Int64 is pandas' integer with missing values; what is missing in a float64 or str column is NaN."""


@dataclass(frozen=True)
class Field:
    """One column of a frame. unit: empty for text, truth values and numbers without one."""

    name: str
    dtype: DType
    unit: str
    meaning: str


def _mean(name: str, of: str, metric: str) -> Field:
    return Field(name, "float64", METRICS[metric].unit, f"{METRICS[metric].title}: {of}")


_STUDY = (
    Field("study", "str", "", "id of the study: folder below studies/"),
    Field("base", "str", "", "net and training that the enhancements are put on"),
    Field("budget", "str", "", "smoke, cpu, gpu or paper"),
    Field("data", "str", "", "data set"),
)
_TRIAL = (
    *_STUDY,
    Field("arm", "str", "", "id of the arm within the study"),
    Field("seed", "int64", "", "seed of weights and of the order of positions"),
    Field("trial", "str", "", "id of the trial: folder below runs/; studies share trials"),
)
_EVALUATION = (
    Field("split", "str", "", "validation or test"),
    Field("history", "str", "", "full; as_published: dropped as in the published test rows; none: no earlier move"),
    Field("main", "bool", "", "whether it is the study's main evaluation, which fills its table"),
)

TRIALS = (
    *_TRIAL,
    Field("label", "str", "", "the arm in words"),
    Field("state", "str", "", "new, running, paused, failed or done"),
    Field("samples", "Int64", "positions", "positions trained on, of a trial that is done"),
    Field("parameters", "Int64", "", "parameters of the net"),
    *(
        _mean(f"test_{name}", "final weights on the study's main evaluation, of test games", name)
        for name in SUMMARISED
    ),
    *(_mean(name, "mean since the last but one progress point", name) for name in OF_TRAINING),
    Field("samples_per_s", "float64", "positions/s", "speed of training"),
    Field("training_seconds", "float64", "s", "time in training steps"),
    Field("cpu_seconds", "float64", "s", "CPU time of all attempts"),
    Field("wall_seconds", "float64", "s", "time of all attempts"),
    Field("device", "str", "", "device of the last attempt"),
    Field("machine", "str", "", "accelerator, or model and instruction sets of the CPU, of all attempts"),
    Field("torch", "str", "", "version of PyTorch of the last attempt"),
    Field("weights", "str", "", "digest of the final weights"),
    Field("failure", "str", "", "error of the last attempt of a trial that failed"),
)

EVALUATIONS = (
    *_TRIAL,
    *_EVALUATION,
    Field("evaluation", "str", "", "id of the evaluation: file below runs/<trial>/eval/"),
    Field("samples", "int64", "positions", "positions that the evaluated weights were trained on"),
    Field("positions", "int64", "positions", "positions evaluated"),
    Field("games", "int64", "games", "games that they are of"),
    *(_mean(name, "mean over the positions of the split", name) for name in OF_POSITIONS),
)

CURVES = (
    *_TRIAL,
    Field("samples", "int64", "positions", "positions trained on so far"),
    *(_mean(name, "mean since the last point", name) for name in OF_TRAINING),
    *(
        _mean(f"validation_{name}", "positions of validation games that training is watched on", name)
        for name in (*SUMMARISED, *WATCHED)
    ),
    Field("learning_rate", "float64", "", "learning rate of the step"),
    Field("samples_per_s", "float64", "positions/s", "speed of training since the last point"),
    Field("training_seconds", "float64", "s", "time in training steps so far"),
    Field("cpu_seconds", "float64", "s", "CPU time so far"),
    Field("wall_seconds", "float64", "s", "time so far"),
)

EFFECTS = (
    *_STUDY,
    Field("card", "str", "", "the enhancement: once for each group, all runs of a base under the same conditions"),
    *_EVALUATION,
    Field(
        "metric",
        "str",
        "",
        "what is compared, on the games of the split: nats where it is test are test nats; train_nats is of the "
        "training positions, whatever the split says",
    ),
    Field("unit", "str", "", "of differences, standard errors, intervals and bounds"),
    Field("better", "str", "", "lower or higher: in which direction the metric is better"),
    Field("estimand", "str", "", "of difference: mean, over the others on and off; base, with all others as there"),
    Field("difference", "float64", "see unit", "with the enhancement minus without it, by the model of the group"),
    Field("se_runs", "float64", "see unit", "standard error from the noise between runs"),
    Field("se_games", "float64", "see unit", "standard error from the noise between games of the evaluation"),
    Field("se", "float64", "see unit", "standard error of the difference: both parts"),
    Field("df", "float64", "", "degrees of freedom of se"),
    Field("interval95_low", "float64", "see unit", "lower end of the 95 % interval"),
    Field("interval95_high", "float64", "see unit", "upper end of it"),
    Field("interval90_low", "float64", "see unit", "lower end of the 90 % interval"),
    Field("interval90_high", "float64", "see unit", "upper end of it"),
    Field("at_base", "float64", "see unit", "the difference at the base, where the estimand is a mean"),
    Field("at_base_low", "float64", "see unit", "lower end of its 95 % interval"),
    Field("at_base_high", "float64", "see unit", "upper end of it"),
    Field("p", "float64", "", "two-sided p of no difference; of a study with looks that of all of them together"),
    Field("q", "float64", "", "false discovery rate over all effects of the frame on this metric and kind of games"),
    Field(
        "verdict",
        "str",
        "",
        "by q: helps, hurts, leans to helping, leans to hurting, not shown, underpowered; unfinished, not a result",
    ),
    Field("bound", "float64", "see unit", "what the effect is smaller than in size: farther end of interval90"),
    Field("could_show", "float64", "see unit", "the smallest size that would have been shown, with the planned power"),
    Field("runs_with", "int64", "", "runs of the group with the enhancement"),
    Field("runs_without", "int64", "", "runs of the group without it"),
    Field("own_runs", "int64", "", "how many of them are of the study's own arms"),
    Field("positions", "int64", "positions", "positions evaluated"),
    Field("games", "int64", "games", "games that they are of"),
    Field("worth", "float64", "", "factor of samples that would gain as much, of effects that are shown or lean"),
    Field("worth_low", "float64", "", "lower end of its 95 % interval; missing where it is open or worth extrapolated"),
    Field("worth_high", "float64", "", "upper end of it"),
    Field("worth_time", "float64", "", "the same in time, by the arms' measured speeds"),
    Field("worth_time_low", "float64", "", "lower end of its 95 % interval; missing like that of worth"),
    Field("worth_time_high", "float64", "", "upper end of it"),
    Field("trials", "str", "", "ids of the study's own trials behind it, separated by spaces"),
)

CLAIMS = (
    *_STUDY,
    Field("card", "str", "", "the enhancement"),
    Field("claim", "str", "", "id of the claim on its card"),
    Field("metric", "str", "", "what the claim is about"),
    Field("quantity", "str", "", "difference, on (a value with the enhancement) or off (one without it)"),
    Field("direction", "str", "", "how the metric is said to move: decrease, increase or no_change"),
    Field("claimed", "str", "", "the claim in words"),
    Field("claimed_low", "float64", "of the metric", "lower end of the claim; equal to the upper one for a value"),
    Field("claimed_high", "float64", "of the metric", "upper end of the claim"),
    Field("ours", "str", "", "what was measured, in words"),
    Field("ours_value", "float64", "of the metric", "what was measured"),
    Field("ours_low", "float64", "of the metric", "lower end of its 95 % interval, or of its range over layers"),
    Field("ours_high", "float64", "of the metric", "upper end of it"),
    Field(
        "verdict",
        "str",
        "",
        "replicated, smaller or larger than claimed, contradicted, not tested here, …; of counts: agrees, differs",
    ),
    Field("note", "str", "", "reason of the verdict"),
    Field("document", "str", "", "document that makes the claim"),
    Field("section", "str", "", "where it stands there"),
    Field("evidence", "str", "", "stated, read_from_picture, read_from_code, derived or unverified_memory"),
    Field("claimed_base", "str", "", "base that it is made for"),
    Field("claimed_samples", "Int64", "positions", "positions trained on that it is made for"),
    Field(
        "claimed_stage",
        "str",
        "",
        "where the claim has no samples: finished, any, early or unknown",
    ),
    Field("claimed_games", "str", "", "data sets with its years, filter and split; other: none of ours; any"),
    Field("trials", "str", "", "ids of the trials behind ours, separated by spaces"),
)

GAMES = (
    Field("match", "str", "", "id of the match: folder below matches/"),
    Field("game", "int64", "", "number of the game in it; its record is sgf/<game>.sgf"),
    Field("player_a", "str", "", "side A in words"),
    Field("player_b", "str", "", "side B in words"),
    Field("player_id_a", "str", "", "identity of side A: the same in every match"),
    Field("player_id_b", "str", "", "identity of side B"),
    Field("trial_a", "str", "", "trial of side A; missing for an engine"),
    Field("trial_b", "str", "", "trial of side B; missing for an engine"),
    Field("samples_a", "Int64", "positions", "positions that side A was trained on"),
    Field("samples_b", "Int64", "positions", "positions that side B was trained on"),
    Field("black", "str", "", "A or B: who had Black"),
    Field("winner", "str", "", "A or B; missing for a draw"),
    Field("points_a", "float64", "points", "1, 0, or 0.5 for a draw"),
    Field("result", "str", "", "as in SGF: B+3.5, W+R, 0"),
    Field("end", "str", "", "passes, resign, illegal or length"),
    Field("moves", "int64", "moves", "length of the game"),
)

COLUMNS = {
    "trials": TRIALS,
    "effects": EFFECTS,
    "curves": CURVES,
    "evaluations": EVALUATIONS,
    "claims": CLAIMS,
    "games": GAMES,
}
"""Frame -> its columns in order."""
