"""Choosing planes by name."""

import itertools

import numpy as np
import pytest

from gonn_core.config import FeatureConfig
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.features.sets import computed_planes, padding, plane_indices, plane_names
from gonn_core.settings.features import VALID
from tests.features.configs import CAZENAVE, CLARK, GO_NN


@pytest.mark.parametrize(
    "change, lost",
    [
        ({"liberties": 3}, [6, 10]),
        ({"liberties": 0}, range(3, 11)),
        ({"liberties_after": 1}, [12, 13, 15, 16]),
        ({"ko": False}, [17]),
        ({"history": 1}, range(19, 23)),
        ({"ladders": False}, [23, 24, 25]),
        ({"ladders": "chains"}, [25]),
    ],
)
def test_each_toggle_drops_its_planes(change, lost):
    indices = plane_indices(FeatureConfig(**change))
    assert indices.tolist() == [k for k in range(26) if k not in lost]
    assert plane_names(FeatureConfig(**change)) == tuple(np.array(PLANE_NAMES)[indices])


def some_configurations(name):
    """The first and the last two values of every field, alone and combined."""
    fields = {field: list(dict.fromkeys((values[0], *values[-2:]))) for field, values in VALID[name].items()}
    chosen = (dict(zip(fields, values, strict=True)) for values in itertools.product(*fields.values()))
    return [
        FeatureConfig(set=name, **values)
        for values in chosen
        if values["past_boards"] or values["past_boards_dropped"] == "zero"
    ]


@pytest.mark.parametrize(
    "name, fewest, most", [("gonn", 3, 44), ("go_nn", 3, 21), ("clark", 2, 13), ("cazenave", 3, 45)]
)
def test_plane_counts_and_distinct_names(name, fewest, most):
    counts = set()
    for features in some_configurations(name):
        names = plane_names(features)
        counts.add(len(names))
        assert len(set(names)) == len(names) and len(padding(features)) == len(names)
        assert [computed_planes(features)[k] for k in plane_indices(features)] == list(names)
    assert min(counts) == fewest and max(counts) == most


def test_the_sizes_of_clark_and_storkey():
    """Spec, other systems 2.2, 2.9: 2 planes with everything off, 3 with ko, 6 with liberties only, 7, 8 with the
    edge."""

    def count(**change):
        return len(plane_names(CLARK.model_copy(update={"history": 0, "edge": "none", **change})))

    assert [count(liberties=0, ko=False), count(liberties=0), count(ko=False), count(), count(edge="channel")] == [
        2,
        3,
        6,
        7,
        8,
    ]


def test_orders_of_the_published_lists():
    go_nn, cazenave = plane_names(GO_NN), plane_names(CAZENAVE)
    assert len(go_nn) == 21 and len(cazenave) == 45
    assert (go_nn[3], go_nn[7], go_nn[11], go_nn[12], go_nn[16], go_nn[20]) == (
        "ones", "own_liberties_4_or_more", "opponent_liberties_4_or_more", "history_1", "ko", "captures_4_or_more",
    )  # fmt: skip
    assert [cazenave[k] for k in (2, 3, 4, 5, 6, 7, 8, 17, 18, 31, 32, 38, 39, 43, 44)] == [
        "empty", "ones", "zeros", "third_line", "ko_flag", "ko", "own_liberties_1", "opponent_liberties_5_or_more",
        "own_liberties_after_0", "opponent_liberties_after_6_or_more", "ladder_move_caught", "ladder_opponent_threat",
        "history_1", "history_5", "ladder_opponent_move_caught",
    ]  # fmt: skip


def test_what_stands_beyond_the_edge():
    """Spec, other systems 2.2: ones in the eighth channel, or opponent's stones; zeros in everything else."""

    def padded(**change):
        features = CLARK.model_copy(update=change)
        return [name for name, value in zip(plane_names(features), padding(features), strict=True) if value]

    assert padded(edge="none") == [] and padded() == ["edge"]
    assert padded(edge="as_opponent") == ["opponent_liberties_3_or_more"]
    assert padded(edge="as_opponent", liberties=0) == ["opponent_stone"]
    assert not padding(FeatureConfig()).any() and padding(FeatureConfig()).dtype == np.float32
