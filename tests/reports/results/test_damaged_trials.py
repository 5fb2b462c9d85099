"""A report over a study of which a trial is damaged: the trial is named and left out, whatever was cached before."""

import json

import numpy as np
import pytest

from gonn_core.evaluation.stored import load_evaluations
from gonn_core.files.json_files import read_json
from gonn_core.files.seals import digest_of
from reports.results.compare import analyse_study
from reports.results.decisions import load_results
from tests.files.damages import damaged, flipped
from tests.reports.made_studies import plan_study, train


@pytest.fixture
def made(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2, 3))
    train(made, {})
    return made


def results_of(made):
    return load_results(made.study, made.runs, cache=made.folder / "cache")


def effect(results):
    return analyse_study(results, "nats").effect("parametric_relu")


def arrays_of(folder):
    """Of the evaluation that effects are told on."""
    main = ("test", "full")
    known = load_evaluations(folder)
    return next(each.path for each in known if (each.summary["split"], each.summary["history"]) == main)


def left_out(made, folder, name: str) -> None:
    """The trial is named, with the file, and its seed is in no effect."""
    results = results_of(made)
    (trial,) = [each for each in results.trials if each.id == folder.name]
    assert name in trial.failure and trial in results.unfinished
    assert effect(results).n == 2


@pytest.mark.parametrize("change", ["nats", "flipped"])
def test_arrays_that_were_changed_are_noticed_though_their_sums_are_cached(made, change):
    folder = made.runs / made.study.trials_of("control")[1]
    path = arrays_of(folder)
    summary = path.with_suffix(".json")
    summary.write_text(json.dumps(read_json(summary) | {"arrays": digest_of(path.read_bytes())}))
    assert effect(results_of(made)).n == 3  # and all sums are kept
    if change == "flipped":
        path.write_bytes(flipped(path.read_bytes()))
    else:
        with np.load(path) as file:
            arrays = dict(file)
        arrays["nats"][:50] += 3
        np.savez(path, **arrays)  # a whole file, with checksums of its own
    left_out(made, folder, path.name)


@pytest.mark.parametrize("name", ["result.json", "config.json", "metrics.jsonl"])
def test_every_file_of_a_trial_counts(made, name):
    folder = made.runs / made.study.trials_of("control")[1]
    whole = (folder / name).read_bytes()
    for damage in damaged(whole):
        (folder / name).write_bytes(damage)
        left_out(made, folder, name)
    (folder / name).write_bytes(whole)
    assert effect(results_of(made)).n == 3


def test_a_result_of_before_that_names_other_weights(made):
    folder = made.runs / made.study.trials_of("control")[1]
    tree = read_json(folder / "result.json") | {"weights": "0" * 16}
    (folder / "result.json").write_text(json.dumps(tree))
    left_out(made, folder, "result.json")
