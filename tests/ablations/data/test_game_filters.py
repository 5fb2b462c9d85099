"""Filters of the training games: in a data set's terms, as views, and never a test game in training."""

from types import SimpleNamespace

import numpy as np
import pytest

from ablations.data.datasets import load_dataset, prepare, row_filter, training_view
from ablations.data.schema import EVERYTHING, FilterDeclaration, filled, own_games, with_view
from ablations.schema import Toggle
from gonn_core.config import TrialConfig, trial_id, with_values
from gonn_core.errors import UserError
from gonn_core.records.views import RowFilter
from gonn_core.settings.data import GamesConfig
from tests.records.sgf_tools import ROOT, numbered_game, tar_bytes

HANDICAP = SimpleNamespace(id="even", toggles={"data.games.max_handicap": Toggle(off=361, on=0)})


def test_only_what_is_toggled_and_unset_is_filled():
    kgs = FilterDeclaration(min_rank=5, max_handicap=0)
    own = own_games(kgs)
    assert own == EVERYTHING.model_copy(update={"min_rank": 5, "max_handicap": 0})
    assert filled(TrialConfig(), [HANDICAP], own).data.games == GamesConfig(max_handicap=0)
    assert filled(TrialConfig(), [HANDICAP]).data.games == GamesConfig(max_handicap=361)
    given = with_values(TrialConfig(), {"data.games.max_handicap": 2})
    assert filled(given, [HANDICAP], own) == given
    assert filled(TrialConfig(), [], own) == TrialConfig()


def test_a_filter_replaces_the_data_sets_own_field_by_field():
    kgs = FilterDeclaration(min_rank=5, max_handicap=0, min_moves=20)
    assert row_filter(GamesConfig(), kgs) == RowFilter(min_rank=5, max_handicap=0, min_moves=20)
    assert row_filter(GamesConfig(max_handicap=361, drop_illegal=True), kgs) == RowFilter(
        min_rank=5, min_moves=20, drop_illegal=True
    )
    assert row_filter(EVERYTHING, kgs) == RowFilter(min_moves=20)
    assert row_filter(own_games(kgs), kgs) == row_filter(GamesConfig(), kgs)


def test_a_trial_keeps_the_digest_alone():
    made = with_view(with_values(TrialConfig(), {"data.games.min_rank": 5}), "1" * 20)
    assert trial_id(made) == trial_id(with_values(TrialConfig(), {"data.view": "1" * 20}))


@pytest.fixture(scope="module")
def kgs(tmp_path_factory):
    """The kgs declaration on 12 games: even and handicap ones of all splits, copies of test games among the training
    years."""
    folder = tmp_path_factory.mktemp("kgs")
    even, handicap = "BR[6d]WR[6d]", "BR[6d]WR[6d]HA[3]"
    years = {
        2001: [(1, even), (2, handicap), (3, "BR[6d]WR[2d]"), (4, "BR[6d]"), (5, even), (6, handicap), (7, handicap)],
        2015: [
            (10, even),
            (5, even),
            (6, handicap),
            (7, even),
        ],  # 5: plain copy; 6: equal only without the filter; 7: even here alone
        2017: [(12, even)],
    }
    for year, games in years.items():
        members = {
            f"{number}.sgf": numbered_game(number, root=f"{ROOT}DT[{year}-01-01]{extra}") for number, extra in games
        }
        (folder / f"KGS-{year}-19.tar").write_bytes(tar_bytes(members))
    return prepare(load_dataset("kgs", folder), folder / "stores")


def numbers(prepared, games: GamesConfig) -> dict[str, int]:
    """Name of each game in the training view -> its positions there."""
    view, names = training_view(prepared, games), {}
    for game in view.games().tolist():
        name = prepared.store.game_name(game).rsplit("/", 1)[-1]
        names[name] = names.get(name, 0) + 1
    return names


def test_training_views_under_other_filters(kgs):
    assert numbers(kgs, GamesConfig()) == {"1.sgf": 8, "3.sgf": 4, "4.sgf": 4}
    assert numbers(kgs, GamesConfig(max_handicap=361)) == {"1.sgf": 8, "2.sgf": 8, "3.sgf": 4, "4.sgf": 4}
    assert numbers(kgs, GamesConfig(min_rank=-30)) == {"1.sgf": 8, "3.sgf": 8, "4.sgf": 8}
    assert numbers(kgs, GamesConfig(min_rank=1)) == {"1.sgf": 8, "3.sgf": 8, "4.sgf": 4}
    with pytest.raises(UserError, match="no training positions with min_year 2010"):
        training_view(kgs, GamesConfig(min_year=2010))


def test_the_data_sets_own_filter_is_the_ordinary_view(kgs):
    assert training_view(kgs, GamesConfig(max_handicap=0, min_rank=5)).digest == kgs.views["train"].digest
    assert training_view(kgs, own_games(kgs.dataset.declaration.filter)).digest == kgs.views["train"].digest


def test_no_held_out_game_is_trained_on_whatever_the_filter(kgs):
    canonical = kgs.store.games["canonical"]
    held_out = {tuple(canonical[game]) for split in ("validation", "test") for game in kgs.views[split].games()}
    for games in (EVERYTHING, GamesConfig(max_handicap=361), GamesConfig(min_rank=0), GamesConfig(drop_illegal=True)):
        assert not held_out & {tuple(canonical[game]) for game in training_view(kgs, games).games()}


def test_a_trial_finds_its_view_by_the_digest_alone(kgs):
    from gonn_core.trial.data import TrialData

    view = training_view(kgs, GamesConfig(max_handicap=361))
    assert TrialData(kgs.store.folder).view(view.digest).rows.tolist() == view.rows.tolist()


def test_each_of_go_nns_filters_can_be_lifted_from_its_data_set(tmp_path):
    """Of 200 games one in ten is before 1800, one an amateur's, one calls itself corrupt, one has an illegal move."""
    odd = {0: "DT[1750]", 1: "DT[1900]", 2: "C[this record is corrupt]DT[1900]"}
    folder = tmp_path / "gogod"
    folder.mkdir()
    for number in range(200):
        said = odd.get(number % 10, f"DT[{1900 + number % 116}]")
        black = "6d ama" if number % 10 == 1 else "6d"
        game = numbered_game(number, root=f"{ROOT}{said}BR[{black}]WR[Honinbo]")
        if number % 10 == 3:
            game = game.replace(b"DT[", b"AB[aa]DT[")[:-1] + b";B[aa])"
        (folder / f"{number}.sgf").write_bytes(game)
    prepared = prepare(load_dataset("gogod-1800", tmp_path), tmp_path / "stores")
    own = own_games(prepared.dataset.declaration.filter)
    assert own == GamesConfig(
        **{**EVERYTHING.model_dump(), "min_year": 1800, "ignore_amateurs": True}
        | {"drop_illegal": True, "drop_corrupt": True}
    )

    def kinds(**lifted) -> set[int]:
        view = training_view(prepared, own.model_copy(update=lifted))
        names = {prepared.store.game_name(game).rsplit("/", 1)[-1] for game in view.games().tolist()}
        return {int(name.removesuffix(".sgf")) % 10 for name in names}

    ordinary = {4, 5, 6, 7, 8, 9}
    assert kinds() == ordinary and training_view(prepared, own).digest == prepared.views["train"].digest
    assert kinds(min_year=0) == ordinary | {0}
    assert kinds(ignore_amateurs=False) == ordinary | {1}
    assert kinds(drop_corrupt=False) == ordinary | {2}
    assert kinds(drop_illegal=False) == ordinary | {3}
    assert set(prepared.store.games["black_rank"][np.unique(prepared.views["train"].games())].tolist()) == {105}
