"""The position store on disk: memory-mapped arrays of all games, named by a digest of their contents.

The layout of rows is that of go/layout.py.

<stores>/<digest>/manifest.json  stones.npy ladders.npy moves.npy game.npy games.npy setup.npy names.bin
<stores>/index/<key>.json        which store was made from which source files
<stores>/views/<key>/            views on stores, see views.py

The arrays of a store are compared with the manifest's digests when it is opened, as `files.seals` says, and all
numbers in them that kernels use as indices with their ranges.
"""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from gonn_core.errors import Damaged, InputError, printable
from gonn_core.files.seals import checked_json, file_digest, verify_once
from gonn_core.go import layout
from gonn_core.go.points import POINTS, WORDS
from gonn_core.records.archives import NamedCount


def counted(what: str, games: NamedCount) -> str:
    """`broken syntax: 12 (a.sgf, b.sgf, …)`, printable."""
    more = ", …" if games.count > len(games.names) else ""
    return f"{what}: {games.count:,} ({', '.join(map(printable, games.names))}{more})"


@dataclass
class BuildReport:
    """Numbers of a build: `games_read` = `games_used` + all of `skipped`; cut and duplicate games are among those
    used."""

    sources: int = 0
    games_read: int = 0
    games_used: int = 0
    skipped: dict[str, NamedCount] = field(default_factory=dict)
    ignored: dict[str, NamedCount] = field(default_factory=dict)
    cut_by_illegal_move: NamedCount = field(default_factory=NamedCount)
    cut_by_second_move: NamedCount = field(default_factory=NamedCount)
    ladders_capped: NamedCount = field(default_factory=NamedCount)
    duplicates: int = 0
    rows: int = 0
    positions: int = 0  # rows with a move to predict: no pass, no handicap move, not the end of a game
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    digest: str = ""

    @classmethod
    def from_json(cls, tree: dict) -> "BuildReport":
        """Inverse of `asdict`. Raises ValueError on another shape."""
        return TypeAdapter(cls).validate_python(tree)

    def render_text(self) -> str:
        """Several plain lines, printable."""
        not_read = sum(files.count for files in self.ignored.values())
        lines = [
            f"store {self.digest}: {self.games_used:,} games used, {self.games_read - self.games_used:,} skipped, "
            f"{not_read:,} files not read; {self.positions:,} positions ({self.rows:,} rows); duplicates among the "
            f"games used: {self.duplicates:,}"
        ]
        groups = [(f"skipped, {why}", games) for why, games in self.skipped.items()]
        groups += [(f"not read, {why}", games) for why, games in self.ignored.items()]
        groups += [
            ("cut before an illegal move", self.cut_by_illegal_move),
            ("cut before a second move in a row", self.cut_by_second_move),
            ("ladder search capped", self.ladders_capped),
        ]
        return "\n".join(lines + [counted(what, games) for what, games in groups if games.count])


MANIFEST = "manifest.json"
ARRAYS: dict[str, tuple[np.dtype, tuple[int, ...]]] = {
    "stones.npy": (np.dtype("<u8"), (12,)),
    "ladders.npy": (np.dtype("<u8"), (6,)),
    "moves.npy": (np.dtype("<i2"), (4,)),
    "game.npy": (np.dtype("<i4"), ()),
    "games.npy": (layout.GAME, ()),
    "setup.npy": (np.dtype("<i2"), ()),
    "names.bin": (np.dtype("u1"), ()),
}
"""File -> dtype and shape of a row."""
_CHUNK = 1 << 18
_AGAIN = "the command that prepares its data (`gonn data build`) makes it again from the archives"
"""What to do about a store that is damaged."""


def store_digest(arrays: dict[str, dict]) -> str:
    """20 hex digits over the format and the sha256 and length of each array."""
    text = json.dumps({"format": layout.FORMAT, "arrays": arrays}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Origin:
    """The archives in which a store was found or from which it was built, in their order; the name under which they
    are indexed."""

    archives: tuple[Path, ...]
    key: str


class Store:
    """An open store. `stones` (N, 12), `ladders` (N, 6), `moves` (N, 4), `game` (N,) and `games` (G,), all read-only
    memory maps."""

    def __init__(self, folder: Path, manifest: dict):
        self.folder, self.digest, self.sources = folder, manifest["digest"], manifest["sources"]
        self.made_from: Origin | None = None
        self.report = BuildReport.from_json(manifest["report"])
        self._arrays = manifest["arrays"]
        for name in ARRAYS:
            setattr(self, name.split(".")[0], self._open(name))

    stones: np.ndarray
    ladders: np.ndarray
    moves: np.ndarray
    game: np.ndarray
    games: np.ndarray
    setup: np.ndarray
    names: np.ndarray

    def __len__(self) -> int:
        return len(self.moves)

    def _open(self, name: str) -> np.ndarray:
        path, (dtype, row_shape) = self.folder / name, ARRAYS[name]
        shape = (self._arrays[name]["rows"], *row_shape)
        try:
            if name.endswith(".npy"):
                array = np.load(path, mmap_mode="r")
            elif shape[0] == 0:
                array = np.empty(shape, dtype)  # an empty file cannot be mapped
            else:
                array = np.memmap(path, dtype, "r", shape=shape)
        except (OSError, EOFError, ValueError) as error:
            raise Damaged(path, f"damaged store ({error})") from None
        if array.shape != shape or array.dtype != dtype:
            problem = f"{array.dtype} {array.shape}, not {dtype} {shape}"
            raise Damaged(path, f"damaged store ({problem})")
        return array

    def game_name(self, game: int) -> str:
        """Name of a game inside its archive, printable."""
        first, length = self.games[game][["name_first", "name_length"]]
        return printable(bytes(self.names[first : first + length]).decode("utf-8", "replace"), 300)

    @cached_property
    def bytes(self) -> int:
        """Size on disk."""
        return sum((self.folder / name).stat().st_size for name in [*ARRAYS, MANIFEST])

    def verify_once(self) -> None:
        """Compare what was not verified lately with the digests. Raises Damaged."""
        files = {name: self._arrays[name]["sha256"] for name in ARRAYS}
        verify_once(self.folder, files, self._verify, self._check_indices)

    def _verify(self, name: str) -> None:
        path, (dtype, row_shape) = self.folder / name, ARRAYS[name]
        size = self._arrays[name]["rows"] * dtype.itemsize * int(np.prod(row_shape, initial=1))
        try:
            digest = file_digest(path, path.stat().st_size - size)
        except (OSError, ValueError) as error:
            raise Damaged(path, f"damaged store ({error})") from None
        if digest != self._arrays[name]["sha256"]:
            raise Damaged(path, "damaged store (contents differ from the digest)")

    def _check_indices(self) -> None:
        """Raise Damaged for numbers out of range: kernels test no bounds."""
        games, setup, names = self.games, len(self.setup), len(self.names)
        first, rows = games["first_row"], games["rows"]
        right = (rows >= 1).all() and rows.sum() == len(self) and (first == np.cumsum(rows) - rows).all()
        for begin, count, end in (("setup_first", "setup_count", setup), ("name_first", "name_length", names)):
            right &= ((games[begin] >= 0) & (games[count] >= 0) & (games[begin] + games[count] <= end)).all()
        right &= ((games["source"] >= 0) & (games["source"] < len(self.sources))).all()
        right &= not len(self.setup) or (self.setup.min() >= 0 and self.setup.max() < 3 * POINTS)
        right = right and np.array_equal(self.game, np.repeat(np.arange(len(games), dtype=np.int32), rows))
        for start in range(0, len(self) * bool(right), _CHUNK):
            stones, ladders, moves = (
                array[start : start + _CHUNK] for array in (self.stones, self.ladders, self.moves)
            )
            game = self.game[start : start + _CHUNK]
            row = np.arange(start, start + len(moves)) - first[game]
            ends = layout.FIRST * (row == 0) + layout.LAST * (row == rows[game] - 1)
            right &= bool((moves[:, layout.FLAGS] & (layout.FIRST | layout.LAST) == ends).all())
            points = moves[:, [layout.MOVE, layout.KO]]
            right &= bool((points >= [layout.NONE, -1]).all() and (points < POINTS).all())
            outside = stones[:, WORDS - 1] | stones[:, -1] | ladders[:, -1]
            right &= not (outside >> np.uint64(POINTS % 64)).any() and not (stones[:, :WORDS] & stones[:, WORDS:]).any()
        if not right:
            raise Damaged(self.folder / MANIFEST, "damaged store (numbers out of range)")


def open_store(folder: Path) -> Store:
    """The store in `folder`, its arrays verified. Raises InputError when it is none or of another format, Damaged when
    it is damaged."""
    path = Path(folder) / MANIFEST
    try:
        manifest = checked_json(path, path.read_bytes())
        if manifest["format"] != layout.FORMAT:
            version = printable(str(manifest["format"]))
            problem = f"position store of format {version}, this version reads format {layout.FORMAT}"
            raise InputError(folder, f"{problem}; build it again from its archives")
        if manifest["digest"] != store_digest(manifest["arrays"]):
            raise ValueError("its digest is not that of its arrays")
        store = Store(path.parent, manifest)
        store.verify_once()
    except FileNotFoundError:
        kind = Damaged if path.parent.is_dir() else InputError  # a store without its manifest is built again
        raise kind(folder, "no position store (no manifest.json); prepare the data") from None
    except Damaged as damage:
        raise Damaged(damage.path, f"{damage.problem}; {_AGAIN}") from None
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(path, f"damaged store ({error}); {_AGAIN}") from None
    return store
