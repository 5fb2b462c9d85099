"""Trials from several kinds of machine are named as such; old ones that do not tell theirs are read as before."""

import json

import pytest

from gonn_core.training.environment import describe_processor
from reports.results.decisions import load_results
from reports.results.study_results import UNRECORDED, machines_of
from reports.study.footnotes import machine_notes
from tests.reports.made_studies import plan_study, train

CPUINFO = """processor\t: 0
model name\t: Some(R) Processor @ 2.90GHz
flags\t\t: fpu sse avx2 avx512f avx512_bf16 amx_tile
"""


@pytest.fixture
def made(tmp_path):
    study = plan_study(tmp_path, "ko_plane", seeds=(1, 2))
    train(study, {})
    return study


def change_sessions(made, number: int, **values) -> None:
    """Values of the sessions of one trial; None: the key is taken out, as in files of before."""
    path = made.runs / made.study.trials[number].trial / "config.json"
    tree = json.loads(path.read_text())
    for session in tree["sessions"]:
        session.update(values)
        for name in [name for name, value in values.items() if value is None]:
            del session[name]
    tree.pop("seal", None)  # as files of before
    path.write_text(json.dumps(tree))


def notes(made) -> list[str]:
    return machine_notes(load_results(made.study, made.runs))


def test_trials_of_one_kind_of_machine_need_no_word(made):
    assert notes(made) == []


def test_two_kinds_are_counted(made):
    change_sessions(made, 1, processor="Another processor")
    (note,) = notes(made)
    assert note.startswith("Trials of this study come from 2 kinds of machine: A processor, AVX-512 (3 trials), ")
    assert "Another processor (1 trial)" in note and "0.005 to 0.026 nats apart" in note


def test_an_accelerator_is_another_kind(made):
    change_sessions(made, 0, device="Some GPU")
    assert "Some GPU (1 trial)" in notes(made)[0]


def test_trials_of_before_do_not_tell_and_alone_say_nothing(made):
    for number in range(4):
        change_sessions(made, number, processor=None)
    assert notes(made) == []
    change_sessions(made, 0, processor="A processor, AVX-512")
    (note,) = notes(made)
    assert "as far as is known" in note and f"{UNRECORDED} (3 trials)" in note


def test_a_trial_that_went_on_elsewhere_tells_of_both():
    cpu = {"device": "cpu", "processor": "One"}
    assert machines_of([cpu, cpu, {**cpu, "processor": "Other"}, {"device": "cpu"}]) == ("One", "Other", UNRECORDED)


def test_a_processor_is_its_model_and_the_instructions_that_choose_kernels(tmp_path):
    path = tmp_path / "cpuinfo"
    path.write_text(CPUINFO)
    assert describe_processor(path) == "Some(R) Processor @ 2.90GHz, AVX-512, AVX-512 bf16, AMX"
    assert describe_processor(tmp_path / "none")
