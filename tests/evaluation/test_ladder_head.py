"""The ladder head on the documents' positions: a net that reads the ladder planes, and one without a head."""

import numpy as np
import pytest
import torch

from gonn_core.config import FeatureConfig
from gonn_core.evaluation.probes.measure import ladder_maps
from gonn_core.evaluation.probes.stored import CaseAnswers, ProbeAnswers, pack
from gonn_core.evaluation.probes.suite import Suite, published
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.go.points import point
from gonn_core.nets import trial_net
from reports.probes.effects import positions_table
from tests.trial.helpers import tiny_config


class Head(torch.nn.Module):
    """A net whose body is its input, and whose ladder head reads the ladder planes."""

    def __init__(self):
        super().__init__()
        self.auxiliary = {"ladders": self.logits}

    def body(self, planes):
        return planes

    @staticmethod
    def logits(body):
        planes = [PLANE_NAMES.index(name) for name in ("ladder_atari", "ladder_two_liberties")]
        return 20 * body[:, planes].sum(1).flatten(1) - 10


NAMES = [shown.case.name for shown in published()]


@pytest.fixture(scope="module")
def maps():
    return ladder_maps(Head(), FeatureConfig(), [shown.case.position for shown in published()])


def test_the_documents_positions(maps):
    """Spec: GoNN 7.1, 7.2."""
    working, broken = (maps[NAMES.index(name)] for name in ("laddertarget", "laddertargetbroken"))
    assert {p for p in range(361) if working[p] > 0.5} == {point("O3"), point("Q17")}
    assert broken.max() < 0.5


def test_only_nets_with_the_head_are_asked():
    positions = [published()[0].case.position]
    for auxiliary, shape in (("ladders", (1, 361)), ("value", None)):
        config = tiny_config(**{f"training__auxiliary__{auxiliary}": 0.1})
        found = ladder_maps(trial_net(config), config.features, positions)
        assert (None if found is None else found.shape) == shape


def test_answers_are_kept_and_shown(maps, tmp_path):
    suite, path = Suite(tuple(shown.case for shown in published())), tmp_path / "answers.npz"
    given, policies = CaseAnswers(*np.zeros((3, len(NAMES)), np.float32)), np.zeros((len(NAMES), 361))
    answers = ProbeAnswers({"published": NAMES, "groups": []}, path)
    path.write_bytes(pack(suite, given, policies, maps))
    assert answers.laddered("laddertarget")[point("O3")] > 0.99
    (row,) = [row.cells for row in positions_table(answers).rows if row.key == "laddertarget"]
    assert "O3 (laddered) 100.0 %" in row["named"].text and "laddered O3 99.8 %" in row["published"].text
    path.write_bytes(pack(suite, given, policies))
    assert ProbeAnswers(answers.summary, path).laddered("laddertarget") is None
