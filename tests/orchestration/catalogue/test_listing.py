"""`gonn list`: topics, words, what was measured, on any terminal."""

import json

import pytest
from rich.console import Console

from orchestration.catalogue import listing
from orchestration.cli import command as cli

EFFECT = {"delta": -0.3969, "verdict": "helps", "bound": None, "q": 0.00012}
SMALL = {"delta": 0.0017, "verdict": "not shown", "bound": 0.0201, "q": 0.6}


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.setattr(listing, "COMMITTED", tmp_path / "summary.csv")
    return tmp_path


def report(workspace, name, effects, created="2026-01-01", design="add-one", kept=True, done=(6, 6), **study):
    """A study that is there, and its report."""
    (workspace / "out" / name).mkdir(parents=True)
    (workspace / "studies" / name).mkdir(parents=True)
    if kept:
        (workspace / "studies" / name / "study.json").write_text("{}")
    study = {
        "base": "gonn-b5",
        "budget": "cpu",
        "data": "kgs",
        "design": design,
        "created": created,
        "results": True,
        **study,
    }
    text = json.dumps({"study": study, "done": done, "tables": {"effects": effects} if effects is not None else {}})
    (workspace / "out" / name / "report.json").write_text(text)


def listed(capsys, *arguments) -> tuple[str, str]:
    assert cli.run(["list", *arguments]) == 0
    return tuple(capsys.readouterr())


def line_of(out: str, card: str) -> str:
    return next(" ".join(line.split()) for line in out.splitlines() if line.strip().startswith(card + " "))


def test_what_was_measured_here_stands_beside_each(workspace, capsys):
    report(workspace, "a", {"ladder_input": EFFECT, "ko_plane": SMALL, "edge_encoding": {"delta": None}})
    report(workspace, "control", None)
    out, err = listed(capsys, "input")
    assert err == "" and "41 of 179 enhancements, 2 measured: Δ nats with it minus without, less is better" in out
    assert line_of(out, "ladder_input").endswith("−0.3969 helps (q 0.00012) gonn-b5 cpu kgs")
    assert "+0.0017 not shown: below" in line_of(out, "ko_plane") and "0.021 nats" in out
    assert "kgs" not in line_of(out, "edge_encoding")
    assert "measured" not in listed(capsys, "head")[0].splitlines()[1]


def test_the_latest_study_that_is_still_there_counts(workspace, capsys):
    report(workspace, "a", {"elu": EFFECT}, created="2026-03-01")
    report(workspace, "b", {"elu": SMALL}, created="2026-05-01", design="screen")
    report(workspace, "c", {"elu": EFFECT}, created="2026-04-01")
    report(workspace, "d", {"elu": EFFECT}, created="2026-06-01", kept=False)
    line = line_of(listed(capsys, "elu")[0], "elu")
    assert "not shown: below 0.021" in line and line.endswith("gonn-b5 cpu kgs")


def test_a_finished_study_with_results_comes_first(workspace, capsys):
    some = {**EFFECT, "verdict": "unfinished", "q": None}
    report(
        workspace, "a", {"elu": {**EFFECT, "verdict": "not a result", "q": None}}, created="2026-05-01", results=False
    )
    assert line_of(listed(capsys, "elu")[0], "elu").endswith("−0.3969 not a result gonn-b5 cpu kgs")
    report(workspace, "b", {"elu": some}, created="2026-04-01", done=(13, 32))
    assert line_of(listed(capsys, "elu")[0], "elu").endswith("−0.3969 unfinished 13/32 gonn-b5 cpu kgs")
    report(workspace, "c", {"elu": EFFECT}, created="2026-03-01")
    assert line_of(listed(capsys, "elu")[0], "elu").endswith("−0.3969 helps (q 0.00012) gonn-b5 cpu kgs")


def test_effects_that_come_with_the_repository_fill_the_gaps(workspace, capsys):
    rows = ["card,base,delta,verdict,bound,q", "elu,gonn-b5,0.0017,not shown,0.0201,0.6"]
    rows += ["ladder_input,gonn-b5,-0.5,helps,0.6,0.01", "ko_plane,gonn-b5,-1,unfinished,,"]
    rows += ["chain_pooling,gonn-b5,-0.25,helps,,0.01", "chain_pooling,of-another-net,-0.75,helps,,0.01"]
    listing.COMMITTED.write_text("\n".join(rows))
    report(workspace, "a", {"ladder_input": EFFECT})
    out = listed(capsys)[0]
    assert "3 measured" in out and line_of(out, "ladder_input").endswith("−0.3969 helps (q 0.00012) gonn-b5 cpu kgs")
    assert "+0.0017 not shown: below" in line_of(out, "elu") and "committed" in out
    assert "−0.2500 helps (q 0.01) gonn-b5" in line_of(out, "chain_pooling")  # of the card's own base


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"study": 1}', '{"study": {"created": 1}, "tables": {"effects": [1]}}']
)
def test_a_report_that_cannot_be_read_costs_a_line(workspace, capsys, text):
    report(workspace, "a", {"elu": EFFECT})
    report(workspace, "b", {"elu": EFFECT})
    (workspace / "out" / "b" / "report.json").write_text(text)
    out, err = listed(capsys, "elu")
    assert "−0.3969 helps" in out and err == "a report could not be read: make report makes all of them again\n"


def test_what_a_report_holds_is_printed_inert(workspace, capsys):
    report(workspace, "a", {"elu": {**EFFECT, "verdict": "\x1b[2J[red]"}}, data="\x1b]0;x\x07")
    out, _ = listed(capsys, "elu")
    assert "\x1b" not in out and "\\x1b[2J[red]" in out


@pytest.mark.parametrize("width", [60, 129, 160])
def test_a_list_fits_the_terminal(workspace, capsys, monkeypatch, width):
    report(workspace, "a", {"ladder_input": EFFECT, "ko_plane": SMALL})
    monkeypatch.setattr(listing, "output", lambda: Console(width=width, markup=False, highlight=False))
    out, _ = listed(capsys, "input")
    assert all(len(line) <= width for line in out.splitlines()[:-2])
    assert "ladder_input" in out and "Ladders as input" in out and "−0.3969 helps" in out
    assert cli.run(["list", "--bases"]) == 0
    assert all(len(line) <= width for line in capsys.readouterr().out.splitlines()[:-1])


def test_words_topics_and_systems_together(workspace, capsys):
    both = listed(capsys, "lczero", "loss")[0]
    assert "aux_ownership" in both and "smolgen" not in both and "l2_policy_loss" not in both
    assert listed(capsys, "loss", "lczero")[0] == both == listed(capsys, "--topic", "loss", "lczero")[0]
    assert listed(capsys, "--find", "head")[0] != listed(capsys, "head")[0]  # a word that is a topic chooses it
    assert "smolgen" in listed(capsys, "--find", "attention logits")[0]
