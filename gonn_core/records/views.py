"""Views: which rows of a store are the training, validation and test positions of a data set.

A game belongs to at most one split, unless positions are split. Splits are drawn by year or by the hash of the game or
of the position in it, which no added game can change. Equal games, mirrored or turned as they may be, count once: over
splits the copy in test goes before validation before training, so nothing trained on is tested; within a split the
first one stays.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from gonn_core.errors import Damaged, UserError
from gonn_core.files.arrays import GrowingArray
from gonn_core.files.json_files import read_json, write_json
from gonn_core.files.seals import checked_json, sealed_json, verify_once
from gonn_core.files.whole import discard, finish, workshop, write_whole
from gonn_core.go import layout
from gonn_core.records.archives import ArchiveReading
from gonn_core.records.archives.members import read_members
from gonn_core.records.sampler import draws, stream_key
from gonn_core.records.store import Store

_LOG = logging.getLogger(__name__)
SPLITS = ("train", "validation", "test")
_CHUNK = 1 << 20  # rows looked at together; a multiple of 8
_VIEW_RULES = 1
_BEST_RANK = 8
_WEAKEST = {"gogod": layout.PROFESSIONAL, "kgs": 5}
"""Rank scheme -> the weakest player who is no amateur to go-NN (MakeMoveData.py: 1d to 11d in GoGoD; 6d to 11d and
professionals on KGS)."""


@dataclass(frozen=True)
class RowFilter:
    """Which positions are samples (spec: GoNN 4.6, 4.7; go-NN 1.1). None: no condition.

    min_rank, min_opponent_rank: of the mover and of the opponent; 1d = 0 .. 9d = 8, every professional 8. Either of
    them leaves out games in which a rank cannot be read, as GoNN does. min_year: leaves out games without a year too.
    ignore_amateurs: go-NN's rule, decided for each colour by itself: its moves are samples if its rank is a
    professional's under the rank scheme `gogod`, 6 dan or better or a professional's under `kgs`. A rank that is
    missing or cannot be read ("Honinbo") leaves out the moves of that colour, not the game. drop_corrupt: leaves out
    games whose file says so anywhere, in comments on moves too (go-NN 1.1).
    """

    min_rank: int | None = None
    min_opponent_rank: int | None = None
    max_handicap: int | None = None
    min_moves: int = 0
    drop_illegal: bool = False
    drop_corrupt: bool = False
    min_year: int | None = None
    ignore_amateurs: bool = False


@dataclass(frozen=True)
class SplitRule:
    """Games of a split: years first..last inclusive (games without a year are in none), and a share low <= u < high of
    hashed games; positions: the share of hashed positions, where all splits have the same games."""

    years: tuple[int, int] | None = None
    hashed: tuple[float, float] | None = None
    positions: tuple[float, float] | None = None


_WHOLE_GAMES = SplitRule()
_POSITION = stream_key("position of a split")


@dataclass(frozen=True)
class View:
    """Sorted row numbers of one split. `digest` names the store and the set of rows; `rows` (n,) uint32 may be
    memory-mapped."""

    store: Store
    split: str
    rows: np.ndarray
    digest: str

    @property
    def n(self) -> int:
        """Number of positions."""
        return len(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def games(self) -> np.ndarray:
        """(n,) int32: game of each position, for a bootstrap over games."""
        return np.asarray(self.store.game[self.rows])


def make_views(store: Store, rows: RowFilter, splits: Mapping[str, SplitRule], stores: Path) -> dict[str, View]:
    """The views of a data set on `store`, made once and then memory-mapped from <stores>/views. A split may be
    empty."""

    def choose():
        assigned = assign_games(store, rows, splits)
        return ((split, select_rows(store, rows, assigned, split, rule)) for split, rule in splits.items())

    return _cached_views(store, stores, _views_key(store, splits, rows), choose)


def make_training_view(
    store: Store, rows: RowFilter, own: RowFilter, splits: Mapping[str, SplitRule], stores: Path
) -> View:
    """The training view of a data set with `rows` in place of its `own` filter; made once, like `make_views`.

    Validation and test stay the data set's own: a game that is in them under either filter, or an equal one, is not
    trained on; of positions that are split, the hash alone keeps them apart. With the data set's own filter it is the
    training view that `make_views` makes.
    """

    def choose():
        assigned = assign_games(store, rows, splits)
        if not splits["train"].positions:
            held_out = assign_games(store, own, splits) > SPLITS.index("train")
            _, group = np.unique(store.games["canonical"], axis=0, return_inverse=True)
            assigned[np.isin(group, group[held_out])] = -1
        return [("train", select_rows(store, rows, assigned, "train", splits["train"]))]

    return _cached_views(store, stores, _views_key(store, splits, rows, own), choose)["train"]


def _cached_views(
    store: Store, stores: Path, key: str, choose: Callable[[], Iterable[tuple[str, np.ndarray]]]
) -> dict[str, View]:
    """The views in <stores>/views/<key>, written first from the splits and rows that `choose` gives when they are not
    there, or damaged."""
    folder = Path(stores) / "views" / key
    try:
        if folder.is_dir():
            return _open_views(store, folder)
    except Damaged as damage:
        _LOG.info("%s: %s; it is made again", damage.path, damage.problem)
        discard(folder)
    with workshop(folder.parent) as unfinished:
        _write_views(store, choose(), unfinished)
        finish(unfinished, folder)
    return _open_views(store, folder)


def _open_views(store: Store, folder: Path) -> dict[str, View]:
    return {split: open_view(store, folder, split, digest) for split, digest in read_digests(folder).items()}


def read_digests(folder: Path) -> dict[str, str]:
    """Split -> digest of its view, of the views in a folder. Raises Damaged."""
    path = folder / "views.json"
    try:
        digests = checked_json(path, path.read_bytes())["digests"]
        if not all(isinstance(digest, str) for digest in digests.values()):
            raise TypeError("a digest that is none")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(path, f"damaged views ({error})") from None
    return digests


def open_view(store: Store, folder: Path, split: str, digest: str) -> View:
    """A view in a folder, compared with its digest as `files.seals` says. Raises Damaged."""
    path = folder / f"{split}.npy"
    try:
        view = View(store, split, np.load(path, mmap_mode="r"), digest)

        def compare(name: str) -> None:
            rising = (view.rows[1:] > view.rows[:-1]).all() and not (view.n and view.rows[-1] >= len(store))
            if not rising or view_digest(store, view.rows) != digest:
                raise Damaged(path, f"not the view {digest} of store {store.digest}")

        verify_once(folder, {path.name: digest}, compare)
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise Damaged(path, f"damaged view ({error})") from None
    return view


def subset(view: View, minimum_positions: int, seed: int) -> View:
    """Whole games of `view`, in an order hashed from the games and `seed`, until there are `minimum_positions`; all of
    it if fewer.

    The order of two games does not depend on the other games, so a store with more games gives a similar subset.
    """
    if minimum_positions >= view.n:
        return view
    games = view.games()
    present, first, counts = np.unique(games, return_index=True, return_counts=True)
    canonical = view.store.games["canonical"][present]
    order = np.lexsort((canonical[:, 1], draws(stream_key("subset", seed), canonical[:, 0])))
    enough = int(np.searchsorted(np.cumsum(counts[order]), minimum_positions)) + 1
    chosen = np.zeros(len(view.store.games), bool)
    chosen[present[order[:enough]]] = True
    rows = np.asarray(view.rows)[chosen[games]]
    return View(view.store, view.split, rows, view_digest(view.store, rows))


def view_digest(store: Store, rows: np.ndarray) -> str:
    """20 hex digits over the store's digest and the bit mask of `rows` (sorted)."""
    digest = hashlib.sha256(store.digest.encode())
    mask = np.zeros(_CHUNK, bool)
    bounds = np.searchsorted(rows, np.arange(0, len(store) + _CHUNK, _CHUNK))
    for chunk, (low, high) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        mask[:] = False
        mask[rows[low:high].astype(np.int64) - chunk * _CHUNK] = True
        digest.update(np.packbits(mask[: min(_CHUNK, len(store) - chunk * _CHUNK)]).data)
    return digest.hexdigest()[:20]


def assign_games(store: Store, rows: RowFilter, splits: Mapping[str, SplitRule]) -> np.ndarray:
    """(G,) int8: index of each game's split in SPLITS, -1 for none; duplicates are settled."""
    games = store.games
    usable = _movers(store, rows, "black", "white") | _movers(store, rows, "white", "black")
    assigned = np.full(len(games), -1, np.int8)
    share = (games["canonical"][:, 0] >> np.uint64(11)).astype(np.float64) / (1 << 53)
    for split, rule in splits.items():
        inside = usable.copy()
        if rule.years:
            inside &= (games["year"] != 0) & (games["year"] >= rule.years[0]) & (games["year"] <= rule.years[1])
        if rule.hashed:
            inside &= (share >= rule.hashed[0]) & (share < rule.hashed[1])
        assigned[inside] = np.maximum(assigned[inside], SPLITS.index(split))
    # Among equal games the highest split comes first, then the first in the store; all but the first of each group go.
    order = np.lexsort((np.arange(len(games)), -assigned, games["canonical"][:, 1], games["canonical"][:, 0]))
    canonical = games["canonical"][order]
    again = np.zeros(len(games), bool)
    again[1:] = (canonical[1:] == canonical[:-1]).all(axis=1)
    assigned[order[again]] = -1
    return assigned


def select_rows(
    store: Store, rows: RowFilter, assigned: np.ndarray, split: str, rule: SplitRule = _WHOLE_GAMES
) -> np.ndarray:
    """Sorted uint32 numbers of the rows that are samples in the games assigned to `split`; where `rule` splits
    positions, its share of those in all games assigned."""
    inside = assigned >= 0 if rule.positions else assigned == SPLITS.index(split)
    movers = (_movers(store, rows, "black", "white") & inside, _movers(store, rows, "white", "black") & inside)
    chunks = [np.empty(0, np.uint32)]
    for start in range(0, len(store), _CHUNK):
        moves, game = store.moves[start : start + _CHUNK], store.game[start : start + _CHUNK]
        flags = moves[:, layout.FLAGS]
        sample = (moves[:, layout.MOVE] >= 0) & (flags & layout.HANDICAP_MOVE == 0)
        sample &= np.where(flags & layout.WHITE_TO_MOVE, movers[1][game], movers[0][game])
        if rule.positions:
            ply = np.arange(start, start + len(game)) - store.games["first_row"][game]
            hashed = draws(_POSITION, store.games["canonical"][game, 0] + ply.astype(np.uint64)) >> np.uint64(11)
            share = hashed.astype(np.float64) / (1 << 53)
            sample &= (share >= rule.positions[0]) & (share < rule.positions[1])
        chunks.append((np.flatnonzero(sample) + start).astype(np.uint32))
    return np.concatenate(chunks)


def _movers(store: Store, rows: RowFilter, colour: str, opponent: str) -> np.ndarray:
    """(G,) bool: whether the moves of a colour are samples."""
    games = store.games
    movers = games["recorded_moves"] >= rows.min_moves
    if rows.max_handicap is not None:
        movers &= games["handicap"] <= rows.max_handicap
    if rows.drop_illegal:
        movers &= games["end"] != layout.ILLEGAL_MOVE
    if rows.drop_corrupt:
        movers &= ~corrupt_games(store)
    if rows.min_year is not None:
        movers &= (games["year"] != 0) & (games["year"] >= rows.min_year)
    if rows.min_rank is not None or rows.min_opponent_rank is not None:
        movers &= (games["black_rank"] != layout.RANK_UNPARSABLE) & (games["white_rank"] != layout.RANK_UNPARSABLE)
    for side, minimum in ((colour, rows.min_rank), (opponent, rows.min_opponent_rank)):
        if minimum is not None:
            ranks = games[f"{side}_rank"]
            movers &= np.where(ranks >= layout.PROFESSIONAL, _BEST_RANK, ranks) >= minimum
    if rows.ignore_amateurs:
        weakest = np.array([_WEAKEST[source["rank_scheme"]] for source in store.sources], np.int16)
        movers &= games[f"{colour}_rank"] >= weakest[games["source"]]
    return movers


def _views_key(store: Store, splits: Mapping[str, SplitRule], *filters: RowFilter) -> str:
    corrupt = corrupt_games(store).tolist() if any(rows.drop_corrupt for rows in filters) else []
    rules = [asdict(rows) for rows in filters], {split: asdict(rule) for split, rule in splits.items()}
    tree = [_VIEW_RULES, store.digest, *rules, corrupt]
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()[:20]


def _write_views(store: Store, chosen: Iterable[tuple[str, np.ndarray]], folder: Path) -> None:
    if len(store) >= 1 << 32:
        raise UserError(f"store {store.digest}: {len(store):,} rows; views number at most {1 << 32:,}")
    digests = {}
    for split, rows in chosen:
        digests[split] = view_digest(store, rows)
        file = GrowingArray(folder / f"{split}.npy", np.uint32)
        file.append(rows)
        file.close()
    write_whole(folder / "views.json", sealed_json({"digests": digests}))


_WORD = b"corrupt"  # in letters of any case: "corrupted", "Corruption"


def corrupt_games(store: Store) -> np.ndarray:
    """(G,) bool: the games whose file calls the record corrupt anywhere in their text, as go-NN's filter searches it
    (find_bad_sgfs.sh).

    Not part of the store, whose digest is part of the identity of all that is trained on it: found in the archives when
    a filter first asks, and kept next to the store's arrays. Raises InputError for archives that cannot be read or a
    file that cannot be written, UserError for a store whose archives are not known.
    """
    if store.made_from is None:
        raise UserError(
            f"store {store.digest}: which games call themselves corrupt stands in its archives; prepare the data again"
        )
    path = store.folder / f"corrupt-{store.made_from.key}.json"
    corrupt = np.zeros(len(store.games), np.bool_)
    try:
        if path.is_file():
            corrupt[read_json(path)["games"]] = True
            return corrupt
    except (Damaged, LookupError, TypeError, ValueError):
        _LOG.info("%s: damaged; it is made again", path)
    corrupt = _find_corrupt(store, store.made_from.archives)
    write_json(path, {"games": np.flatnonzero(corrupt).tolist()})
    return corrupt


def _find_corrupt(store: Store, archives: Sequence[Path]) -> np.ndarray:
    # With sgfmill behind them, which a machine that only trains lacks.
    from gonn_core.records.batches import numbered_name, stored_name
    from gonn_core.records.sgf import game_texts, without_utf16

    corrupt = store.games["flags"] & layout.GAME_CORRUPT_COMMENT != 0
    called = {
        (index, stored_name(numbered_name(name, number)))
        for index, path in enumerate(archives)
        for name, data in read_members(path, ArchiveReading())
        if _WORD in (words := without_utf16(data)).lower()
        for number, text in enumerate(game_texts(words), 1)
        if _WORD in text.lower()
    }
    if called:
        first, length = store.games["name_first"], store.games["name_length"]
        for game, source in enumerate(store.games["source"].tolist()):
            name = bytes(store.names[first[game] : first[game] + length[game]])
            corrupt[game] |= (source, name) in called
    return corrupt
