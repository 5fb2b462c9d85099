"""Every trial of a study: state, what it ran on and took, and its scores on each evaluation."""

from ablations.study import EvaluationRef
from gonn_core.metrics import METRICS, SUMMARISED
from gonn_core.training.compiling import device_label
from reports.results.study_results import StudyResults
from reports.study.tables import describe
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

_COLUMNS = (
    Column("arm", "arm", "left"),
    Column("seed", "seed"),
    Column("trial", "trial", "left"),
    Column("state", "state", "left"),
    Column("weights", "final weights", "left"),
    Column("samples", "samples"),
    Column("samples_per_s", "samples/s in training"),
    Column("cpu_seconds", "CPU seconds"),
    Column("device", "device", "left"),
    Column("machine", "kind of machine", "left"),
    Column("torch", "torch", "left"),
)


def _csv_name(evaluation: EvaluationRef, metric: str) -> str:
    """`test_nats`, `test_nats_as_published`."""
    history = "" if evaluation.history == "full" else f"_{evaluation.history}"
    return f"{evaluation.split}_{metric}{history}"


def trials_table(results: StudyResults) -> Table:
    """Every trial: state, what it ran on and took, and its scores on each evaluation."""
    evaluations = results.study.evaluations
    scores = [
        (
            number,
            metric,
            Column(
                f"{metric}-{e.split}-{e.history}".replace("_", "-"),
                f"{metric}, {describe(e)}",
                parts=(_csv_name(e, metric),),
            ),
        )
        for number, e in enumerate(evaluations)
        for metric in SUMMARISED
    ]
    columns = _COLUMNS + tuple(column for _, _, column in scores)
    rows = []
    for trial in results.trials:
        result = trial.result or {}
        compiled = str(trial.session.get("compile", "none"))
        numbers = {name: result.get(name) for name in ("samples", "samples_per_s", "cpu_seconds")}
        cells = {
            "arm": text_cell(trial.arm),
            "seed": Cell(str(trial.seed), trial.seed),
            "trial": text_cell(trial.id, [trial.id]),
            "state": text_cell(trial.state),
            "weights": text_cell(result.get("weights", formats.NONE)),
            **{
                name: Cell(formats.NONE if value is None else f"{value:,.0f}", value) for name, value in numbers.items()
            },
            "device": text_cell(device_label(trial.session.get("device", formats.NONE), compiled)),
            "machine": text_cell(" and ".join(trial.machines) or formats.NONE),
            "torch": text_cell(trial.session.get("versions", {}).get("torch", formats.NONE)),
        }
        for number, metric, column in scores:
            evaluation = trial.evaluations[number]
            value = None if evaluation is None else evaluation.summary[metric]
            text = formats.NONE if value is None else formats.level(value, METRICS[metric].unit)
            cells[column.key] = Cell(text, value, (trial.id,) if evaluation else (), number)
        rows.append(Row(trial.id, cells))
    return Table("trials", "Trials", columns, tuple(rows))
