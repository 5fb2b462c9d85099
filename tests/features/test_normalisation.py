"""Means of planes against the published ones, and what is made of them."""

import numpy as np
import pytest

from gonn_core.features.normalisation import grand, per_plane, plane_means
from gonn_core.features.sets import plane_names
from gonn_core.features.source import plane_source
from gonn_core.go.layout import FLAGS, LAST
from tests.features.configs import CLARK, GO_NN, GONN
from tests.features.helpers import make_set
from tests.features.stores import open_games, sample_rows
from tests.go import oracles

PUBLISHED = [
    *(0.148, 0.150, 0.702, 1.0),
    *(0.0044, 0.0177, 0.0262, 0.0999, 0.0041, 0.0174, 0.0264, 0.102),
    *(0.00276, 0.00275, 0.00273, 0.00272, 7.55e-5, 0.00253, 0.000376, 0.000105, 0.0000725),
]
"""go-NN's means over GoGoD, professional games (spec: other systems 1.3)."""

GO_NN_15 = GO_NN.model_copy(update={"liberties": 3, "captures": False})


@pytest.fixture(scope="module")
def starter():
    store = open_games(oracles.STARTER_GAMES)
    return plane_source(store), np.random.default_rng(0).choice(sample_rows(store), 1500, replace=False)


def test_means_are_those_of_the_planes(starter):
    source, rows = starter
    for features in (GO_NN, GONN.model_copy(update={"liberties": 2})):
        means = plane_means(features, source, rows, batch=400)
        assert len(means) == len(plane_names(features))
    planes, _ = make_set(GO_NN, source, rows)
    assert np.allclose(plane_means(GO_NN, source, rows), planes.mean((0, 2)), rtol=1e-12)


def test_planes_come_out_with_mean_zero_and_deviation_one_and_constant_ones_as_they_are(starter):
    source, rows = starter
    features = CLARK.model_copy(update={"history": 0})
    shift, scale = per_plane(plane_means(features, source, rows))
    planes = (make_set(features, source, rows, dtype=np.float32)[0] - shift[:, None]) * scale[:, None]
    names = plane_names(features)
    constant = names.index("edge")
    assert not planes[:, constant].any()
    for k in range(len(names)):
        if k != constant:
            assert abs(planes[:, k].mean(dtype=np.float64)) < 1e-4
            assert scale[k] == 10 or planes[:, k].std(dtype=np.float64) == pytest.approx(1, rel=1e-4)
    assert scale[names.index("ko")] == 10
    ones = per_plane(plane_means(GO_NN, source, rows))
    at = plane_names(GO_NN).index("ones")
    assert (1 - ones.shift[at]) * ones.scale[at] == 1


def test_grand_mean_of_the_15_planes():
    """The published numbers agree with each other: 0.154 and x2.77 are those of the set with three liberty planes."""
    published = dict(zip(plane_names(GO_NN), PUBLISHED, strict=True))
    for side in ("own", "opponent"):
        published[f"{side}_liberties_3_or_more"] = (
            published[f"{side}_liberties_3"] + published[f"{side}_liberties_4_or_more"]
        )
    shift, scale = grand(np.array([published[name] for name in plane_names(GO_NN_15)]))
    assert (
        len(shift) == 15 and shift[0] == pytest.approx(0.154, abs=0.0005) and scale[0] == pytest.approx(2.77, abs=0.005)
    )
    assert (shift == shift[0]).all() and (scale == scale[0]).all()


def test_nothing_to_normalise_by_is_an_error(starter):
    source, _ = starter
    with pytest.raises(ValueError, match="need positions"):
        plane_means(GO_NN, source, [])
    with pytest.raises(ValueError, match="no scale"):
        grand(np.ones(3))


def test_means_on_kgs_games_resemble_the_published_ones():
    """30 amateur games of 2003 with ko fights among them, against 80,000 professional ones: alike, not equal."""
    if not oracles.KGS_GAMES.exists():
        pytest.skip(f"no {oracles.KGS_GAMES.name} beside the repository")
    store = open_games(oracles.KGS_GAMES)
    rows = np.flatnonzero(store.moves[:, FLAGS] & LAST == 0)
    means = dict(zip(plane_names(GO_NN), plane_means(GO_NN, plane_source(store), rows), strict=True))
    ratios = {name: means[name] / value for name, value in zip(plane_names(GO_NN), PUBLISHED, strict=True)}
    rare = {"ko", *(name for name in ratios if name.startswith("captures"))}
    assert all(0.75 < ratio < 1.35 for name, ratio in ratios.items() if name not in rare)
    assert all(0.5 < ratios[name] < 2.0 for name in rare)
