"""`gonn report` makes nothing again where nothing has changed, and everything where anything has."""

import json
import os
from pathlib import Path

import pytest

from orchestration.cli import command as cli
from orchestration.study.unchanged import Unchanged, all_reports, code, study_report
from reports import cache
from reports.workspace import Workspace
from tests.reports.made_studies import Made, plan_study, train

SAID = "nothing has changed since these reports were made; over all studies: "


@pytest.fixture
def made(tmp_path, monkeypatch) -> Made:
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2))
    train(made, {"without-parametric_relu": 0.02})
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.setattr(
        "orchestration.study.unchanged.code", lambda: "as it was"
    )  # somebody may be writing some while this runs
    return made


def settled(home: Path) -> Unchanged:
    """A workspace whose reports were just made, without making them."""
    all_reports(Workspace(home)).keep()
    assert all_reports(Workspace(home)).holds()
    return all_reports(Workspace(home))


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
    notes = {out / ".cache" / "all.report", out / ".cache" / f"{made.study.id}.report"}
    assert {path: path.read_bytes() for path in before if path not in notes} == {
        path: content for path, (content, _) in before.items() if path not in notes
    }


def test_code_and_declarations_are_looked_at(made, monkeypatch):
    """Of all packages, with the libraries that numbers and figures come from."""
    monkeypatch.undo()
    asked = {}
    monkeypatch.setattr(cache, "code", lambda *packages, libraries: asked.update({packages: libraries}) or "")
    code()
    assert asked == {("ablations", "gonn_core", "orchestration", "reports"): ("numpy", "scipy", "matplotlib")}


@pytest.mark.parametrize(
    "name", ["metrics.jsonl", "result.json", "eval", "new trial", "study", "looks.json", "match", "declaration"]
)
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
        monkeypatch.setattr("orchestration.study.unchanged.code", lambda: "changed")
    else:
        (trial / name).write_text("changed")
    assert not all_reports(Workspace(home)).holds()


def test_what_is_no_part_of_a_report_changes_nothing(made):
    home = made.folder
    settled(home)
    for path in (
        home / "mlflow.db",
        home / "out" / "probes" / "board.png",
        home / "stores" / "store" / "rows.npy",
        made.study_folder / ".looks.lock",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    assert all_reports(Workspace(home)).holds()


def test_while_a_trial_runs_nothing_is_taken_for_settled(made):
    home, trial = made.folder, made.runs / made.study.trials[0].trial
    note = settled(home)
    (trial / "lease.json").write_text("{}")
    assert not all_reports(Workspace(home)).holds()
    (trial / "lease.json").unlink()
    (trial / "metrics.jsonl").write_text("a line that came in while the reports were made")
    note.keep()
    assert not all_reports(Workspace(home)).holds()
    for damaged in ("no JSON", json.dumps({"format": 99}), "[]"):
        (Workspace(home).report_cache / "all.report").write_text(damaged)
        assert not all_reports(Workspace(home)).holds()


@pytest.mark.parametrize("name", ["metrics.jsonl", "eval", "match", "output", "numbers", "lease"])
def test_a_study_is_reported_anew_when_it_changed_and_only_then(made, name):
    home, trial, about = made.folder, made.runs / made.study.trials[0].trial, "numbers of others"
    page = home / "out" / made.study.id / "report.md"
    page.parent.mkdir(parents=True)
    page.write_text("as made")
    assert not study_report(Workspace(home), made.study).holds(about)
    study_report(Workspace(home), made.study).keep(about)
    (made.runs / ("f" * 16)).mkdir()
    (home / "studies" / "another").mkdir()
    assert study_report(Workspace(home), made.study).holds(about)
    if name == "eval":
        os.utime(next((trial / "eval").glob("*.npz")), ns=(1, 1))
    elif name == "match":
        (home / "matches" / "m").mkdir(parents=True)
        (home / "matches" / "m" / "match.json").write_text("{}")
    elif name == "output":  # a bit that flips on the disk: size and time are kept
        about = page.stat()
        page.write_text("as mode")
        os.utime(page, ns=(about.st_atime_ns, about.st_mtime_ns))
    elif name == "lease":
        (trial / "lease.json").write_text("{}")
    elif name == "metrics.jsonl":
        (trial / name).write_text("changed")
    else:
        about = "other numbers of others"
    assert not study_report(Workspace(home), made.study).holds(about)


@pytest.mark.slow
def test_of_two_studies_the_one_that_changed_is_reported_anew(made, capsys):
    other = plan_study(made.folder, "ko_plane", seeds=(1, 2))
    train(other, {})
    assert cli.run(["report"]) == 0
    out, told = made.folder / "out", capsys.readouterr().out
    assert told.count("samples/s") > 0
    pages = {study.id: (out / study.id / "report.md").stat().st_mtime_ns for study in (made.study, other.study)}
    content = {path: path.read_bytes() for path in out.rglob("*") if path.is_file() and ".cache" not in path.parts}
    os.utime(other.runs / other.study.trials[-1].trial / "result.json", ns=(1, 1))
    assert cli.run(["report"]) == 0
    assert (out / made.study.id / "report.md").stat().st_mtime_ns == pages[made.study.id]
    assert (out / other.study.id / "report.md").stat().st_mtime_ns > pages[other.study.id]
    assert {path: path.read_bytes() for path in content} == content
    assert "parametric_relu: Δ " in capsys.readouterr().out
