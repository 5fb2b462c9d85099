"""The GPU queue: its entries are what they say, on the data of the recipe beside them; the five systems are in it; what
is done is seen."""

import json

from ablations.registry import load_registry
from gonn_core.records.recipe import read_recipe
from orchestration.upkeep.cleaning import committed_jobs
from reports.workspace import Workspace
from scripts.gpu_queue import FOLDER, print_queue, read_queue


def test_every_entry_is_what_it_says():
    entries = read_queue()
    jobs = {path.stem for path in (FOLDER / "jobs").glob("*.json") if not path.stem.endswith(".recipe")}
    assert {entry.queued.job for entry in entries} == jobs
    assert {entry.job.id for entry in entries} == committed_jobs() and len(committed_jobs()) == len(entries)
    registry = load_registry()
    systems = {registry.base(entry.queued.base).system for entry in entries}
    assert systems == {"gonn", "go_nn", "clark_storkey", "lczero", "cazenave"}
    recipe = read_recipe(FOLDER / "jobs" / "kgs.recipe.json")
    for job in (entry.job for entry in entries):
        assert job.config.data.view == recipe.views["train"] and job.run.progress_view == recipe.views["validation"]
        assert job.run.store == f"stores/{recipe.store}" and job.run.runs == "runs" and not job.run.dirty
        assert {request.view for request in job.run.evaluations} == {recipe.views["test"]}


def test_a_claim_is_queued_with_both_arms():
    """A trial that is for a claim has the other arm, on the same seed, somewhere in the queue."""
    entries = read_queue()
    for entry in entries:
        if entry.queued.claims and entry.queued.set:
            assert any(
                other.queued.base == entry.queued.base
                and other.queued.seed == entry.queued.seed
                and not other.queued.set
                for other in entries
            ), entry.queued.job


def test_what_is_done_is_seen_here_or_beside_the_queue(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    first, second, *_ = read_queue()
    print_queue()
    said = capsys.readouterr().out
    assert f"0 of {len(committed_jobs())} done" in said and f"jobs/{first.queued.job}.json" in said
    (tmp_path / "runs" / first.job.id).mkdir(parents=True)
    (tmp_path / "runs" / first.job.id / "result.json").write_text(json.dumps({}))
    print_queue()
    said = capsys.readouterr().out
    assert f"1 of {len(committed_jobs())} done" in said and f"jobs/{second.queued.job}.json" in said
    folder = tmp_path / "gpu" / "trials" / second.job.id
    folder.mkdir(parents=True)
    (folder / "result.json").write_text("{}")
    assert second.state(Workspace(tmp_path), tmp_path / "gpu") == "done" and second.state(Workspace(tmp_path)) == "new"
