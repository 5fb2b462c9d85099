"""A study's report for programs: all its numbers as one tree, and the manifest of the runs behind every cell."""

from dataclasses import asdict

from reports.results.compare import StudyAnalysis
from reports.results.study_results import TrialResult
from reports.study.report import Report
from reports.study.report_tables import ReportTables
from reports.tables.cells import Cell

FORMAT = 1


def report_tree(report: Report, tables: ReportTables) -> dict:
    """All numbers of a report."""
    study = report.study
    return {
        "format": FORMAT,
        "study": study.model_dump(mode="json", exclude={"arms", "trials"}),
        "done": [report.results.finished, len(report.results.trials)],
        "sentences": report.sentences,
        "analyses": [
            {
                "evaluation": {**study.evaluations[number].model_dump(mode="json"), "number": number},
                "metric": metric,
                **_effects_tree(analysis),
            }
            for (number, metric), analysis in report.analyses.items()
        ],
        "claims": [
            {"card": finding.card, "claim": finding.claim.model_dump(mode="json"), "ours": asdict(finding.measured)}
            for finding in report.findings
        ],
        "tables": {
            table.name: {row.key: {key: cell.value for key, cell in row.cells.items()} for row in table.rows}
            for table in tables.all
        },
        "notes": report.notes,
        **({"said": [each.plain for each in report.said]} if report.said else {}),
    }


def _effects_tree(analysis: StudyAnalysis) -> dict:
    effects = {
        card: asdict(effect) | ({"verdict": str(analysis.verdicts[card])} if card in analysis.verdicts else {})
        for card, effect in analysis.effects.items()
    }
    return {
        "effects": effects,
        "at_base": {card: asdict(effect) for card, effect in analysis.at_base.items()},
        "left_out": analysis.left_out,
        "runs": dict(zip(("all", "own"), analysis.runs, strict=True)),
        "noise": None if analysis.noise is None else asdict(analysis.noise),
    }


def manifest(report: Report, tables: ReportTables) -> dict:
    """The study's own trials, evaluations and weights behind every cell that was computed from some; all its trials;
    `group`: by study, the runs that its effects are estimated from."""
    trials = {trial.id: trial for trial in report.results.trials}
    group: dict[str, list[str]] = {}
    for run in report.group.runs:
        study = report.study if run.trial.id in trials else run.results.study
        group.setdefault(study.id, []).append(run.trial.id)
    cells = {
        table.name: {
            row.key: {key: _behind(cell, trials) for key, cell in row.cells.items() if cell.trials}
            for row in table.rows
        }
        for table in tables.all
    }
    return {
        "format": FORMAT,
        "study": report.study.id,
        "group": group,
        "tables": {name: {key: row for key, row in rows.items() if row} for name, rows in cells.items()},
        "trials": {trial.id: trial_tree(trial) for trial in report.results.trials},
    }


def _behind(cell: Cell, trials: dict[str, TrialResult]) -> dict:
    behind = [trials[trial] for trial in cell.trials if trial in trials]  # a control's curve is of other studies too
    tree = {"trials": list(cell.trials), "weights": [trial.result["weights"] for trial in behind if trial.result]}
    if cell.evaluation is not None:
        evaluations = [trial.evaluations[cell.evaluation] for trial in behind]
        tree["evaluations"] = [evaluation.summary["id"] for evaluation in evaluations if evaluation]
    return tree


def trial_tree(trial: TrialResult) -> dict:
    """What a manifest says of a trial."""
    about = {"arm": trial.arm, "seed": trial.seed, "state": trial.state, "failure": trial.failure}
    known = trial.result or {}
    result = {name: known[name] for name in ("weights", "samples", "trained_as") if name in known}
    named = ("id", "split", "history", "subset", "positions", "games")
    evaluations = [{name: each.summary[name] for name in named} for each in trial.evaluations if each]
    return {**about, **result, "evaluations": evaluations}
