"""`gonn report` makes nothing again where nothing has changed, and everything where anything has."""

import json
import os
from pathlib import Path

import pytest

from orchestration import cli
from orchestration.unchanged import ReportNote, code
from orchestration.workspace import Workspace
from tests.reports.made_studies import Made, plan_study, train

SAID = "nothing has changed since these reports were made; over all studies: "


@pytest.fixture
def made(tmp_path, monkeypatch) -> Made:
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2))
    train(made, {"without-parametric_relu": 0.02})
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.setattr("orchestration.unchanged.code", lambda: b"as it was")  # somebody may be writing some while this runs
    return made


def settled(home: Path) -> ReportNote:
    """A workspace whose reports were just made, without making them."""
    ReportNote(Workspace(home)).keep()
    assert ReportNote(Workspace(home)).holds()
    return ReportNote(Workspace(home))


@pytest.mark.slow
def test_the_second_report_tells_what_the_first_one_found(made, capsys):
    assert cli.run(["report"]) == 0
    first = capsys.readouterr().out
    out = made.folder / "out"
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.rglob("*") if path.is_file()}
    assert cli.run(["report"]) == 0
    again = capsys.readouterr().out
    sentence = next(line for line in first.splitlines() if line.startswith("parametric_relu: Δ "))
    assert sentence in again and SAID in " ".join(again.split()) and SAID not in " ".join(first.split())
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.rglob("*") if path.is_file()} == before
    (out / made.study.id / "report.md").write_text("somebody's notes")
    assert cli.run(["report"]) == 0 and SAID not in capsys.readouterr().out
    note = out / ".sums" / "report.json"
    assert {path: path.read_bytes() for path in before if path != note} == {path: content for path, (content, _) in before.items() if path != note}


def test_code_and_declarations_are_looked_at():
    found = code().decode()
    assert all(name in found for name in ("reports/tables.py", "ablations/cards/gonn/parametric_relu.yaml", "templates/report.md.j2", "gonn_core/config.py"))


@pytest.mark.parametrize("name", ["metrics.jsonl", "result.json", "eval", "new trial", "study", "looks.json", "match", "declaration"])
def test_whatever_changes_the_reports_are_made_again(made, name, monkeypatch):
    home, trial = made.folder, made.runs / made.study.trials[0].trial
    settled(home)
    if name == "eval":
        os.utime(next((trial / "eval").glob("*.npz")), ns=(1, 1))
    elif name == "new trial":
        (made.runs / ("f" * 16)).mkdir()
        (made.runs / ("f" * 16) / "config.json").write_text("{}")
    elif name == "study":
        (home / "studies" / "another").mkdir()
        (home / "studies" / "another" / "study.json").write_text("{}")
    elif name == "looks.json":
        (made.study_folder / name).write_text("{}")
    elif name == "match":
        (home / "matches" / "m").mkdir(parents=True)
        (home / "matches" / "m" / "match.json").write_text("{}")
    elif name == "declaration":
        monkeypatch.setattr("orchestration.unchanged.code", lambda: b"changed")
    else:
        (trial / name).write_text("changed")
    assert not ReportNote(Workspace(home)).holds()


def test_what_is_no_part_of_a_report_changes_nothing(made):
    home = made.folder
    settled(home)
    for path in (home / "mlflow.db", home / "out" / "probes" / "board.png", home / "stores" / "store" / "rows.npy", made.study_folder / ".looks.lock"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    assert ReportNote(Workspace(home)).holds()


def test_while_a_trial_runs_nothing_is_taken_for_settled(made):
    home, trial = made.folder, made.runs / made.study.trials[0].trial
    note = settled(home)
    (trial / "lease.json").write_text("{}")
    assert not ReportNote(Workspace(home)).holds()
    (trial / "lease.json").unlink()
    (trial / "metrics.jsonl").write_text("a line that came in while the reports were made")
    note.keep()
    assert not ReportNote(Workspace(home)).holds()
    for damaged in ("no JSON", json.dumps({"format": 99}), "[]"):
        (Workspace(home).sums / "report.json").write_text(damaged)
        assert not ReportNote(Workspace(home)).holds()
