"""Probes of a ladder head: one that reads the ladder planes is always right, one that says the same everywhere is right
in half; kept and read back."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gonn_core.config import FeatureConfig
from gonn_core.evaluation.probes import stored
from gonn_core.evaluation.probes.cases import Suite
from gonn_core.evaluation.probes.ladders import CAPTURE, RUN, cut_ladders
from gonn_core.evaluation.probes.measure import head_answers, ladder_head, ladder_pair
from gonn_core.evaluation.probes.stored import CaseAnswers, LadderHead
from gonn_core.evaluation.probes.suite import published
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.go.points import point
from gonn_core.nets import trial_net
from reports.probes.effects import _probabilities
from reports.probes.tables import ladder_head_table
from tests.trial.helpers import starter_data, tiny_config


class Head(torch.nn.Module):
    """A net whose body is its input, and whose head says `logit(body)`."""

    def __init__(self, logit):
        super().__init__()
        self.auxiliary = {"ladders": logit}

    def body(self, planes):
        return planes


def reads_the_planes(body):
    planes = body[:, [PLANE_NAMES.index("ladder_atari"), PLANE_NAMES.index("ladder_two_liberties")]].sum(1).flatten(1)
    return 20 * planes - 10


@pytest.fixture(scope="module")
def suite():
    store = starter_data().store
    return Suite((*(each.case for each in published()), *cut_ladders(store, np.arange(0, len(store.games), 8), 40)))


@pytest.fixture(scope="module")
def knowing(suite):
    shown = [each.case.position for each in published()]
    return head_answers(Head(reads_the_planes), FeatureConfig(), suite, shown)


def test_the_ladder_planes_are_the_answer(suite, knowing):
    asked = ~np.isnan(knowing.works)
    assert asked.sum() > 10 and {case.group for case, each in zip(suite.cases, asked, strict=True) if each} <= {
        CAPTURE,
        RUN,
    }
    assert (knowing.works[asked] > 0.99).all() and (knowing.fails[asked] < 0.01).all()
    assert (np.isnan(knowing.fails) == ~asked).all()


def test_the_documents_positions(knowing):
    """Spec: GoNN 7.1, 7.2."""
    names = [each.case.name for each in published()]
    working, broken = (knowing.maps[names.index(name)] for name in ("laddertarget", "laddertargetbroken"))
    assert {p for p in range(361) if working[p] > 0.5} == {point("O3"), point("Q17")}
    assert broken.max() < 0.5


def test_stones_in_question_stand_in_both_positions(suite):
    for case in suite.cases:
        found = ladder_pair(case) if case.group in (CAPTURE, RUN) else None
        if found is not None:
            works, fails, stones = found
            assert stones and {id(works), id(fails)} == {id(case.position), id(case.twin)}


def test_only_nets_with_the_head_are_asked():
    assert ladder_head(trial_net(tiny_config(training__auxiliary__ladders=0.06))) is not None
    assert not ladder_head(trial_net(tiny_config(training__auxiliary__value=0.1))) and not ladder_head(
        trial_net(tiny_config())
    )


def test_answers_are_kept_and_shown(suite, knowing, tmp_path):
    shown = [each.case.name for each in published()]
    about = {"published": shown, "groups": []}
    given = CaseAnswers(*np.zeros((3, len(suite.cases)), np.float32))
    path = tmp_path / "answers.npz"
    policies = np.zeros((len(shown), 361))
    path.write_bytes(stored.pack(suite, given, policies, knowing))
    answers = stored.ProbeAnswers(about, path)
    assert all(
        np.array_equal(one, other, equal_nan=True) for one, other in zip(answers.ladder_head, knowing, strict=True)
    )
    assert answers.laddered("laddertarget")[point("O3")] > 0.99
    rows = {row.key: row.cells for row in ladder_head_table(answers, "a trial").rows}
    assert rows["all"]["right"].value == 1 and rows["all"]["cases"].value == sum(
        rows[key]["cases"].value for key in ("4-6", "7-10", "11-18")
    )
    assert rows["laddertarget O3"]["p_works"].text == "100.0 % (published 99.8 %)"
    path.write_bytes(stored.pack(suite, given, policies))
    plain = stored.ProbeAnswers(about, path)
    assert (
        plain.ladder_head is None
        and plain.laddered("laddertarget") is None
        and ladder_head_table(plain, "a trial") is None
    )


def test_saying_no_everywhere_is_half_right(suite):
    head = head_answers(Head(lambda body: reads_the_planes(body) * 0 - 5), FeatureConfig(), suite, [])
    assert isinstance(head, LadderHead) and np.nanmax(head.works) < 0.5 and len(head.maps) == 0


def test_a_claim_on_it_reads_the_heads_own_answers(suite, knowing, tmp_path):
    shown = [each.case.name for each in published()]
    path = tmp_path / "answers.npz"
    path.write_bytes(
        stored.pack(
            suite, CaseAnswers(*np.zeros((3, len(suite.cases)), np.float32)), np.zeros((len(shown), 361)), knowing
        )
    )
    answers = stored.ProbeAnswers({"published": shown, "groups": []}, path)
    found = _probabilities({3: [(SimpleNamespace(id="t"), answers)]}, "laddertarget", point("Q17"), "ladders")
    assert found[3][0] > 0.99 and found[3][1] == ["t"]
