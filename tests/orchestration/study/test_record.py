"""Records: what a row shows, its table, and a recipe that is trained, kept and verified."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from ablations.strict_yaml import read_yaml
from gonn_core.config import parse_model
from gonn_core.errors import SettingError
from gonn_core.trial.job import read_job
from orchestration import cli
from orchestration.study import record
from orchestration.study.record import marks_of, recipe_plan, row_of
from reports.records import Noise, Recipe, Row, compute_multiplier, reaches, read_rows, record_tables

RECIPE = {
    "rules": "1.0",
    "title": "A net",
    "base": "gonn-b5",
    "data": "kgs",
    "samples": 1000,
    "seeds": [1, 2, 3],
    "target": 0.4,
}
NOISE = Noise(top1=0.004, runs=20, per_decade=0.05, source="made up")


def row(top1=(0.41, 0.41, 0.41), operations=1e13, **changes) -> Row:
    about = {"recipe": RECIPE, "top1": top1, "nats": [2.4] * 3, "operations": operations, "parameters": 90_000}
    about |= {
        "seconds": 100.0,
        "processor": "p",
        "commit": "c",
        "test": "t",
        "positions": 954_188,
        "digests": [["a", "b"]] * 3,
    }
    return Row.model_validate_json(json.dumps({**about, **changes}))


def test_a_row_reaches_its_target_with_a_margin_for_chance():
    """1.645 * 0.004 / sqrt(3) = 0.0038."""
    assert reaches(row((0.4037, 0.4039, 0.4041)), NOISE) and not reaches(row((0.4036, 0.4037, 0.4038)), NOISE)
    assert not reaches(row(positions=20_174), NOISE), "not all of KGS 2015"
    with pytest.raises(ValueError, match="for each seed"):
        row((0.41, 0.41))


def test_accuracy_is_exchanged_for_operations():
    """A tenth of the operations is worth 5 points; chance 1.645 * 0.004 * sqrt(2/3) / 0.05 = 0.107 decades."""
    better = compute_multiplier(row((0.37, 0.37, 0.37), 1e12), row(), NOISE)
    assert better == pytest.approx((10**0.2, 10**0.0925, 10**0.3075), rel=1e-3)
    equal = compute_multiplier(row((0.36, 0.36, 0.36), 1e12), row(), NOISE)
    assert equal == pytest.approx((1, 10**-0.1075, 10**0.1075), rel=1e-3)


def test_the_table_has_the_fewest_operations_first_and_says_what_is_not_shown():
    rows = {"first": row(averaged=[0.41, 0.42, 0.43]), "second": row((0.41, 0.4, 0.4), 9.9e12, predecessor="first")}
    lines = [line for line in record_tables(rows, NOISE).splitlines() if line.startswith("| [")]
    assert [line.split("]")[0] for line in lines] == ["| [second", "| [first", "| [first", "| [second"]
    assert (
        "A net; × 0.74 [0.58, 0.95] against first: not better | 40.33 % (3) ✗ | – | 2.4000 | 9.9e+12 | – | 1,000 | "
        "90,000 | 100 | p |" in lines[0]
    )
    assert "| 41.00 % (3) ✓ | 42.00 % |" in lines[1]
    other_positions = record_tables({"first": row(test="others"), "second": row(predecessor="first")}, NOISE)
    assert "A net; not better than first: other test positions |" in other_positions
    assert record_tables({}, None).endswith("No row yet.\n")
    with pytest.raises(SettingError, match="predecessor=none: no such row"):
        record_tables({"first": row(predecessor="none")}, NOISE)


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    monkeypatch.setenv("GONN_HOME", str(tmp_path / "home"))
    tiny = {"net.trunk.width": 8, "net.trunk.blocks": 1, "training.schedule.warmup": 0, "training.batch_size": 8}
    path = tmp_path / "recipe.yaml"
    path.write_text(json.dumps({**RECIPE, "data": "starter", "samples": 1600, "values": tiny, "symmetries": True}))
    return path


def test_a_recipe_is_trained_kept_and_verified(recipe, tmp_path, capfd, monkeypatch):
    kept = tmp_path / "row.json"
    assert cli.run(["record", str(recipe), "--keep", str(kept)]) == 2
    assert "it is not committed" in capfd.readouterr().err
    monkeypatch.setattr(record, "commit_and_dirty", lambda file: ("abc", False))
    assert cli.run(["record", str(recipe), "--keep", str(kept)]) == 0
    assert "| [row](rows/row.json): A net |" in capfd.readouterr().out
    (found,) = read_rows(tmp_path).values()
    jobs = recipe_plan(found.recipe, None, "auto").jobs
    assert marks_of(jobs[0]) == (16, 160) and [job.run.evaluations[0].history for job in jobs] == ["as_published"] * 3
    assert len(found.averaged) == 3 and 0 < max(found.averaged) < 0.2 and found.averaged != found.top1
    assert len({digest for of_seed in found.digests for digest in of_seed}) == 6 and len(set(found.nats)) == 3
    assert (
        found.positions > 500 and 0 < found.accuracy < 0.2 and found.operations == pytest.approx(1600 * 13e6, rel=0.5)
    )
    next((Path(jobs[0].run.runs) / jobs[0].id / "snapshots").glob("160.*")).unlink()  # as a trial of a study has none
    assert row_of(found.recipe, jobs) == found
    study = SimpleNamespace(trials=[SimpleNamespace(trial=job.id) for job in jobs])
    monkeypatch.setattr(record, "read_study", lambda path: study)
    searched = row_of(found.recipe.model_copy(update={"found_by": ("a study", "another of them")}), jobs)
    assert searched.search_operations == pytest.approx(3 * found.operations)
    monkeypatch.setattr(record, "read_rows", lambda: {"row": searched})
    again = row_of(found.recipe.model_copy(update={"found_by": ("a study", "row")}), jobs)
    assert again.search_operations == pytest.approx(9 * found.operations)
    assert cli.run(["record", str(kept), "--verify"]) == 0
    assert cli.run(["record", str(kept), "--verify", "--keep", "row.json"]) == 2
    assert capfd.readouterr().out.count("weights after 16 samples: equal") == 3
    changed = found.model_copy(update={"digests": (("0" * 16, "x"), *found.digests[1:])})
    kept.write_text(changed.model_dump_json())
    assert cli.run(["record", str(kept), "--verify"]) == 1
    assert f"instead of {'0' * 16}, which was trained on" in capfd.readouterr().out


def test_a_recipe_may_name_a_base_in_a_file_beside_it(monkeypatch, tmp_path):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    changes = {"base": "small-gonn.yaml", "data": "starter", "samples": 1600}
    jobs = recipe_plan(parse_model(Recipe, {**RECIPE, **changes}, "recipe"), None, "auto").jobs
    assert [job.config.training.optimiser.hidden for job in jobs] == ["muon"] * 3
    assert {job.config.training.samples for job in jobs} == {1600}


def test_another_machine_trains_the_same_from_its_job_files(recipe, tmp_path, capfd):
    folder = tmp_path / "jobs"
    assert cli.run(["record", str(recipe), "--jobs", str(folder)]) == 0
    here = recipe_plan(parse_model(Recipe, read_yaml(recipe), "recipe"), None, "auto").jobs
    there = [read_job(folder / f"recipe-s{seed}.json") for seed in (1, 2, 3)]
    assert [job.id for job in there] == [job.id for job in here]
    assert [job.run.snapshots for job in there] == [job.run.snapshots for job in here]
    assert {job.run.runs for job in there} == {"runs"}
    assert capfd.readouterr().out.count("python -m gonn_core.trial") == 3


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"rules": "0.9"}, "rules=0.9: another version of the rules"),
        ({"samples": 1610}, "samples=1610: not whole batches of 8"),
        ({"values": {"training.start_from": "abc"}}, "values=training.start_from: a recipe does not change it"),
    ],
)
def test_a_recipe_against_the_rules_is_refused(recipe, capfd, changes, problem):
    recipe.write_text(json.dumps({**json.loads(recipe.read_text()), **changes}))
    assert cli.run(["record", str(recipe)]) == 2
    assert problem in capfd.readouterr().err
