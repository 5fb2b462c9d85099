"""A verdict is a function of the study's own trials, and of the seed noise that was known when it was complete."""

import json
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.errors import InputError
from orchestration.study.folder import keep_noise
from orchestration.study.report import Reporter
from reports import frames
from reports.results.decisions import load_results
from reports.results.frozen_pool import NOISE_FILE
from reports.results.seed_pool import pool_from_studies
from reports.study.report import make_report
from reports.workspace import Workspace
from tests.reports.made_studies import finish_trial, plan_study, train

OTHERS = ("ladder_input", "ko_plane", "last_move_input")


def judged(made):
    """Card -> p, adjusted p, interval and verdict; and the notes."""
    results = load_results(made.study, made.runs, made.study_folder)
    today = pool_from_studies(made.folder / "studies", made.runs, made.study)
    prior = keep_noise(Workspace(made.folder), made.study, today, not results.unfinished)
    report = make_report(results, made.registry, prior)
    table = report.analyses[0, "nats"].table
    found = {
        card: (effect.p, effect.p_adjusted, effect.interval95, table.verdicts[card])
        for card, effect in table.effects.items()
    }
    return found, [note for note in report.notes if "when the study was complete" in note]


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A study that is complete and was reported beside one other."""
    folder = tmp_path_factory.mktemp("frozen")
    train(plan_study(folder, "stem_center_kernel", seeds=(1, 2, 3)), {})
    made = plan_study(folder, "parametric_relu", seeds=(1, 2, 3))
    train(made, {"without-parametric_relu": 0.02})
    return made, judged(made), count()


@settings(max_examples=4, deadline=None)
@given(
    cards=st.lists(st.sampled_from(OTHERS), min_size=1, max_size=2, unique=True),
    seeds=st.integers(2, 3),
    noise=st.sampled_from([0.1, 1.0, 30.0]),
)
def test_studies_that_are_added_afterwards_change_no_verdict(complete, cards, seeds, noise):
    made, (first, notes), number = complete
    assert not notes
    first_seed = 10 * (1 + next(number))  # of a study that there is not yet
    other = plan_study(made.folder, *cards, seeds=tuple(range(first_seed, first_seed + seeds)))
    train(other, {}, scale={f"without-{card}": noise for card in cards})
    again, moved = judged(made)
    assert again == first
    assert len(moved) == 1 and "with today's studies: standard deviation" in moved[0]
    frame = frames.effects(workspace=made.folder, study=made.study.id)
    nats = frame[frame.main & (frame.metric == "nats")].iloc[0]
    assert (nats.p, nats.p_adjusted) == first["parametric_relu"][:2]


def test_until_it_is_complete_nothing_is_kept(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2, 3))
    for trial in made.study.trials[:-1]:
        finish_trial(made, trial, 0.0)
    Reporter(Workspace(made.folder)).report(made.study, "report")
    assert not (made.study_folder / NOISE_FILE).exists()
    finish_trial(made, made.study.trials[-1], 0.0)
    Reporter(Workspace(made.folder)).report(made.study, "report")
    kept = json.loads((made.study_folder / NOISE_FILE).read_text())
    assert kept["format"] == 1 and kept["differences"] == {} and kept["when"] and "commit" in kept
    before = (made.study_folder / NOISE_FILE).read_bytes()
    train(plan_study(tmp_path, "ko_plane", seeds=(1, 2, 3)), {})
    judged(made)
    assert (made.study_folder / NOISE_FILE).read_bytes() == before


def test_a_damaged_file_stops_the_report(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1, 2))
    train(made, {})
    (made.study_folder / NOISE_FILE).write_text('{"format": 1}')
    with pytest.raises(InputError, match="damaged"):
        judged(made)
