"""Choosing planes by name."""

from types import SimpleNamespace

import numpy as np
import pytest

from gonn_core.config import FeatureConfig
from gonn_core.errors import SettingError
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.features.sets import PLANE_SETS, plane_indices, plane_names


def test_defaults_choose_all_of_gonn():
    assert plane_names(FeatureConfig()) == PLANE_NAMES
    assert plane_indices(FeatureConfig()).tolist() == list(range(26))


def test_nothing_but_the_stones():
    features = FeatureConfig(liberties=0, liberties_after=0, ko=False, history=0, ladders=False)
    assert plane_names(features) == ("on_board", "own_stone", "opponent_stone")


def test_the_13_planes_of_2017():
    """Spec GoNN 1.5: on board, stones, liberties 1-3 of both, three last moves, ko."""
    names = plane_names(FeatureConfig(liberties=3, liberties_after=0, history=3, ladders=False))
    assert len(names) == 13 and names[-4:] == ("ko", "history_1", "history_2", "history_3")


@pytest.mark.parametrize(
    "change, lost",
    [
        ({"liberties": 3}, [6, 10]),
        ({"liberties": 0}, range(3, 11)),
        ({"liberties_after": 1}, [12, 13, 15, 16]),
        ({"ko": False}, [17]),
        ({"history": 1}, range(19, 23)),
        ({"ladders": False}, [23, 24, 25]),
    ],
)
def test_each_toggle_drops_its_planes(change, lost):
    indices = plane_indices(FeatureConfig(**change))
    assert indices.tolist() == [k for k in range(26) if k not in lost]
    assert plane_names(FeatureConfig(**change)) == tuple(np.array(PLANE_NAMES)[indices])


def test_unknown_set_and_unknown_planes_name_the_valid_ones():
    features = SimpleNamespace(set="gon", liberties=9, liberties_after=3, ko=True, history=5, ladders=True)
    with pytest.raises(SettingError, match=f"features.set=gon: .*; valid: {', '.join(PLANE_SETS)}"):
        plane_names(features)
    features.set = "gonn"
    with pytest.raises(SettingError, match="own_liberties_9"):
        plane_indices(features)
