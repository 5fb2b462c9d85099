"""Views: which rows are samples, which split a game is in, duplicates, digests, subsets."""

import hashlib
import random

import numpy as np
import pytest

from gonn_core.errors import UserError
from gonn_core.records import views
from gonn_core.records.build import GameSource, prepare_store
from gonn_core.records.store import open_store
from gonn_core.records.views import (
    SPLITS,
    RowFilter,
    SplitRule,
    assign_games,
    corrupt_games,
    make_training_view,
    make_views,
    select_rows,
    subset,
    view_digest,
)
from tests.files.damages import damaged
from tests.records.sgf_tools import ROOT, numbered_game, sgf, tar_bytes

ALL_ROWS = RowFilter()
YEARS = {
    "train": SplitRule(years=(2000, 2014)),
    "validation": SplitRule(years=(2017, 2017)),
    "test": SplitRule(years=(2015, 2015)),
}
HASHED = {
    "train": SplitRule(hashed=(0.2, 1.0)),
    "validation": SplitRule(hashed=(0.1, 0.2)),
    "test": SplitRule(hashed=(0.0, 0.1)),
}


def make(tmp_path, *members: bytes):
    archive = tmp_path / "games.tar"
    archive.write_bytes(tar_bytes({f"{i}.sgf": data for i, data in enumerate(members)}))
    return prepare_store([GameSource(archive)], tmp_path / "stores")


def game(number, year=2010, extra=""):
    return numbered_game(number, root=f"{ROOT}DT[{year}-01-01]{extra}")


def samples(store, rows=ALL_ROWS, splits=YEARS) -> dict[str, list[int]]:
    assigned = assign_games(store, rows, splits)
    return {split: select_rows(store, rows, assigned, split).tolist() for split in splits}


def test_passes_handicap_moves_and_last_rows_are_no_samples(tmp_path):
    store = make(tmp_path, sgf("B aa W pass B cc", ROOT + "DT[2001]"), sgf("B ca B ea W gg", ROOT + "DT[2001]"))
    assert samples(store)["train"] == [0, 2, 6]


@pytest.mark.parametrize(
    "rows, used",
    [
        (RowFilter(), "both"),
        (RowFilter(min_rank=5), "black"),  # 6d against 4d
        (RowFilter(min_rank=6), "none"),
        (RowFilter(min_opponent_rank=5), "white"),
        (RowFilter(min_rank=3, min_opponent_rank=3), "both"),
        (RowFilter(max_handicap=0), "none"),
        (RowFilter(max_handicap=2), "both"),
        (RowFilter(min_moves=8), "both"),
        (RowFilter(min_moves=9), "none"),
        (RowFilter(drop_corrupt=True), "none"),
    ],
)
def test_filters(tmp_path, rows, used):
    store = make(tmp_path, game(1, extra="BR[6d]WR[4d]HA[2]C[corrupt]"))
    expected = {"both": range(8), "black": range(0, 8, 2), "white": range(1, 8, 2), "none": ()}[used]
    assert samples(store, rows)["train"] == list(expected)


def test_splits_by_year(tmp_path):
    store = make(
        tmp_path,
        game(1, 1999),
        game(2, 2000),
        game(3, 2014),
        game(4, 2015),
        game(5, 2016),
        game(6, 2017),
        numbered_game(7),
    )
    found = samples(store)
    assert [
        sorted(set(store.game[rows].tolist())) for rows in (found["train"], found["validation"], found["test"])
    ] == [[1, 2], [5], [3]]


def test_splits_by_hash_do_not_move_when_games_are_added(tmp_path):
    few = make(tmp_path, *(game(i) for i in range(200)))
    assigned = assign_games(few, RowFilter(), HASHED)
    counts = np.bincount(assigned, minlength=3)
    assert (assigned >= 0).all() and 8 < counts[1] < 35 and 8 < counts[2] < 35
    (tmp_path / "more").mkdir()
    more = make(tmp_path / "more", *(game(i) for i in range(300, 100, -1)))
    by_game = {tuple(c): a for c, a in zip(few.games["canonical"].tolist(), assigned, strict=True)}
    assigned_again = assign_games(more, RowFilter(), HASHED)
    again = {tuple(c): a for c, a in zip(more.games["canonical"].tolist(), assigned_again, strict=True)}
    shared = by_game.keys() & again.keys()
    assert len(shared) == 99 and all(by_game[key] == again[key] for key in shared)


def test_equal_games_count_once_and_the_training_copy_goes(tmp_path):
    mirrored = sgf("B sa W as", ROOT + "DT[2010]")
    plain = lambda year: sgf("B aa W ss", f"{ROOT}DT[{year}]")  # noqa: E731
    store = make(tmp_path, plain(2010), plain(2011), plain(2015), game(1), mirrored, plain(2017), game(1, 2012))
    assert assign_games(store, RowFilter(), YEARS).tolist() == [-1, -1, 2, 0, -1, -1, -1]


def test_a_copy_that_the_filter_leaves_out_shadows_nothing(tmp_path):
    store = make(tmp_path, game(1), game(1, extra="BR[6d]WR[6d]"))
    assert assign_games(store, RowFilter(min_rank=5), YEARS).tolist() == [-1, 0]


def test_a_game_in_overlapping_splits_is_tested_not_trained_on(tmp_path):
    store = make(tmp_path, *(game(i) for i in range(100)))
    splits = {
        "train": SplitRule(years=(2000, 2014)),
        "validation": SplitRule(hashed=(0.5, 1.0)),
        "test": SplitRule(hashed=(0.7, 1.0)),
    }
    assigned = assign_games(store, RowFilter(), splits)
    assert set(assigned.tolist()) == {0, 1, 2}
    found = samples(store, RowFilter(), splits)
    assert sorted(sum(found.values(), [])) == sorted(set(sum(found.values(), [])))


def test_views_are_made_once_and_mapped(tmp_path, monkeypatch):
    store = make(tmp_path, *(game(i) for i in range(60)))
    first = make_views(store, RowFilter(), HASHED, tmp_path / "stores")
    monkeypatch.setattr(views, "_write_views", lambda *_: pytest.fail("made again"))
    second = make_views(store, RowFilter(), HASHED, tmp_path / "stores")
    for split in SPLITS:
        assert first[split].digest == second[split].digest == view_digest(store, first[split].rows)
        assert isinstance(second[split].rows, np.memmap) and second[split].rows.dtype == np.uint32
        assert (np.diff(second[split].rows.astype(np.int64)) > 0).all()
    assert sum(view.n for view in first.values()) == 480
    assert np.array_equal(first["train"].games(), store.game[first["train"].rows])


@pytest.mark.parametrize("name", ["train.npy", "views.json"])
def test_damaged_views_are_made_again(tmp_path, caplog, name):
    caplog.set_level("INFO")
    store = make(tmp_path, *(game(i) for i in range(60)))
    first = {split: view.digest for split, view in make_views(store, RowFilter(), HASHED, tmp_path / "stores").items()}
    (path,) = (tmp_path / "stores" / "views").glob(f"*/{name}")
    for damage in damaged(path.read_bytes()):
        path.write_bytes(damage)
        again = make_views(store, RowFilter(), HASHED, tmp_path / "stores")
        assert {split: view_digest(store, view.rows) for split, view in again.items()} == first
        assert name in caplog.text and "made again" in caplog.text
        caplog.clear()


def test_digest_is_that_of_store_and_rows_across_chunks(tmp_path, monkeypatch):
    store = make(tmp_path, *(game(i) for i in range(40)))
    rows = select_rows(store, RowFilter(), assign_games(store, RowFilter(), YEARS), "train")
    mask = np.zeros(len(store), bool)
    mask[rows] = True
    expected = hashlib.sha256(store.digest.encode() + np.packbits(mask).tobytes()).hexdigest()[:20]
    assert view_digest(store, rows) == expected
    monkeypatch.setattr(views, "_CHUNK", 64)
    assert view_digest(store, rows) == expected
    assert np.array_equal(select_rows(store, RowFilter(), assign_games(store, RowFilter(), YEARS), "train"), rows)
    assert view_digest(store, rows[:-1]) != expected
    assert view_digest(store, rows[:0]) != expected


def test_a_subset_is_whole_games_and_just_enough(tmp_path):
    store = make(tmp_path, *(game(i) for i in range(100)))
    view = make_views(store, RowFilter(), {"test": SplitRule(years=(2000, 2020))}, tmp_path / "stores")["test"]
    small = subset(view, 100, 0)
    assert small.n == 104 and len(set(small.games().tolist())) == 13
    assert small.digest == subset(view, 100, 0).digest != subset(view, 100, 1).digest
    assert set(subset(view, 50, 0).rows.tolist()) < set(small.rows.tolist())
    assert subset(view, 800, 0).digest == subset(view, 10**9, 0).digest == view.digest
    assert small.digest == view_digest(store, small.rows)


def test_amateurs_are_ignored_colour_by_colour(tmp_path):
    """go-NN's rule. Drawn games: ranks by lot, what is learned from the text of the rank alone."""
    ranks = ["9d", "1d", "5d", "6d", "11d", "3k", "2p", "6d ama", "Ama 7d", "Honinbo", "Meijin", "?", ""]
    drawn = random.Random(5)
    pairs = [(drawn.choice(ranks), drawn.choice(ranks)) for _ in range(120)]
    archive = tmp_path / "games.tar"
    members = [game(i, extra=f"BR[{black}]WR[{white}]") for i, (black, white) in enumerate(pairs)]
    archive.write_bytes(tar_bytes({f"{i:03}.sgf": data for i, data in enumerate(members)}))
    learned = {
        "gogod": {"9d", "1d", "5d", "6d", "11d", "2p"},  # a plain dan is a professional's
        "kgs": {"9d", "6d", "11d", "2p", "6d ama", "Ama 7d"},
    }
    for scheme, good in learned.items():
        store = prepare_store([GameSource(archive, scheme)], tmp_path / scheme)
        expected = [9 * i + ply for i, pair in enumerate(pairs) for ply in range(8) if pair[ply % 2] in good]
        assert samples(store, RowFilter(ignore_amateurs=True))["train"] == expected
        assert len(samples(store, RowFilter(min_rank=-30))["train"]) < len(samples(store)["train"])  # whole games go


def says_at(number: int, move: int, text: str) -> bytes:
    """A game of 60 moves with a comment on one of them; on the root for 0."""
    nodes = numbered_game(number, 60, f"{ROOT}DT[2001]").decode()
    parts = nodes.removesuffix(")").split(";")
    parts[1 + move] += f"C[{text}]"
    return (";".join(parts) + ")").encode()


def test_a_record_that_calls_itself_corrupt_anywhere_is_dropped(tmp_path):
    """Of 20 games 10 say so at move 50, 5 elsewhere; a file of two games says it in its second one."""
    words = ["Game record corrupt from here", "The rest is CORRUPTED"]
    members = {f"{i}.sgf": says_at(i, 50, words[i % 2]) for i in range(10)}
    members |= {f"{i}.sgf": says_at(i, 7 * (i - 10), words[0]) for i in range(10, 15)}
    members |= {f"{i}.sgf": says_at(i, 50, "a fine move") for i in range(15, 20)}
    members["two.sgf"] = says_at(20, 50, "fine") + b"\n" + says_at(21, 50, words[0]) + b"\n" + says_at(22, 3, "fine")
    (tmp_path / "a.tar").write_bytes(tar_bytes({"0.sgf": says_at(30, 1, "fine")}))
    (tmp_path / "b.tar").write_bytes(tar_bytes(members))
    sources = [GameSource(tmp_path / "a.tar"), GameSource(tmp_path / "b.tar")]
    store = prepare_store(sources, tmp_path / "stores")

    def games(rows) -> list[str]:
        assigned = assign_games(store, rows, YEARS)
        return [store.game_name(game) for game in np.flatnonzero(assigned >= 0).tolist()]

    kept = ["0.sgf", *(f"{i}.sgf" for i in range(15, 20)), "two.sgf", "two.sgf#3"]
    assert games(RowFilter(drop_corrupt=True)) == kept and len(games(RowFilter())) == 24
    view = make_views(store, RowFilter(drop_corrupt=True), YEARS, tmp_path / "stores")["train"]
    assert view.n == 60 * len(kept)
    # Found again without the archives' text; a store opened by itself cannot tell.
    again = prepare_store(sources, tmp_path / "stores")
    assert np.array_equal(corrupt_games(again), corrupt_games(store)) and corrupt_games(store).sum() == 16
    with pytest.raises(UserError, match="stands in its archives"):
        corrupt_games(open_store(store.folder))


BY_POSITION = {
    "train": SplitRule(years=(2000, 2020), positions=(0.1, 1.0)),
    "validation": SplitRule(years=(2000, 2020), positions=(0.05, 0.1)),
    "test": SplitRule(years=(2000, 2020), positions=(0.0, 0.05)),
}


def test_positions_of_one_game_are_split_by_their_hash(tmp_path):
    """Each position of a game is in one split, whatever other games there are; a filter of training moves no other."""
    store = make(
        tmp_path, *(numbered_game(i, 90, f"{ROOT}DT[2010]BR[{i % 9 + 1}d]") for i in range(80)), game(99, 1999)
    )
    views_ = make_views(store, ALL_ROWS, BY_POSITION, tmp_path / "stores")
    parts = [view.rows.tolist() for view in views_.values()]
    assert sorted(sum(parts, [])) == [91 * game + ply for game in range(80) for ply in range(90)]
    assert 240 < len(parts[1]) < 480 and 240 < len(parts[2]) < 480
    assert len(set(views_["test"].games().tolist())) > 50
    (tmp_path / "one").mkdir()
    one = make(tmp_path / "one", numbered_game(7, 90, f"{ROOT}DT[2010]"))
    alone = make_views(one, ALL_ROWS, BY_POSITION, tmp_path / "one" / "stores")["test"].rows
    (number,) = np.flatnonzero((store.games["canonical"] == one.games["canonical"][0]).all(axis=1))
    assert alone.tolist() == [row - 91 * number for row in parts[2] if store.game[row] == number]
    strong = make_training_view(store, RowFilter(min_rank=5), ALL_ROWS, BY_POSITION, tmp_path / "stores")
    assert strong.n and set(strong.rows.tolist()) < set(parts[0])
