"""Kept sums: the same numbers as from the positions, never those of another file, and a report that is the same byte
for byte."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gonn_core.errors import Damaged, InputError
from gonn_core.evaluation.metrics import VALUES, by_move_number
from gonn_core.evaluation.stored import Evaluation, load_evaluations, pack_compact, whole_evaluations
from gonn_core.metrics import METRICS
from reports.results import study_results
from reports.results.decisions import load_results
from reports.results.study_results import SummedEvaluation
from reports.study.render import write_report
from tests.reports.made_studies import Made, plan_study, train
from tests.reports.same_text import same_file


@pytest.fixture
def made(tmp_path) -> Made:
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2, 3))
    train(made, {"without-parametric_relu": 0.02})
    return made


def evaluations(made: Made) -> list:
    return load_evaluations(made.runs / made.study.trials[0].trial)


def summed(evaluation, folder: Path | None) -> SummedEvaluation:
    """As in another process: nothing is remembered."""
    study_results._read_sums.cache_clear()
    return SummedEvaluation(evaluation.summary, evaluation.path, folder)


@pytest.mark.parametrize("cached", [False, True])
def test_sums_are_those_of_the_positions(made, cached):
    folder = made.folder / "sums" if cached else None
    for evaluation in evaluations(made):
        if cached:
            summed(evaluation, folder).sums.of("nats")
        sums = summed(evaluation, folder)
        for metric in VALUES:
            mine, slow = sums.sums.of(metric), evaluation.sums.of(metric)
            if METRICS[metric].legal_only or METRICS[metric].planes > 1:  # of policies of one plane over all points
                assert mine is slow is None
                continue
            assert all(np.array_equal(one, other) for one, other in zip(mine, slow, strict=True))
        assert sums.sums.moves == by_move_number(evaluation.scores)
        assert sums.sums.guesses.sum() == evaluation.summary["positions"]
        assert "_arrays" not in vars(sums), "the positions are not kept in memory"


def test_another_evaluation_in_the_place_of_one_has_other_sums(made):
    (evaluation, *_), folder = evaluations(made), made.folder / "sums"
    before = summed(evaluation, folder).sums.of("rank").sums
    with np.load(evaluation.path) as file:
        arrays = dict(file)
    arrays["rank"] = arrays["rank"][::-1] + np.uint16(1)
    np.savez(evaluation.path, **arrays)
    changed = Evaluation(evaluation.summary, evaluation.path)
    after = summed(changed, folder).sums.of("rank").sums
    assert np.array_equal(after, changed.sums.of("rank").sums) and not np.array_equal(after, before)


def test_metrics_that_are_not_held_and_damaged_caches(made):
    evaluation, folder = evaluations(made)[0], made.folder / "sums"
    with np.load(evaluation.path) as file:
        arrays = {name: file[name] for name in file if name not in ("entropy", "ply", "ko")}
    np.savez(evaluation.path, **arrays)
    for _ in range(2):
        sums = summed(evaluations(made)[0], folder)
        assert sums.sums.of("entropy") is None and sums.sums.of("top1_ko") is None and sums.sums.moves is None
    (file,) = folder.iterdir()
    for damaged in (b"", b"x" * 80, file.read_bytes()[:-8]):
        file.write_bytes(damaged)
        nats = summed(evaluations(made)[0], folder).sums.of("nats").sums
        assert np.array_equal(nats, evaluation.sums.of("nats").sums)
    with pytest.raises(ValueError, match="valid are nats, "):
        sums.sums.of("nosuch")


def compact(made: Made) -> None:
    """Store all evaluations with their sums in place of the positions."""
    for trial in made.runs.iterdir():
        for evaluation in load_evaluations(trial):
            for suffix, data in pack_compact(evaluation).items():
                evaluation.path.with_suffix(suffix).write_bytes(data)
            evaluation.path.unlink()


def test_a_compact_evaluation_has_the_sums_of_its_positions(made):
    full = [(evaluation, evaluation.sums) for evaluation in evaluations(made)]
    compact(made)
    for (evaluation, expected), stored in zip(full, evaluations(made), strict=True):
        assert stored.compact and not evaluation.compact
        for metric in VALUES:
            mine, theirs = stored.sums.of(metric), expected.of(metric)
            assert mine is theirs is None or all(map(partial(np.allclose, rtol=6e-8), mine, theirs))
        assert np.array_equal(stored.sums.guesses, expected.guesses) and stored.sums.moves == expected.moves
        with pytest.raises(InputError, match="sums by game only"):
            _ = stored.scores
    first, second, *_ = evaluations(made)
    data = bytearray(first.path.read_bytes())
    data[len(data) // 2] ^= 1
    first.path.write_bytes(data)
    second.path.unlink()
    whole, damages = whole_evaluations(first.path.parent.parent)
    assert [each.path.stem for each in damages] == [first.path.stem, second.path.stem]
    assert all(isinstance(each, Damaged) for each in damages) and len(whole) == len(made.study.evaluations) - 2


def test_reports_are_the_same_byte_for_byte_and_figures_are_drawn_again_only_when_something_changed(made, monkeypatch):
    """Without and with the cache, and from compact trials."""
    drawn, folder = [], made.folder / "out" / made.study.id

    def draw(*arguments) -> dict[str, bytes]:
        drawn.append(len(drawn))
        return {"figure.png": b"png %d" % len(drawn), "figure.svg": b"svg"}

    def report(cache: Path | None = made.folder / "sums", **changes) -> dict[str, bytes]:
        results = replace(load_results(made.study, made.runs, made.study_folder, cache), **changes)
        write_report(made.study, results, made.folder / "out", made.registry, cache=cache)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def text(files: dict[str, bytes]) -> dict[str, bytes]:
        return {name: data for name, data in files.items() if name.endswith((".md", ".json", ".csv"))}

    monkeypatch.setattr("reports.figures.study.draw", draw)
    first, again, plain = report(), report(), report(None)
    assert first == again and text(first) == text(plain) and len(drawn) == 2
    assert len(list((made.folder / "sums").glob("*.sums"))) == len(made.study.trials) * len(made.study.evaluations)
    trials = load_results(made.study, made.runs, made.study_folder).trials
    shorter = replace(trials[0], curve=trials[0].curve[:-1])
    assert report(trials=(shorter, *trials[1:]))["figure.png"] == b"png 3"
    compact(made)
    study_results._read_sums.cache_clear()
    assert all(same_file(name, data, plain[name]) for name, data in report(None).items() if name.endswith(".md"))
