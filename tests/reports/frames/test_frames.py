"""Frames: declared columns, the numbers of the reports, filters."""

import math

import pandas as pd
import pytest

from gonn_core.errors import InputError, SettingError
from reports import frames
from reports.book.book import write_book
from reports.results.decisions import load_results
from reports.study.report import make_report
from reports.study.tables import report_tables
from reports.tables.entities import ENTITIES, frame_fields
from tests.reports.made_studies import finish_trial, plan_study, train
from tests.reports.play.made_matches import ENGINE, net, won, write_match

READERS = {name: getattr(frames, name) for name in ENTITIES}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two studies in one workspace, one of a trial less, and games of two arms."""
    folder = tmp_path_factory.mktemp("frames")
    first = plan_study(folder, "last_move_input", "parametric_relu", budget="cpu", seeds=(1, 2, 3))
    train(first, {"without-last_move_input": 0.4})
    second = plan_study(folder, "ko_plane", seeds=(1, 2), created="2026-01-03T03:04:05+00:00")
    for trial in second.study.trials[:-1]:
        finish_trial(second, trial, 0.0)
    ours, other = (first.study.trials_of(arm)[1] for arm in ("control", "without-last_move_input"))
    write_match(folder / "matches", net(ours), net(other), won(3, 1))
    write_match(folder / "matches", net("f" * 16), ENGINE, won(0, 2))
    return first, second


@pytest.mark.parametrize("name", ENTITIES)
def test_frames_have_the_declared_columns_also_of_an_empty_workspace(name, made, tmp_path):
    declared = {field.name: field.dtype for field in frame_fields(name)}
    empty = READERS[name](workspace=tmp_path)
    assert len(empty) == 0 and {column: str(dtype) for column, dtype in empty.dtypes.items()} == declared
    frame = READERS[name](workspace=made[0].folder)
    frame = frame[frames.describe(name)["column"]]  # trials() has more
    assert len(frame) and {column: str(dtype) for column, dtype in frame.dtypes.items()} == declared
    assert not frame.map(lambda value: isinstance(value, (list, tuple, dict))).any(axis=None)


def test_a_row_for_every_trial_in_whatever_state(made):
    first, second = made
    frame = frames.trials(workspace=first.folder)
    assert frame.trial.tolist() == [ref.trial for each in made for ref in each.study.trials]
    assert frame.state.value_counts().to_dict() == {"done": len(frame) - 1, "new": 1}
    waiting = frame[frame.state == "new"].iloc[0]
    assert waiting.trial == second.study.trials[-1].trial
    assert math.isnan(waiting.test_nats) and waiting.samples is pd.NA


def test_trials_say_which_enhancements_they_have_and_in_which_settings_they_differ(made):
    frame = frames.trials(workspace=made[0].folder)
    more = list(frame.columns)[len(frame_fields("trials")) :]
    assert more[:3] == ["ko_plane", "last_move_input", "parametric_relu"] == [c for c in more if "." not in c]
    assert {str(frame[card].dtype) for card in more[:3]} == {"boolean"}
    for card in more[:3]:
        assert (~frame[card] == frame.arm.eq(f"without-{card}")).all()
    assert (frame["net.activation"].eq("prelu") == frame.parametric_relu).all()
    budgets = frame.groupby("budget")["training.samples"].agg(["min", "max"])
    assert budgets.loc["smoke"].tolist() == [5_120, 5_120] and budgets.loc["cpu", "min"] > 5_120
    alone = frames.trials(workspace=made[0].folder, study=made[1].study.id)
    assert "ko_plane" in alone and "parametric_relu" not in alone and "training.samples" not in alone


def test_evaluations_have_the_means_that_are_stored(made):
    first = made[0]
    frame = frames.evaluations(workspace=first.folder, study=first.study.id)
    results = load_results(first.study, first.runs)
    stored = [each.summary for trial in results.trials for each in trial.evaluations]
    assert frame.evaluation.tolist() == [summary["id"] for summary in stored]
    for metric in ("nats", "top1", "top4"):
        assert frame[metric].tolist() == pytest.approx([summary[metric] for summary in stored])
    assert frame.groupby("trial").main.sum().eq(1).all()


def test_curves_say_that_their_scores_are_of_validation(made):
    first = made[0]
    frame = frames.curves(workspace=first.folder, base="gonn-b5", budget="cpu")
    lines = [line for trial in load_results(first.study, first.runs).trials for line in trial.curve]
    assert frame.samples.tolist() == [line["samples"] for line in lines]
    assert frame.validation_nats.tolist() == [line["nats"] for line in lines]
    assert "nats" not in frame.columns


def test_effects_are_those_of_the_report(made):
    first = made[0]
    frame = frames.effects(workspace=first.folder, study=first.study.id)
    report = make_report(load_results(first.study, first.runs, first.study_folder), first.registry)
    nats = frame[frame.main & (frame.metric == "nats")].set_index("card")
    for row in report_tables(report).table("effects").rows:
        effect = nats.loc[row.key]
        assert effect.delta == row.cells["delta"].value
        assert [effect.interval95_low, effect.interval95_high] == row.cells["interval"].value
        assert [effect.se_runs, effect.se_games] == row.cells["parts"].value
        assert [effect.runs_with, effect.runs_without] == row.cells["runs"].value
        assert (effect.q, effect.verdict) == (row.cells["q"].value, row.cells["verdict"].value)
        assert effect.trials.split() == list(row.cells["delta"].trials)
    assert nats.loc["last_move_input"].verdict == "helps" and nats.loc["last_move_input"].own_runs == 6
    assert set(frame.estimand) == {"base"} and frame.at_base.isna().all()
    assert set(frame.metric) >= {"nats", "top1", "top4"} and set(frame.split) == {"test", "validation"}


def test_games_say_who_played_and_how_they_ended(made):
    frame = frames.games(workspace=made[0].folder)
    assert len(frame) == 6 and frame.points_a.sum() == 3
    engine = frame[frame.trial_b.isna()]
    assert engine.player_b.unique().tolist() == ["GNU Go 3.8 level 1"] and engine.samples_b.isna().all()
    ours = frames.games(workspace=made[0].folder, study="last_move")
    assert len(ours) == 4 and ours.player_a.unique().tolist() == ["gonn-b5 s1 @100k"]
    assert ours.winner.tolist() == ["A", "A", "A", "B"] and ours.black.tolist() == ["A", "B", "A", "B"]


def test_filters_take_beginnings_of_ids_names_and_lists_of_them(made):
    first, second = made
    folder = first.folder
    assert set(frames.trials(workspace=folder, study="ko_plane").study) == {second.study.id}
    assert set(frames.trials(workspace=folder, budget="smoke").study) == {second.study.id}
    assert set(frames.trials(workspace=folder, budget=["smoke", "cpu"], data="kgs").study) == {
        first.study.id,
        second.study.id,
    }
    assert frames.trials(workspace=folder, study="ko_plane", budget="cpu").empty


def test_a_name_that_no_study_has_is_an_error_that_lists_those_there_are(made, tmp_path):
    with pytest.raises(SettingError) as refused:
        frames.trials(workspace=made[0].folder, base="gonn-b6")
    assert (refused.value.setting, refused.value.value, refused.value.valid) == ("base", "gonn-b6", ["gonn-b5"])
    with pytest.raises(InputError):
        frames.trials(workspace=tmp_path / "typo")
    with pytest.raises(TypeError):
        frames.trials(workspce=tmp_path)


def test_the_report_over_everything_has_all_trials_and_effects_as_csv(made, tmp_path):
    folder = made[0].folder
    written = []
    for each in made:
        results = load_results(each.study, each.runs, each.study_folder)
        written.append(make_report(results, each.registry))
    book = write_book(written, made[0].registry, tmp_path / "report").parent
    kept = pd.read_csv(book / "all-trials.csv")
    frame = frames.trials(workspace=folder)
    assert list(kept.columns) == frames.describe("trials")["column"].tolist()
    assert kept.trial.tolist() == frame.trial.tolist()
    assert kept.test_nats.tolist() == pytest.approx(frame.test_nats.tolist(), rel=1e-5, nan_ok=True)
    kept = pd.read_csv(book / "all-effects.csv")
    frame = frames.effects(workspace=folder)
    assert list(kept.columns) == [column for column in frame.columns if column != "trials"]
    assert kept.delta.tolist() == pytest.approx(frame.delta.tolist(), rel=1e-5, abs=1e-12)
    assert kept.verdict.tolist() == frame.verdict.tolist() and kept.main.dtype == bool
