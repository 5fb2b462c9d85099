"""The position store on disk: memory-mapped arrays of all games, named by a digest of their contents.

The layout of rows is that of go/layout.py.

<stores>/<digest>/manifest.json  stones.npy ladders.npy moves.npy game.npy games.npy setup.npy names.bin
<stores>/index/<key>.json        which store was made from which source files
<stores>/views/<key>/            views on stores, see views.py

The arrays of a store are compared with the manifest's digests when it is opened: once for each size and time of a file,
which `.verified` in the store's folder notes for everybody.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from gonn_core.errors import Damaged, InputError, printable
from gonn_core.files.seals import checked_json
from gonn_core.files.verified import file_digest, verify_once
from gonn_core.go import layout
from gonn_core.records.report import BuildReport

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

    def __repr__(self) -> str:
        return f"<Store {self.digest}: {len(self.games)} games, {len(self)} rows>"

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
            raise Damaged(path, f"damaged store ({error}); {_AGAIN}") from None
        if array.shape != shape or array.dtype != dtype:
            problem = f"{array.dtype} {array.shape}, not {dtype} {shape}"
            raise Damaged(path, f"damaged store ({problem}); {_AGAIN}")
        return array

    def game_name(self, game: int) -> str:
        """Name of a game inside its archive, printable."""
        first, length = self.games[game][["name_first", "name_length"]]
        return printable(bytes(self.names[first : first + length]).decode("utf-8", "replace"), 300)

    @cached_property
    def bytes(self) -> int:
        """Size on disk."""
        return sum((self.folder / name).stat().st_size for name in [*ARRAYS, MANIFEST])

    def verify(self) -> None:
        """Read everything and compare with the digests. Raises Damaged."""
        for name in ARRAYS:
            self._verify(name)

    def verify_once(self) -> None:
        """`verify`, of files that were not found right as they lie there. Raises Damaged."""
        verify_once(self.folder, {name: self._arrays[name]["sha256"] for name in ARRAYS}, self._verify)

    def _verify(self, name: str) -> None:
        path, (dtype, row_shape) = self.folder / name, ARRAYS[name]
        size = self._arrays[name]["rows"] * dtype.itemsize * int(np.prod(row_shape, initial=1))
        try:
            digest = file_digest(path, path.stat().st_size - size)
        except (OSError, ValueError) as error:
            raise Damaged(path, f"damaged store ({error}); {_AGAIN}") from None
        if digest != self._arrays[name]["sha256"]:
            raise Damaged(path, f"damaged store (contents differ from the digest); {_AGAIN}")


def open_store(folder: Path) -> Store:
    """The store in `folder`, its arrays verified. Raises InputError when it is none or of another format, Damaged when
    it is damaged."""
    folder = Path(folder)
    try:
        manifest = checked_json(folder / MANIFEST, (folder / MANIFEST).read_bytes())
        version = manifest["format"]
    except FileNotFoundError:
        raise InputError(
            folder, "no position store (no manifest.json); if the folder is there, delete it; then prepare the data"
        ) from None
    except Damaged as damage:
        raise Damaged(folder / MANIFEST, f"{damage.problem}; {_AGAIN}") from None
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise Damaged(folder / MANIFEST, f"damaged store ({error}); {_AGAIN}") from None
    if version != layout.FORMAT:
        raise InputError(
            folder,
            f"position store of format {printable(str(version))}, this version reads format {layout.FORMAT}; "
            "build it again from its archives",
        )
    try:
        if manifest["digest"] != store_digest(manifest["arrays"]):
            raise ValueError("its digest is not that of its arrays")
        store = Store(folder, manifest)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Damaged(folder / MANIFEST, f"damaged store ({error}); {_AGAIN}") from None
    store.verify_once()
    return store
