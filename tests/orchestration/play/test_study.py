"""`gonn play`: which trials meet; a study's arms play, and its report has their win rates."""

import pytest

from gonn_core.errors import SettingError, UserError
from orchestration.cli import command as cli
from orchestration.play import match as play_study
from orchestration.play.match import paired_trials
from reports.workspace import Workspace
from tests.reports.made_studies import plan_study, train
from tests.reports.play.made_matches import net, won, write_match


def test_pairs_are_of_one_seed_and_done(tmp_path):
    made = plan_study(tmp_path, "last_move_input", "ko_plane", budget="cpu", seeds=(1, 2))
    train(made, {}, skip=[("without-ko_plane", 1), ("control", 2)])
    control, without = made.study.trials_of("control"), made.study.trials_of("without-last_move_input")
    assert paired_trials(Workspace(tmp_path), made.study) == [("last_move_input s1", control[1], without[1])]


def test_studies_without_pairs_are_refused(tmp_path):
    empty = plan_study(tmp_path / "a", "ko_plane", budget="cpu")
    with pytest.raises(UserError, match="no seed is done both with and without"):
        paired_trials(Workspace(tmp_path / "a"), empty.study)
    factorial = plan_study(tmp_path / "b", "ko_plane", "last_move_input", budget="cpu", design="factorial")
    with pytest.raises(SettingError, match="a mean over several arms"):
        paired_trials(Workspace(tmp_path / "b"), factorial.study)


def test_the_verb_plays_all_pairs_and_shows_the_table(tmp_path, monkeypatch, capsys):
    made = plan_study(tmp_path, "last_move_input", budget="cpu", seeds=(1, 2, 3))
    train(made, {})
    asked = []

    def play(workspace, sides, games, seed, workers=None):
        a, b = (net(sides[side].directory.name, 100_000, **sides[side].choice.model_dump()) for side in "AB")
        asked.append((a["trial"], b["trial"], games))
        write_match(workspace.matches, a, b, won(games * 3 // 4, games // 4), seed)

    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.setattr(play_study, "play_between", play)
    assert cli.run(["play", made.study.id[:12], "--games", "40"]) == 0
    control, without = made.study.trials_of("control"), made.study.trials_of("without-last_move_input")
    assert asked == [(control[seed], without[seed], 40) for seed in (1, 2, 3)]
    out = capsys.readouterr().out
    assert "75.0 %" in out and "120" in out and "drawn, full history" in out and "report:" in out
    assert cli.run(["play", made.study.id, "--how", "history=never"]) == 2
    assert capsys.readouterr().err.startswith("history=never:")
