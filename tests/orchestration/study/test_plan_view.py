"""`gonn plan` of studies that nobody has run yet."""

import re

import pytest

from orchestration.cli import command as cli
from orchestration.experiment import speeds
from tests.trial.helpers import starter_data


@pytest.fixture
def plan(tmp_path, monkeypatch, capsys):
    """Runs `gonn plan` on the bundled games; returns its output."""
    (tmp_path / "stores").symlink_to(starter_data().store.folder.parent)
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.setattr(speeds, "one_speed", lambda config, device, seconds, compile: (100.0, 250.0))

    def run(*arguments):
        assert cli.run(["plan", *arguments]) == 0
        assert {path.name for path in tmp_path.iterdir()} <= {"stores", "speeds"}
        return capsys.readouterr().out

    return run


def rows(out: str) -> list[list[str]]:
    """Cells of the table's rows, without the heading."""
    lines = [line for line in out.splitlines() if line.startswith(" ") and line.strip() and "─" not in line]
    return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in lines[1:]]


def test_what_it_says(plan):
    out = plan("parametric_relu", "--budget", "smoke")
    assert [row[:2] for row in rows(out)] == [
        ["gonn-b5", "the base's"],
        ["without parametric_relu", 'net.activation = "relu"'],
    ]
    assert [row[2].count(" new") for row in rows(out)] == [2, 2]
    count, time, judged, smallest = out.splitlines()[-4:]
    assert count == "to train: 4 of 4 trials of 5,120 samples, 20,480 in all"
    assert time.startswith("time: less than a minute with") and time.endswith("by speeds measured here")
    assert judged.startswith("judged on 1,") and smallest.startswith("smallest effect: unknown")


def test_the_same_question_has_the_same_id_and_arms_share_their_trials(plan):
    first, again, more = (plan("parametric_relu", "--seeds", seeds) for seeds in ("1,2", "2", "1,2,3"))
    assert first == again and more.splitlines()[0] != first.splitlines()[0]
    assert all(one[2] in other[2] for one, other in zip(rows(first), rows(more), strict=True))
    other = plan("global_pooling_head", "--seeds", "2")
    assert rows(other)[0] == rows(first)[0]
    combined = plan("parametric_relu,global_pooling_head", "--seeds", "2", "--design", "factorial")
    assert rows(first)[0][2:] in [row[2:] for row in rows(combined)] and len(rows(combined)) == 4


def test_a_design_with_arms_that_cannot_be_names_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    assert cli.run(["plan", "global_pooling_head,pooled_head_channels", "--design", "factorial"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "pooled_head_channels needs global_pooling_head" in err and len(err.splitlines()) == 1
    assert err.startswith(
        "NAME=global_pooling_head+pooled_head_channels: 1 of 4 arms cannot be: with pooled_head_channels ("
    )


def test_what_a_card_needs_may_come_from_the_study(plan, capsys):
    """gonn-b4 has ReLU: parametric slopes that start above 0 need the parametric ones first."""
    out = plan("parametric_relu,prelu_init", "--base", "gonn-b4", "--design", "cumulative", "--budget", "smoke")
    assert "+ parametric_relu" in out and "+ prelu_init" in out
    assert cli.run(["plan", "prelu_init", "--base", "gonn-b4", "--budget", "smoke"]) == 2
    assert "prelu_init needs parametric_relu" in capsys.readouterr().err


def test_before_any_run_it_shows_time_and_smallest_effect_and_the_first_look(plan, monkeypatch):
    """At 250 samples a second and core."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1}, raising=False)
    out = " ".join(plan("last_move_input").split())
    look = re.search(r"first look: 6 trials of 10,240 samples, 3 seeds, about ([\d.]+) min;", out)
    full = re.search(r"time: about ([\d.]+) min with 2 trials at a time, evaluation included; by speeds measured", out)
    assert look and full and 2 < float(look[1]) < 5 < 20 < float(full[1]) < 60
    assert out.count("smallest effect that") == 2 and out.count("from the noise that ships") == 2
    assert "first look" not in plan("last_move_input", "--first-look", "no")
    for setting in (("--seeds", "4"), ("--samples", "50k"), ("--budget", "smoke"), ("--design", "factorial")):
        assert "first look" not in plan("last_move_input", *setting)


def test_the_smallest_effect_in_another_precision_is_a_rough_estimate(plan):
    out = " ".join(plan("last_move_input", "--first-look", "no", "--precision", "bf16").split())
    assert re.search(r"a rough estimate from the noise that ships \([^)]*, not in bf16\)", out)
    assert "study last_move_input-gonn-b5-cpu-bf16-" in out
