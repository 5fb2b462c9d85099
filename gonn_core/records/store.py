"""The position store on disk: memory-mapped arrays of all games, named by a digest of their contents.

The layout of rows is that of go/layout.py.

<stores>/<digest>/manifest.json  stones.npy ladders.npy moves.npy game.npy games.npy setup.npy names.bin
<stores>/index/<key>.json        which store was made from which source files
<stores>/views/<key>/            views on stores, see views.py
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from gonn_core.errors import InputError, printable
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
            raise InputError(path, f"damaged store ({error}); delete its folder and build it again") from None
        if array.shape != shape or array.dtype != dtype:
            problem = f"{array.dtype} {array.shape}, not {dtype} {shape}"
            raise InputError(path, f"damaged store ({problem}); delete its folder and build it again")
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
        """Read everything and compare with the digests. Raises InputError."""
        for name, (dtype, row_shape) in ARRAYS.items():
            size = self._arrays[name]["rows"] * dtype.itemsize * int(np.prod(row_shape, initial=1))
            digest = hashlib.sha256()
            with open(self.folder / name, "rb") as file:
                file.seek(-size, 2)
                while data := file.read(1 << 20):
                    digest.update(data)
            if digest.hexdigest() != self._arrays[name]["sha256"]:
                raise InputError(
                    self.folder / name,
                    "damaged store (contents differ from the digest); delete its folder and build it again",
                )


def open_store(folder: Path) -> Store:
    """The store in `folder`. Raises InputError when it is none, of another format, or damaged."""
    folder = Path(folder)
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        version = manifest["format"]
    except FileNotFoundError:
        raise InputError(
            folder, "no position store (no manifest.json); if the folder is there, delete it; then prepare the data"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(folder / MANIFEST, f"damaged store ({error}); delete its folder and build it again") from None
    if version != layout.FORMAT:
        raise InputError(
            folder,
            f"position store of format {printable(str(version))}, this version reads format {layout.FORMAT}; "
            "build it again from its archives",
        )
    try:
        if manifest["digest"] != store_digest(manifest["arrays"]):
            raise ValueError("its digest is not that of its arrays")
        return Store(folder, manifest)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(folder / MANIFEST, f"damaged store ({error}); delete its folder and build it again") from None
