"""`gonn report` keeps a study's report that is unchanged, and remakes one of which anything has changed."""

import json
import os

import pytest

from orchestration.cli import command as cli
from orchestration.study.report import ReportNote, code
from reports import cache
from reports.workspace import Workspace
from tests.reports.made_studies import Made, plan_study, train


@pytest.fixture
def made(tmp_path, monkeypatch) -> Made:
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2))
    train(made, {"without-parametric_relu": 0.02})
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.setattr("orchestration.study.report.code", lambda: "unchanged")  # another may edit code meanwhile
    return made


def test_code_and_declarations_are_part_of_it(monkeypatch):
    """Of all packages, with the libraries that numbers and figures come from."""
    arguments = {}
    monkeypatch.setattr(cache, "code", lambda *packages, libraries: arguments.update({packages: libraries}) or "")
    code()
    assert arguments == {("ablations", "gonn_core", "orchestration", "reports"): ("numpy", "scipy", "matplotlib")}


CHANGES = ["metrics.jsonl", "eval", "match", "output", "numbers", "lease", "declaration", "note"]


@pytest.mark.parametrize("name", CHANGES)
def test_a_report_is_remade_when_it_changed_and_only_then(made, name, monkeypatch):
    home, trial, about = Workspace(made.folder), made.runs / made.study.trials[0].trial, "numbers of others"
    page = made.folder / "out" / made.study.id / "report.md"
    page.parent.mkdir(parents=True)
    page.write_text("as made")
    assert not ReportNote(home, made.study).holds(about)
    ReportNote(home, made.study).keep(about)
    (made.runs / ("f" * 16)).mkdir()
    (made.folder / "studies" / "another").mkdir()
    (made.study_folder / ".looks.lock").touch()
    (made.study_folder / "looks.json").touch()
    assert ReportNote(home, made.study).holds(about)
    if name == "eval":
        os.utime(next((trial / "eval").glob("*.npz")), ns=(1, 1))
    elif name == "match":
        (made.folder / "matches" / "m").mkdir(parents=True)
        (made.folder / "matches" / "m" / "match.json").write_text("{}")
    elif name == "output":  # a bit that flips on the disk: size and mtime are kept
        about_page = page.stat()
        page.write_text("as mode")
        os.utime(page, ns=(about_page.st_atime_ns, about_page.st_mtime_ns))
    elif name == "lease":
        (trial / "lease.json").write_text("{}")
    elif name == "metrics.jsonl":
        (trial / name).write_text("changed")
    elif name == "declaration":
        monkeypatch.setattr("orchestration.study.report.code", lambda: "changed")
    elif name == "note":
        (home.report_cache / f"{made.study.id}.report").write_text(json.dumps({"format": 99}))
    else:
        about = "other numbers of others"
    assert not ReportNote(home, made.study).holds(about)


@pytest.mark.slow
def test_of_two_studies_the_one_that_changed_is_remade(made, capsys):
    other = plan_study(made.folder, "ko_plane", seeds=(1, 2))
    train(other, {})
    assert cli.run(["report"]) == 0
    out = made.folder / "out"
    assert capsys.readouterr().out.count("samples/s") > 0
    pages = {study.id: (out / study.id / "report.md").stat().st_mtime_ns for study in (made.study, other.study)}
    content = {path: path.read_bytes() for path in out.rglob("*") if path.is_file() and ".cache" not in path.parts}
    os.utime(other.runs / other.study.trials[-1].trial / "result.json", ns=(1, 1))
    assert cli.run(["report"]) == 0
    assert (out / made.study.id / "report.md").stat().st_mtime_ns == pages[made.study.id]
    assert (out / other.study.id / "report.md").stat().st_mtime_ns > pages[other.study.id]
    assert {path: path.read_bytes() for path in content} == content
    assert "parametric_relu: Δ " in capsys.readouterr().out
