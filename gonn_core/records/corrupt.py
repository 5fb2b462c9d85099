"""Which games of a store call their record corrupt, anywhere in their text: go-NN's filter (find_bad_sgfs.sh searches
the whole file).

Not part of the store, whose digest is part of the identity of all that is trained on it: found in the archives when a
filter first asks, and kept beside the store's arrays.
"""

import hashlib
import io
import logging
from pathlib import Path

import numpy as np

from gonn_core.errors import UserError
from gonn_core.files.whole import write_bytes
from gonn_core.go import layout
from gonn_core.records.archives.members import read_members
from gonn_core.records.archives.reading import ArchiveReading
from gonn_core.records.store import Store

_LOG = logging.getLogger(__name__)
_WORD = b"corrupt"  # in letters of any case: "corrupted", "Corruption"


def corrupt_games(store: Store) -> np.ndarray:
    """(G,) bool. Raises InputError for archives that cannot be read or a file that cannot be written, UserError for a
    store whose archives are not known."""
    if store.made_from is None:
        raise UserError(
            f"store {store.digest}: which games call themselves corrupt stands in its archives; prepare the data again"
        )
    path = store.folder / f"corrupt-{store.made_from.key}.npy"
    if not path.is_file():
        data = io.BytesIO()
        np.save(data, _found(store))
        write_bytes(path, data.getvalue() + _seal(data.getvalue()))
    corrupt = _read(path)
    if corrupt is None or corrupt.shape != store.games.shape or corrupt.dtype != np.bool_:
        _LOG.info("%s: damaged; it is made again", path)
        path.unlink()
        return corrupt_games(store)
    return corrupt


def _read(path: Path) -> np.ndarray | None:
    """The array in a file, None where it is damaged. Behind the array stands its seal; not in files of before."""
    data = io.BytesIO(path.read_bytes())
    try:
        corrupt = np.load(data)
    except (EOFError, ValueError):
        return None
    seal = data.read()
    return corrupt if seal in (b"", _seal(data.getvalue().removesuffix(seal))) else None


def _seal(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _found(store: Store) -> np.ndarray:
    # With sgfmill behind them, which a machine that only trains lacks.
    from gonn_core.records.batches import numbered_name, stored_name
    from gonn_core.records.sgf.texts import game_texts, without_utf16

    assert store.made_from is not None, "corrupt_games has looked"
    corrupt = store.games["flags"] & layout.GAME_CORRUPT_COMMENT != 0
    called = {
        (index, stored_name(numbered_name(name, number)))
        for index, path in enumerate(store.made_from.archives)
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
