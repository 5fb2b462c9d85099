"""Seed noise of earlier studies: whose counts, and what it is good for."""

import math

import pytest

from reports.results.compare import analyse_study
from reports.results.decisions import load_results
from reports.results.seed_pool import planned_effect, pool_from_studies
from tests.reports.made_studies import plan_study, train


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Two finished studies that share their control, and one under another budget."""
    folder = tmp_path_factory.mktemp("earlier")
    made = {card: plan_study(folder, card, seeds=(1, 2, 3)) for card in ("parametric_relu", "last_move_input")}
    made["other"] = plan_study(folder, "parametric_relu", seeds=(1, 2, 3), budget="cpu")
    for each in made.values():
        train(each, {})
    return made


def pool(made, study):
    return pool_from_studies(made.folder / "studies", made.runs, study)


def test_studies_of_the_same_kind_give_their_noise(workspace):
    prelu, moves = workspace["parametric_relu"], workspace["last_move_input"]
    found = pool(prelu, prelu.study)
    assert list(found.differences) == [f"last_move_input of {moves.study.id}"] and found.studies == (moves.study.id,)
    table = analyse_study(load_results(moves.study, moves.runs), "nats").table
    assert found.differences[f"last_move_input of {moves.study.id}"] == table.differences["last_move_input"]
    assert found.evaluation_variance == pytest.approx(table.effects["last_move_input"].se_eval ** 2)


def test_more_degrees_of_freedom_and_the_same_delta(workspace):
    made = workspace["parametric_relu"]
    results = load_results(made.study, made.runs)
    alone = analyse_study(results, "nats").table
    pooled = analyse_study(results, "nats", prior=pool(made, made.study).differences).table
    assert pooled.pool.df > alone.pool.df and list(pooled.effects) == ["parametric_relu"]
    assert pooled.effects["parametric_relu"].delta == alone.effects["parametric_relu"].delta


def test_the_same_comparison_in_two_studies_counts_once_with_all_its_seeds(workspace, tmp_path_factory):
    made = workspace["parametric_relu"]
    again = plan_study(made.folder, "parametric_relu", seeds=(7, 8))
    train(again, {})
    try:
        new = plan_study(tmp_path_factory.mktemp("new"), "ladder_input", seeds=(1, 2, 3))
        found = pool(made, new.study)
        seeds = sorted(sorted(differences.by_seed) for differences in found.differences.values())
        assert seeds == [[1, 2, 3], [1, 2, 3, 7, 8]]
    finally:
        (again.study_folder / "study.json").unlink()


def test_a_study_that_has_not_begun_is_planned_from_it(workspace, tmp_path):
    made = workspace["parametric_relu"]
    few, many = (plan_study(tmp_path, "ladder_input", seeds=tuple(range(1, n + 1))).study for n in (3, 12))
    smallest = [planned_effect(study, pool(made, study)) for study in (few, many)]
    assert 0 < smallest[1] < smallest[0] < 0.1 and math.isfinite(smallest[0])
    assert planned_effect(few, pool_from_studies(tmp_path / "studies", tmp_path / "runs", few)) is None


def test_unreadable_studies_are_named_not_hidden(workspace, tmp_path):
    made = workspace["parametric_relu"]
    broken = made.folder / "studies" / "broken" / "study.json"
    broken.parent.mkdir()
    broken.write_text('{"format": 0}')
    try:
        found = pool(made, made.study)
        assert found.differences and len(found.skipped) == 1 and "format 0" in found.skipped[0]
    finally:
        broken.unlink()


def test_a_study_that_evaluates_nothing_gives_no_noise(workspace):
    made = workspace["parametric_relu"]
    empty = made.study.model_copy(update={"id": "empty", "evaluations": ()})
    path = made.folder / "studies" / "empty" / "study.json"
    path.parent.mkdir()
    path.write_text(empty.model_dump_json())
    try:
        assert "empty" not in pool(made, workspace["last_move_input"].study).studies
    finally:
        path.unlink()
