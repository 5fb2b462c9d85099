"""Answers to probes in a trial's directory: put once, read back; a study's effects and claims from them."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from gonn_core.errors import UserError
from gonn_core.evaluation.probes import stored
from gonn_core.evaluation.probes.stored import CaseAnswers
from gonn_core.evaluation.probes.suite import PUBLISHED, drawn_suite, published
from gonn_core.files.seals import sealed_json
from gonn_core.go.points import POINTS, point
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.evaluations import answer_probes, stored_answers
from gonn_core.trial.lease import Lease
from gonn_core.trial.run import run_trial
from reports.probes.boards import draw_policy
from reports.probes.effects import (
    group_effects,
    groups_table,
    positions_table,
    probability_effect,
    study_effects,
    study_table,
)
from reports.results.decisions import load_results
from reports.study.report import make_report
from tests.reports.made_studies import plan_study, registry_with, train
from tests.trial.helpers import tiny_config, tiny_job


def test_a_suite_is_put_once_and_read_back(tmp_path, monkeypatch):
    job = tiny_job(tmp_path, tiny_config(training__samples=16))
    directory = TrialDirectory(tmp_path / job.id)
    directory.create()
    with pytest.raises(UserError, match="not trained to the end yet"):
        answer_probes(directory, drawn_suite())
    run_trial(job)
    assert stored_answers(directory, drawn_suite()) is None
    answers = answer_probes(directory, drawn_suite())
    assert [group["name"] for group in answers.summary["groups"]] == list(drawn_suite().groups)
    assert answers.arrays["policies"].shape == (18, POINTS)
    assert answers.policy("lastmove").sum() == pytest.approx(1, abs=1e-5)
    assert (answers.policy("lastmove") != answers.policy("nolastmove")).any()  # history is shown in one of the two only
    monkeypatch.setattr("gonn_core.trial.evaluations.load_net", None)
    assert answer_probes(directory, drawn_suite()).summary == answers.summary
    shown = groups_table(answers, "Probes")
    assert [row.cells["cases"].text for row in shown.rows if row.key.endswith(("eyes", "races"))] == ["256", "192"]
    assert {row.key for row in positions_table(answers).rows} >= {"chainpool2", "dilated3"}
    assert draw_policy(published()[3], answers.policy("ladderinput2"), "a trial").startswith(b"\x89PNG")


def answer(made, arm, move_share, found_share, seed_shift=0.0):
    """Give every trial of an arm made-up answers: probability of M12 in ladderinput2, share of eyes found."""
    suite = drawn_suite()
    shown = [case for case in suite.cases if case.group == PUBLISHED]
    for trial in (trial for trial in made.study.trials if trial.arm == arm):
        directory = TrialDirectory(made.runs / trial.trial)
        policies = np.full((len(shown), POINTS), 0.001, np.float32)
        policies[[case.name for case in shown].index("ladderinput2"), point("M12")] = (
            move_share + seed_shift * trial.seed
        )
        eyes = np.array([case.group == "long_chain_eyes" for case in suite.cases])
        right = np.where(eyes & (np.arange(len(suite.cases)) % 10 < 10 * found_share), 0.9, 0.1).astype(np.float32)
        given = CaseAnswers(right, np.full(len(right), 0.5, np.float32), (right > 0.5).astype(np.float32))
        result = directory.result()
        summary = stored.summarise(suite, given, result["weights"], result["samples"], [case.name for case in shown])
        with Lease.take(directory.path) as lease:
            (directory.path / "probes").mkdir()
            directory.write(f"probes/{summary['id']}.npz", stored.pack(suite, given, policies), lease)
            directory.write(f"probes/{summary['id']}.json", sealed_json(summary, allow_nan=False), lease)


def test_effects_and_claims_come_from_stored_answers(tmp_path):
    usual = {
        "metric": "probe",
        "direction": "decrease",
        "probe": {"position": "extraladdertargetfail2", "move": "M12"},
        "samples": None,
        "stage": "any",
    }
    claims = {
        "drops": {**usual, "range": [-0.557, -0.53]},
        "level": {**usual, "quantity": "on", "value": 0.02},
        "rises": {**usual, "direction": "increase", "value": 0.3},
    }
    cards = registry_with(**claims)
    made = plan_study(tmp_path, "made_up", base="gonn-b4", budget="gpu", cards_of=cards)
    train(made, {})
    (contrast,) = made.study.contrasts
    without = make_report(load_results(made.study, made.runs), cards)
    assert {finding.verdict for finding in without.findings} == {"not measured yet"}
    assert study_table(without.results) is None
    answer(made, contrast.without[0], 0.56, 0.1, 0.001)
    assert study_table(load_results(made.study, made.runs)) is None  # one arm alone, probed for another study
    answer(made, contrast.with_it[0], 0.02, 0.7)
    results = load_results(made.study, made.runs)
    found = {finding.claim.id: finding for finding in make_report(results, cards).findings}
    assert {name: finding.verdict for name, finding in found.items()} == {
        "drops": "replicated",
        "level": "replicated",
        "rises": "contradicted",
    }
    assert found["drops"].measured.text.startswith("−54.25 [") and len(found["drops"].trials) == 8
    assert found["level"].measured.text.startswith("2.0 % [2.0, 2.0] at")
    effects = {effect.group: effect for effect in group_effects(results, contrast, drawn_suite().digest)}
    eyes = effects["long_chain_eyes"]
    assert [eyes.off, eyes.on] == pytest.approx([0.1, 0.7], abs=0.02)
    assert eyes.effect.interval95.low > 0.4 and effects["races"].effect.delta == 0
    row = next(row for row in study_table(results).rows if row.key == "made_up long_chain_eyes")
    assert row.cells["delta"].text.startswith("+") and row.cells["n"].text == "4"
    assert row.cells["verdict"].text.startswith("helps (q ")
    judged = {effect.group: effect for effect in study_effects(results, drawn_suite().digest)["made_up"]}
    tests = [row.effect for row in judged.values() if row.effect.p is not None]
    assert len(tests) > 3
    assert [test.q for test in tests] == pytest.approx(false_discovery_control([test.p for test in tests]))
    assert judged["races"].effect.q == 1.0 and judged["races"].verdict == "not shown"
    assert f"q is over the {len(tests)} effects" in study_table(results).notes[0]
    nobody = contrast.model_copy(update={"with_it": ("no such arm",)})
    assert group_effects(results, nobody, drawn_suite().digest) == []
    assert probability_effect(results, nobody, "lastmove", 0) == (None, ())
