"""`gonn models`: which trained nets there are to play with; what is said of names that are none of theirs."""

import json
import re

import pytest

from orchestration.cli.command import run
from tests.play.made_trials import untrained_trial
from tests.reports.made_studies import plan_study, train
from tests.reports.play.made_matches import net, won, write_match


@pytest.fixture
def studied(tmp_path, monkeypatch):
    """A workspace with a study of two seeds, one of whose four trials is not done, and a trial of no study."""
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    made = plan_study(tmp_path, "last_move_input", budget="cpu", seeds=(1, 2))
    train(made, {}, skip=[("without-last_move_input", 2)])
    untrained_trial(tmp_path / "runs")
    return made


def rows(text: str) -> dict[str, list[str]]:
    """Beginning of an id -> the cells of its line."""
    lines = (re.split(r" {2,}", line.strip()) for line in text.splitlines())
    return {cells[0]: cells[1:] for cells in lines if re.fullmatch("[0-9a-f]{8}", cells[0])}


def test_finished_nets_with_their_names_and_accuracy(studied, capsys):
    assert run(["models"]) == 0
    told = capsys.readouterr().out
    control, without = studied.study.trials_of("control"), studied.study.trials_of("without-last_move_input")
    assert {trial: cells[0] for trial, cells in rows(told).items()} == {
        control[1][:8]: "gonn-b5 s1",
        control[2][:8]: "gonn-b5 s2",
        without[1][:8]: "gonn-b5 without last_move_input s1",
    }
    assert told.startswith(f"{studied.study.id} on kgs\n") and "Elo" not in told
    assert all(
        re.fullmatch(r"\d+\.\d\d %", cells[2]) and re.fullmatch(r"\d\.\d{4}", cells[3]) for cells in rows(told).values()
    )
    assert "1 trials of learning-rate searches are left out: gonn models --all" in told
    assert run(["models", "--all"]) == 0
    assert len(rows(capsys.readouterr().out)) == 4


@pytest.mark.parametrize("text, count", [("gonn-b5", 3), ("LAST_MOVE", 3)])
def test_nets_are_chosen_by_a_part_of_their_name(studied, capsys, text, count):
    assert run(["models", text]) == 0
    assert len(rows(capsys.readouterr().out)) == count


def test_nets_are_chosen_by_their_id(studied, capsys):
    control = studied.study.trials_of("control")[1]
    assert run(["models", control[:6]]) == 0
    assert list(rows(capsys.readouterr().out)) == [control[:8]]
    assert run(["models", "nonsense"]) == 2
    assert capsys.readouterr().err.startswith("MODEL=nonsense: no trained net is called so; valid: ")


def test_elo_of_nets_that_played(studied, tmp_path, capsys):
    control, without = studied.study.trials_of("control"), studied.study.trials_of("without-last_move_input")
    write_match(tmp_path / "matches", net(control[1], 100_000), net(without[1], 100_000), won(30, 10), 1)
    assert run(["models"]) == 0
    told = capsys.readouterr().out
    elos = {trial: cells[4] for trial, cells in rows(told).items()}
    assert elos[control[1][:8]] == "0 ± 0" and re.fullmatch(r"−\d+ ± \d+", elos[without[1][:8]])
    assert elos[control[2][:8]] == "–" and "Elo relative to gonn-b5 s1 @100k" in told


def test_a_damaged_trial_is_named_and_the_others_are_listed(studied, tmp_path, capsys):
    other = plan_study(tmp_path, "ko_plane", budget="cpu", seeds=(1,))
    train(other, {})
    damaged = studied.study.trials_of("control")[2]
    (tmp_path / "runs" / damaged / "metrics.jsonl").write_text("no json\n{}\n")
    assert run(["models"]) == 0
    told = capsys.readouterr()
    assert f"{damaged} is left out: " in told.err and "metrics.jsonl" in told.err
    listed = rows(told.out)
    whole = (other.study.trials_of("without-ko_plane")[1], studied.study.trials_of("control")[1])
    assert all(trial[:8] in listed for trial in whole) and damaged[:8] not in listed


def test_nothing_is_trained_yet(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    assert run(["models"]) == 0
    assert capsys.readouterr().out.startswith(f"no trained nets in {tmp_path}/runs; make ablation")
    assert run(["match", "abc123", "gnugo"]) == 2
    assert "none is trained yet: make ablation NAME=" in capsys.readouterr().err


def test_nets_of_job_files_have_the_name_of_their_base(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    folder = untrained_trial(tmp_path / "runs")
    tree = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(tree | {"labels": {"base": "gonn-b5", "seed": "3"}}))
    assert run(["models"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Of no study\n") and rows(told)[folder.name[:8]][:2] == ["gonn-b5 s3", "800"]
